"""The grid of a Word table: merged cells once, with their span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flows.readers.docx.context import Context
from flows.readers.docx.xml import attribute, child, number, tag, value
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


_LOOK = {
    "firstRow": 0x20, "lastRow": 0x40, "firstColumn": 0x80, "lastColumn": 0x100,
    "noHBand": 0x200, "noVBand": 0x400,
}  # fmt: skip
_EDGES = ("firstRow", "lastRow", "firstCol", "lastCol", "nwCell", "neCell", "swCell", "seCell")
_BANDS = ("band1Horz", "band2Horz", "band1Vert", "band2Vert")


def grounds(cell: Cell, table: Element, rows: list[Element], width: int, context: Context) -> frozenset[str]:
    """Possible fills behind a cell: its own, else its table's or the style's, else what is outside.

    Args:
        cell: the cell.
        table: its `w:tbl`.
        rows: rows of the table that show.
        width: columns of the table.
        context: the document's state; what is outside is in `context.grounds`.
    """
    fill_of = context.styles.palette.shading
    own = fill_of(child(cell.element, "w:tcPr"))
    if own not in {None, "auto"}:
        return frozenset({own or ""})
    properties = child(table, "w:tblPr")
    direct = fill_of(child(rows[cell.row], "w:tblPrEx")) or fill_of(properties)
    outside = context.grounds if direct in {None, "auto"} else frozenset({direct or ""})
    key = value(child(table, "w:tblPr", "w:tblStyle"))
    said = child(table, "w:tblPr", "w:tblLook")
    if said is None:  # programs differ in what they take for granted: any fill of the style may show
        return context.styles.table_fills(key, [*_EDGES, *_BANDS]) | context.styles.table_fills(key) | outside
    bits = int(value(said), 16) if re.fullmatch("[0-9A-Fa-f]+", value(said)) else 0
    on = {
        name: attribute(said, f"w:{name}", str(bits & bit)) not in {"0", "false", "off"}
        for name, bit in _LOOK.items()
    }
    top, bottom = on["firstRow"] and cell.row == 0, on["lastRow"] and cell.row + cell.rows == len(rows)
    left, right = (
        on["firstColumn"] and cell.column == 0,
        on["lastColumn"] and cell.column + cell.columns == width,
    )
    holds = (top, bottom, left, right, top and left, top and right, bottom and left, bottom and right)
    layers = [[name for name, true in zip(_EDGES, holds, strict=True) if true]]
    for of, off, at in (
        ("Row", "noHBand", cell.row - on["firstRow"]),
        ("Col", "noVBand", cell.column - on["firstColumn"]),
    ):
        second = at // context.styles.band(key, of) % 2
        layers.append([] if on[off] else [_BANDS[second + (2 if of == "Col" else 0)]])
    style = context.styles.table_fills(key, *layers)
    # A cell that says it has no fill of its own: programs differ in whether the style's still shows.
    return style | outside if own else style or outside
