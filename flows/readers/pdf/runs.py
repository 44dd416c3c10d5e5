"""Words from the characters of the content stream: one line, one angle, one size and font each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

from flows.readers.pdf.ink import Char

_GAP = 0.15  # of the size; a space between words is a quarter
_CELL = 1.8  # of the size; such a gap parts columns, not words
_LEVEL = 2.0  # points by which characters of a word may differ in height
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


@dataclass(slots=True)
class Word:
    """A word, or a whole table or image that the text flows around (`item`).

    Words of a line that runs from right to left are one, in the order that they are read in.
    """

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    item: Any = None

    @property
    def middle(self) -> float:
        """Its vertical middle."""
        return (self.top + self.bottom) / 2


def _bold(font: str) -> bool:
    name = font.lower()
    return "bold" in name or "black" in name or "heavy" in name or name.endswith(("-medi", ",b"))


def _direction(text: str) -> str:
    kinds = {unicodedata.bidirectional(sign) for sign in text}
    return "right" if kinds & _RIGHT_TO_LEFT else "left" if "L" in kinds else ""


def words_of(chars: Iterable[Char]) -> list[Word]:
    """Words of characters of one direction, in the order of the content stream."""
    words: list[Word] = []
    for line in _lines(chars):
        counts = {way: sum(_direction(char.text) == way for char in line) for way in ("left", "right")}
        if not counts["right"]:
            words += [_word(piece) for piece in _pieces(line)]
        elif counts["right"] >= counts["left"]:
            words.append(_word(line))
        else:
            at = [n for n, char in enumerate(line) if _direction(char.text) == "right"]
            first, last = at[0], at[-1] + 1
            words += [_word(piece) for piece in _pieces(line[:first])]
            words.append(_word(line[first:last]))
            words += [_word(piece) for piece in _pieces(line[last:])]
    return [word for word in words if word.text]


def _lines(chars: Iterable[Char]) -> list[list[Char]]:
    """Stretches of characters on one line without a gap as between columns."""
    lines: list[list[Char]] = []
    last: Char | None = None
    for char in chars:
        if not char.size:
            if char.text in "\r\n":
                last = None
            elif lines and last is not None:
                lines[-1].append(char)
            continue
        gap = max(char.x0 - last.x1, last.x0 - char.x1) if last is not None else 0.0
        if (
            last is None
            or abs(char.bottom - last.bottom) > _LEVEL
            or abs(char.size - last.size) > _GAP * last.size
            or gap > _CELL * last.size
        ):
            lines.append([])
        lines[-1].append(char)
        if char.text.strip():
            last = char
    return lines


def _pieces(line: list[Char]) -> list[list[Char]]:
    pieces: list[list[Char]] = [[]]
    for char in line:
        if not char.text.strip():
            if char.size or not char.text:
                pieces.append([])
            continue
        last = pieces[-1][-1] if pieces[-1] else None
        if last is not None and (
            char.x0 - last.x1 > _GAP * last.size
            or char.x0 < last.x0 - _GAP * last.size
            or char.run.font != last.run.font
        ):
            pieces.append([])
        pieces[-1].append(char)
    return [piece for piece in pieces if piece]


def _word(piece: list[Char]) -> Word:
    drawn = [char for char in piece if char.size and char.text.strip()]
    if not drawn:
        return Word("", 0, 0, 0, 0, 0)
    return Word(
        " ".join("".join(char.text for char in piece).split()),
        min(char.x0 for char in drawn),
        min(char.top for char in drawn),
        max(char.x1 for char in drawn),
        max(char.bottom for char in drawn),
        drawn[0].size,
        _bold(drawn[0].run.font),
    )


def rotated(chars: list[Char], angle: int, *, straight: bool) -> None:
    """Turn the frame of characters, in place, so that their baseline runs to the right.

    Args:
        chars: with their edges in the frame that the page is read in.
        angle: of their baseline, anticlockwise.
        straight: whether the angle is a multiple of 90; else their boxes say little and their origins are used.
    """
    along, down = cos(radians(angle)), sin(radians(angle))
    for at, char in enumerate(chars):
        if straight:
            corners = [(x, y) for x in (char.x0, char.x1) for y in (char.top, char.bottom)]
            xs = [x * along - y * down for x, y in corners]
            ys = [x * down + y * along for x, y in corners]
            char.x0, char.x1, char.bottom = min(xs), max(xs), max(ys)
        else:
            x, y = char.origin
            char.x0, char.bottom = x * along - y * down, x * down + y * along
            char.x1 = char.x0 + char.size / 2
            before = chars[at - 1] if at else None
            if before is not None and 0 < char.x0 - before.x0 < 1.5 * char.size:
                before.x1 = char.x0
        char.top = char.bottom - char.size
