"""Parts of an HTML page with rules of their own: controls of forms, numbers of lists, grids of tables."""

import re
from dataclasses import dataclass

from flows.readers.markup import Element
from flows.readers.shared.notation import flat, letters
from flows.readers.shared.signs import numeral
from flows.readers.text.style import Look, declarations

CONTROLS = frozenset(["input", "select", "textarea"])
_BUTTONS = {"submit": "Submit", "reset": "Reset"}
_NUMERALS = {
    "1": "decimal", "decimal": "decimal", "decimal-leading-zero": "decimalZero",
    "a": "lowerLetter", "lower-alpha": "lowerLetter", "lower-latin": "lowerLetter",
    "A": "upperLetter", "upper-alpha": "upperLetter", "upper-latin": "upperLetter",
    "i": "lowerRoman", "lower-roman": "lowerRoman", "I": "upperRoman", "upper-roman": "upperRoman",
    "disc": "", "circle": "", "square": "", "none": "",
}  # fmt: skip
_ALPHABET = 26
MAX_COLUMNS = 1000  # as browsers cut a span
MAX_CELLS = 1_000_000


def control(element: Element) -> tuple[str, str]:
    """Return the text that a control of a form shows, and its hidden text."""
    if element.tag == "textarea":
        return str(element.text_content()).strip("\n"), ""
    if element.tag == "select":
        return _options(element), ""
    kind = str(element.get("type") or "text").strip().lower()
    value = flat(str(element.get("value") or ""))
    if kind in {"checkbox", "radio"}:
        return _tick(element, "checked"), ""
    if kind in {"hidden", "password"}:
        return "", value
    if kind == "image":
        return f"[Image: {flat(str(element.get('alt') or ''))}]", ""
    hint = flat(str(element.get("placeholder") or ""))
    return value or _BUTTONS.get(kind, "") or (f"[empty: {hint}]" if hint else ""), ""


def _tick(element: Element, name: str) -> str:
    return "☒" if element.get(name) is not None else "☐"


def _options(element: Element) -> str:
    options = [
        (option, flat(str(option.get("label") or option.text_content()))) for option in element.iter("option")
    ]
    size = str(element.get("size") or "1")
    if element.get("multiple") is not None or (size.isdigit() and size not in {"0", "1"}):
        return ", ".join(f"{_tick(option, 'selected')} {label}" for option, label in options)
    chosen = [label for option, label in options if option.get("selected") is not None]
    return (chosen or [label for _, label in options[:1]] or [""])[-1]


def integer(said: str | None, otherwise: int) -> int:
    """The value of an attribute that is a whole number; `otherwise` where it is none."""
    return int(said) if said and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", said) else otherwise


def marker(element: Element, otherwise: str) -> str:
    """The form of a list's or item's number; '' for a bullet."""
    said = declarations(str(element.get("style") or ""))
    words = f"{said.get('list-style', '')} {said.get('list-style-type', '')}".split()
    words = words or [str(element.get("type") or "").strip()]
    return next((_NUMERALS[word] for word in reversed(words) if word in _NUMERALS), otherwise)


def numbered(count: int, form: str) -> str:
    """The mark in front of an item: `iv. `, or `- ` where `form` is empty."""
    if not form:
        return "- "
    if form.endswith("Letter") and count > _ALPHABET:
        name = letters(count)
        return (name if form == "upperLetter" else name.lower()) + ". "
    return f"{numeral(count, form)}. "


@dataclass(slots=True)
class Cell:
    """One cell: its position (from 0), its span, its element and the style around its text."""

    row: int
    column: int
    element: Element
    look: Look
    columns: int
    rows: int


def place_cells(rows: list[tuple[Element, list[tuple[Element, Look]]]]) -> tuple[list[Cell], int]:
    """Place the cells of `rows`, each a row's element and its cells.

    Returns:
        The cells, and how many columns there are: up to the last one in which a cell starts. 0 columns
        where the spans claim more than MAX_CELLS cells.
    """
    last = {row.getparent(): at for at, (row, _) in enumerate(rows)}  # a span ends with its part of the table
    cells: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    for at, (row, elements) in enumerate(rows):
        column = 0
        for element, look in elements:
            while (at, column) in taken:
                column += 1
            down = last[row.getparent()] - at + 1
            tall = _span(element, "rowspan", down)
            cell = Cell(
                at, column, element, look, max(1, _span(element, "colspan", MAX_COLUMNS)), tall or down
            )
            cells.append(cell)
            if cell.rows * cell.columns + len(taken) > MAX_CELLS:
                return cells, 0
            taken |= {(at + r, column + c) for r in range(cell.rows) for c in range(cell.columns)}
            column += cell.columns
    width = max((cell.column + 1 for cell in cells), default=0)
    for cell in cells:
        cell.columns = min(cell.columns, width - cell.column)
    return cells, width if width * len(rows) <= MAX_CELLS else 0


def _span(element: Element, name: str, most: int) -> int:
    said = str(element.get(name) or "1").strip()
    return min(int(said), most) if said.isascii() and said.isdigit() and len(said) < 6 else 1  # noqa: PLR2004 -- browsers stop at 65534


def lays_out(element: Element, cells: list[Cell]) -> bool:
    """Whether a table that contains tables is only for layout."""
    if str(element.get("role") or "") in {"presentation", "none"}:
        return True
    plain = [cell for cell in cells if next(cell.element.iter("table"), None) is None]
    if len(plain) == len(cells):
        return False
    filled = {cell.row for cell in plain if str(cell.element.text_content()).strip()}
    headed = any(cell.element.tag == "th" for cell in cells) or element.find("caption") is not None
    return not headed and len(filled) < 2  # noqa: PLR2004 -- two rows make columns
