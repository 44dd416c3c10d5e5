"""The grid of a Word table: merged cells once, with their span."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flows.readers.docx.xml import child, number, tag, value
from flows.readers.ooxml import Element
from flows.schema.errors import ReadError

MAX_CELLS = 4_000_000
MAX_COLUMNS = 63  # Word's own limit; a span that claims more is cut to it
_WRAPPERS = frozenset(
    [
        "w:sdt",
        "w:sdtContent",
        "w:customXml",
        "w:ins",
        "w:moveTo",
        "w:smartTag",
        "mc:AlternateContent",
        "mc:Choice",
    ]
)


@dataclass(slots=True)
class Cell:
    """One cell: where it stands (from 0), how far it reaches, and its element."""

    row: int
    column: int
    element: Element
    columns: int = 1
    rows: int = 1
    text: str = ""

    def shown(self) -> str:
        """The text with its span: `Total [spans 2 columns]`; an empty cell says nothing."""
        return self.text + span_mark(self.columns, self.rows) if self.text else ""


def span_mark(columns: int, rows: int) -> str:
    """How a merged cell notes its span; '' for a cell of its own."""
    spans = [f"{n} {what}" for n, what in ((columns, "columns"), (rows, "rows")) if n > 1]
    return f" [spans {', '.join(spans)}]" if spans else ""


def wrapped(element: Element, name: str) -> Iterator[Element]:
    """Children of that name, also inside content controls, custom XML and tracked insertions."""
    for part in element:
        kind = tag(part)
        if kind == name:
            yield part
        elif kind in _WRAPPERS:
            yield from wrapped(part, name)


def row_is_deleted(row: Element) -> bool:
    """Whether the whole row is a tracked deletion."""
    return child(row, "w:trPr", "w:del") is not None


def _merge(properties: Element | None, name: str) -> str:
    merge = child(properties, name) if properties is not None else None
    return "" if merge is None else value(merge, "continue")


def grid(rows: list[Element], where: str) -> tuple[list[Cell], list[Cell], int]:
    """Place the cells of `rows`.

    Args:
        rows: rows of the table that show.
        where: file and table, for the error.

    Returns:
        The cells that show, those that a merge covers (Word shows nothing of them), and the number
        of columns.

    Raises:
        ReadError: the table has more than MAX_CELLS cells.
    """
    cells: list[Cell] = []
    covered: list[Cell] = []
    above: dict[int, Cell] = {}
    width = 0
    for at, row in enumerate(rows):
        column = min(number(value(child(row, "w:trPr", "w:gridBefore"))) or 0, MAX_COLUMNS)
        current: dict[int, Cell] = {}
        left: Cell | None = None
        for element in wrapped(row, "w:tc"):
            properties = child(element, "w:tcPr")
            if properties is not None and child(properties, "w:cellDel") is not None:
                continue
            span = number(value(child(properties, "w:gridSpan"))) if properties is not None else None
            cell = Cell(at, column, element, max(1, min(span or 1, MAX_COLUMNS)))
            owner = above.get(column) if _merge(properties, "w:vMerge") == "continue" else None
            if owner is not None:
                owner.rows = at - owner.row + 1
                covered.append(cell)
                current[column] = owner
            elif left is not None and _merge(properties, "w:hMerge") == "continue":
                left.columns += cell.columns
                covered.append(cell)
            else:
                cells.append(cell)
                current[column] = left = cell
            column = min(column + cell.columns, 10 * MAX_COLUMNS)
        width = max(width, column)
        above = current
    if len(rows) * width > MAX_CELLS:
        raise ReadError(where, f"{len(rows) * width:,} cells", f"at most {MAX_CELLS:,}", "split the table")
    return cells, covered, width
