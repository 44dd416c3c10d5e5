"""Text of cells: escapes, fonts, rich text as displayed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flows.readers.markup import Element
from flows.readers.shared.notation import shifted, struck_out
from flows.readers.shared.signs import in_font, is_symbol_font

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True, slots=True)
class Font:
    """Properties of a font that change how text reads."""

    colour: str = "000000"  # six hex digits; '' where it is not known
    struck: bool = False  # whether a line goes through the text
    shift: int = 0  # 1 raised, -1 lowered, 0 on the line
    name: str = ""  # of the typeface, which matters for symbol fonts


Runs = tuple[tuple[str, Font | None], ...]
"""Stretches of a rich text with their font; None for the font of the cell."""


def unescaped(text: str | None) -> str:
    """Text with `_x000D_` and the like as characters; `_x005F_` is the underscore of an escape."""
    text = str(text or "")
    if "_x" not in text:
        return text
    text = _ESCAPE.sub(lambda code: chr(int(code.group(1), 16)), text)
    # A character beyond the basic plane is escaped as two halves.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def runs_of(element: Element, font_of: Callable[[Element], Font]) -> str | Runs:
    """A shared or inline string, without its phonetic guide; runs only where fonts could matter."""
    runs: list[tuple[str, Font | None]] = []
    for part in element:
        if part.tag == f"{S}t":
            runs.append((unescaped(part.text), None))
        elif part.tag == f"{S}r":
            font = part.find(f"{S}rPr")
            runs.append((unescaped(part.findtext(f"{S}t")), None if font is None else font_of(font)))
    if all(font is None for _, font in runs):
        return "".join(text for text, _ in runs)
    return tuple(runs)


def as_shown(text: str | Runs, font: Font) -> tuple[str, list[str]]:
    """Text as its fonts show it: struck words between `~~`, raised and lowered digits, symbol fonts.

    A whole cell that is raised reads as it is: nothing stands before it. Also returns the positions of symbol
    fonts that are not known.
    """
    unknown: list[str] = []
    parts: list[tuple[str, bool]] = []
    for stretch, own in ((text, None),) if isinstance(text, str) else text:
        seen = own or font
        shown, missing = in_font(stretch, seen.name) if is_symbol_font(seen.name) else (stretch, [])
        unknown += missing
        parts.append((shifted(shown, seen.shift) if own else shown, seen.struck))
    return struck_out(parts), unknown
