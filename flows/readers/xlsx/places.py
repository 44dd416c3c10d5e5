"""Cells and ranges by name, `B7` and `$A$1:C2`, and the formulas of one sheet."""

import importlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flows.readers.markup import Element
from flows.readers.shared.notation import letters

MAX_MOVED = 500_000  # characters of shared formulas that are translated; each takes microseconds
_LATER = re.compile(r"_xl(?:fn|ws|pm|udf)\.")  # prefixes of newer functions; Excel hides them
_CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})$")


@dataclass(frozen=True, slots=True)
class Span:
    """A range: first and last row and column, from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def name(self) -> str:
        """The range as Excel writes it, `A1:C2`, or `A1` for one cell."""
        first, last = f"{letters(self.left)}{self.top}", f"{letters(self.right)}{self.bottom}"
        return first if first == last else f"{first}:{last}"

    @property
    def area(self) -> int:
        """Cells in it."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell is in it."""
        return self.top <= row <= self.bottom and self.left <= column <= self.right


EVERYWHERE = Span(1, 1, 10_000_000, 20_000)  # beyond the last cell that a reference can name


@lru_cache(maxsize=20_000)
def _column(name: str) -> int:
    at = 0
    for letter in name:
        at = at * 26 + ord(letter) - 64
    return at


def position(reference: str) -> tuple[int, int] | None:
    """Row and column, from 1, of a reference such as `B7` or `$B$7`; None if it is none."""
    match = _CELL.match(reference.replace("$", "").upper())
    return (int(match.group(2)), _column(match.group(1))) if match else None


def spans(references: str) -> list[Span]:
    """The ranges of `A1:B7 D4`; what is none is left out."""
    found: list[Span] = []
    for reference in references.split():
        first, _, last = reference.partition(":")
        start, end = position(first), position(last or first)
        if start is not None and end is not None:
            rows, columns = sorted((start[0], end[0])), sorted((start[1], end[1]))
            found.append(Span(rows[0], columns[0], rows[1], columns[1]))
    return found


class Formulas:
    """The shared formulas of a sheet, translated to each cell."""

    def __init__(self) -> None:
        self._shared: dict[str, tuple[str, str]] = {}
        self._moved = 0

    def origin(self, element: Element, here: str) -> tuple[str, str] | None:
        """The formula of the cell `here` and the cell that it is written for; None where it has none."""
        text = _LATER.sub("", str(element.text or ""))
        key = element.get("si")
        written = (text, here) if text else None
        if key is None or element.get("t") != "shared":
            return written
        if written:
            self._shared[key] = written
        return self._shared.get(key)

    def at(self, origin: tuple[str, str], here: str) -> str:
        """A formula as it reads in the cell `here`."""
        text, first = origin
        self._moved += len(text)
        if here == first:
            return text
        if self._moved > MAX_MOVED:
            return f"as in {first}, moved to {here}"
        # Importing openpyxl takes a third of a second, and few files need it.
        translator: Any = importlib.import_module("openpyxl.formula.translate").Translator
        return str(translator("=" + text, origin=first).translate_formula(here))[1:]
