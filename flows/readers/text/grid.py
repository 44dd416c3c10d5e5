"""The grid of an HTML table: positions of cells with rowspan and colspan applied."""

from __future__ import annotations

from dataclasses import dataclass

from flows.readers.markup import Element
from flows.readers.text.style import Look

MAX_COLUMNS = 1000  # as browsers cut a span
MAX_CELLS = 1_000_000


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
    nested = [next(cell.element.iter("table"), None) is not None for cell in cells]
    if not any(nested):
        return False
    filled = [
        cell
        for cell, inner in zip(cells, nested, strict=True)
        if not inner and str(cell.element.text_content()).strip()
    ]
    headed = any(cell.element.tag == "th" for cell in cells) or element.find("caption") is not None
    return not headed and len({cell.row for cell in filled}) < 2  # noqa: PLR2004 -- two rows make columns
