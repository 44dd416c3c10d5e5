"""Group the characters of the content stream into words of one line, angle, size and font."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import cos, radians, sin
from typing import Any

from flows.readers.pdf.paint.chars import Char
from flows.readers.pdf.paint.ink import Box

_GAP = 0.15  # of the size; a space between words is a quarter
_CELL = 1.8  # of the size; such a gap parts columns, not words
_LEVEL = 2.0  # points by which characters of a word may differ in height
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


@dataclass(slots=True)
class Word:
    """A word, or a whole table or image that the text flows around (`item`).

    Words of a line that runs from right to left are one, in the order that they are read in. `middle` is
    its vertical middle.
    """

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    item: Any = None
    middle: float = field(init=False)

    def __post_init__(self) -> None:
        self.middle = (self.top + self.bottom) / 2


def item_at(box: Box, item: Any = None) -> Word:
    """A table or image in its place among the words."""
    x0, top, x1, bottom = box
    return Word("", x0, top, x1, bottom, bottom - top, item=item)


def _bold(font: str) -> bool:
    name = font.lower()
    return "bold" in name or "black" in name or "heavy" in name or name.endswith(("-medi", ",b"))


def _direction(text: str) -> str:
    kinds = {unicodedata.bidirectional(sign) for sign in text}
    return "right" if kinds & _RIGHT_TO_LEFT else "left" if "L" in kinds else ""


def words_of(chars: Iterable[Char]) -> list[Word]:
    """Words of characters of one direction, in the order of the content stream."""
    words: list[Word] = []
    for line in (part for whole in _lines(chars) for part in _stretches(whole)):
        ways = [_direction(char.text) for char in line]
        if "right" not in ways:
            words += [_word(piece) for piece in _pieces(line)]
        elif ways.count("right") >= ways.count("left"):
            words.append(_read_leftwards(line))
        else:
            first, last = ways.index("right"), len(ways) - ways[::-1].index("right")
            words += [_word(piece) for piece in _pieces(line[:first])]
            words.append(_read_leftwards(line[first:last]))
            words += [_word(piece) for piece in _pieces(line[last:])]
    return [word for word in words if word.text]


def _read_leftwards(line: list[Char]) -> Word:
    """A line that runs from right to left as one word; its numbers and Latin words run to the right."""
    groups: list[list[Char]] = []
    for char in line:
        if not char.size or not char.text.strip():
            continue
        if groups and unicodedata.combining(char.text[0]):
            groups[-1].append(char)
        else:
            groups.append([char])
    groups.sort(key=lambda group: -(group[0].x0 + group[0].x1))
    signs: list[str] = []
    rightwards: list[str] = []
    before: Char | None = None
    for group in groups:
        char, text = group[0], "".join(char.text for char in group)
        gap = before is not None and before.x0 - char.x1 > _GAP * char.size
        before = char
        kind = unicodedata.bidirectional(text[0])
        if kind in {"L", "EN", "AN"}:
            (rightwards or signs).extend([" "] * gap)
            rightwards.append(text)
        elif rightwards and not gap and kind in {"CS", "ES", "ET"}:  # inside or beside a number
            rightwards.append(text)
        else:
            signs += rightwards[::-1] + [" "] * gap + [text]
            rightwards = []
    word = _word(line)
    word.text = " ".join("".join(signs + rightwards[::-1]).split())
    return word


def _lines(chars: Iterable[Char]) -> list[list[Char]]:
    """Characters on one line and of one size."""
    lines: list[list[Char]] = []
    last: Char | None = None
    for char in chars:
        if not char.size:
            if char.text in "\r\n":
                last = None
            elif lines and last is not None:
                lines[-1].append(char)
            continue
        if (
            last is None
            or abs(char.bottom - last.bottom) > _LEVEL
            or abs(char.size - last.size) > _GAP * last.size
        ):
            lines.append([])
        lines[-1].append(char)
        if char.text.strip():
            last = char
    return lines


def _stretches(line: list[Char]) -> list[list[Char]]:
    """A line with text that runs from right to left, cut where a gap as between columns is; others whole."""
    if all(_direction(char.text) != "right" for char in line):
        return [line]
    stretches: list[list[Char]] = []
    end = 0.0
    for char in sorted((char for char in line if char.size and char.text.strip()), key=lambda char: char.x0):
        if not stretches or char.x0 - end > _CELL * char.size:
            stretches.append([])
        end = max(end, char.x1) if stretches[-1] else char.x1
        stretches[-1].append(char)
    place = {id(char): at for at, char in enumerate(line)}
    return [sorted(stretch, key=lambda char: place[id(char)]) for stretch in stretches]


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


def slanting_words(chars: list[Char], angle: float) -> list[Word]:
    """Text that slants against the rest of the page, as a stamp does: each of its lines is one word."""
    boxes = {id(char): (char.x0, char.top, char.x1, char.bottom) for char in chars}
    rotated(chars, angle, straight=False)
    found: list[Word] = []
    for line in _lines(chars):
        text = " ".join(word.text for word in words_of(line))
        if text:
            x0, top, x1, bottom = zip(*(boxes[id(char)] for char in line if char.size), strict=True)
            first = line[0]
            found.append(
                Word(text, min(x0), min(top), max(x1), max(bottom), first.size, _bold(first.run.font))
            )
    return found


def rotated(chars: list[Char], angle: float, *, straight: bool) -> None:
    """Turn the frame of characters, in place, so that their baseline runs to the right.

    `angle` is that of the baseline, anticlockwise. Unless it is a multiple of 90 (`straight`) their boxes say
    little, their origins more.
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
