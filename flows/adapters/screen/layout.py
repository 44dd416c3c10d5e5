"""Fit words and tables into the width of a terminal."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from rich.cells import cell_len

_JOINTS = re.compile(r"(?<=[^\s\-_./:;,·])([\-_./:;,·]+)(?=[^\s\-_./:;,·])")
"""Signs behind which a name may be broken."""


def fitting_widths(
    rows: Sequence[Sequence[str]], words: AbstractSet[int], width: int, *, breaks_names: bool = True
) -> list[int] | None:
    """Return the widths of a table's columns, in terminal cells; None if it can't fit.

    Rows begin with the header. Columns at the places in `words` may wrap, without `breaks_names` only
    between words; of the others only the header may.
    """
    longest = _longest_piece if breaks_names else _longest_word
    columns = list(zip(*rows, strict=True))
    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]
    least = [
        max(
            _longest_piece(column[0]),
            max((longest(cell) if place in words else cell_len(cell) for cell in column[1:]), default=0),
        )
        for place, column in enumerate(columns)
    ]
    free = width - 3 * len(columns) - 1  # a line and two spaces for each column
    while sum(widths) > free:
        spare = [have - need for have, need in zip(widths, least, strict=True)]
        if not any(spare):
            return None
        widest = max((place for place, some in enumerate(spare) if some), key=lambda place: widths[place])
        widths[widest] -= 1
    return widths


def wrapped(text: str, width: int, *, breaks_names: bool = True) -> list[str]:
    """Wrap a text between words and behind joints of names; a longer piece has a line of its own.

    `width` is in terminal cells. Without `breaks_names`, names stay whole, such as paths that a person
    copies.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            pieces = [word] if cell_len(word) <= width or not breaks_names else _pieces(word)
            for number, piece in enumerate(pieces):
                joined = f"{line} {piece}" if number == 0 and line else line + piece
                if line and cell_len(joined) > width:
                    lines.append(line)
                    joined = piece
                line = joined
        lines.append(line)
    return lines


def _pieces(word: str) -> list[str]:
    return _JOINTS.sub(r"\1\0", word).split("\0")


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split() or [""]))


def _longest_piece(text: str) -> int:
    return max(cell_len(piece) for word in text.split() or [""] for piece in _pieces(word))
