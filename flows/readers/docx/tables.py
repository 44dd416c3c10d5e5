"""The grid of a Word table: merged cells once, with their span."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flows.common.errors import ReadError
from flows.common.word_xml import Element, attribute, child, number, qn, switch, tag, val
from flows.readers.docx.context import Context
from flows.readers.docx.inline import deleted
from flows.readers.shared.notation import flat, span_mark

MAX_CELLS = 4_000_000
MAX_COLUMNS = 63  # Word's own limit; a span that claims more is cut to it
_WRAPPERS = frozenset([
    "w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag", "mc:AlternateContent",
    "mc:Choice",
])  # fmt: skip


@dataclass(slots=True)
class Cell:
    """One cell: its position (from 0), its span, and its element."""

    row: int
    column: int
    element: Element
    columns: int = 1
    rows: int = 1
    text: str = ""

    def shown(self) -> str:
        """Return the text with its span: `Total [spans 2 columns]`; an empty cell gives nothing."""
        return self.text + span_mark(self.columns, self.rows) if self.text else ""


def wrapped(element: Element, name: str) -> Iterator[Element]:
    """Children of that name, also inside content controls, custom XML and tracked insertions."""
    for part in element:
        kind = tag(part)
        if kind == name:
            yield part
        elif kind in _WRAPPERS:
            yield from wrapped(part, name)


def shown_rows(element: Element, place: str, context: Context) -> list[Element]:
    """Rows of a table that show; deleted and hidden ones are reported."""
    kept: list[Element] = []
    for row in wrapped(element, "w:tr"):
        gone = child(row, "w:trPr", "w:del")
        if gone is not None:
            deleted(row, context, mark=gone)
        elif switch(row, "w:trPr", "w:hidden"):
            text = flat(" ".join(str(part.text or "") for part in row.iter(qn("w:t"))))
            context.notice("hidden_text", f"hidden row: {text}", place)
        else:
            context.revisions["inserted"] += child(row, "w:trPr", "w:ins") is not None
            for cell in wrapped(row, "w:tc"):
                properties = child(cell, "w:tcPr")
                context.revisions["inserted"] += child(properties, "w:cellIns") is not None
                gone = child(properties, "w:cellDel")
                if gone is not None:
                    deleted(cell, context, mark=gone)
            kept.append(row)
    return kept


def _merge(properties: Element | None, name: str) -> str:
    merge = child(properties, name)
    return "" if merge is None else val(merge, default="continue")


def grid(rows: list[Element], where: str) -> tuple[list[Cell], list[Cell], int]:
    """Place the cells of the `rows` that show; `where` names file and table in the error.

    Returns:
        The cells that show, those that a merge covers (Word shows nothing of them), how many columns.

    Raises:
        ReadError: the table has more than MAX_CELLS cells.
    """
    cells: list[Cell] = []
    covered: list[Cell] = []
    above: dict[int, Cell] = {}
    width = 0
    for at, row in enumerate(rows):
        column = min(number(val(row, "w:trPr", "w:gridBefore")) or 0, MAX_COLUMNS)
        current: dict[int, Cell] = {}
        left: Cell | None = None
        for element in wrapped(row, "w:tc"):
            properties = child(element, "w:tcPr")
            if child(properties, "w:cellDel") is not None:
                continue
            span = max(1, min(number(val(properties, "w:gridSpan")) or 1, MAX_COLUMNS))
            cell = Cell(at, column, element, span)
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


class Fills:
    """What may stand behind the cells of one table; what is outside is in `context.grounds`."""

    def __init__(self, table: Element, rows: list[Element], width: int, context: Context) -> None:
        self._fill_of = context.styles.palette.shading
        self._rows, self._width, self._outside = rows, width, context.grounds
        properties = child(table, "w:tblPr")
        self._direct = self._fill_of(properties)
        key, look = val(properties, "w:tblStyle"), child(properties, "w:tblLook")
        self._fills = context.styles.table_fills(key)
        bits = int(val(look), 16) if re.fullmatch("[0-9A-Fa-f]+", val(look)) else 0
        self._known = look is not None
        self._on = {
            name: attribute(look, f"w:{name}", str(bits & bit)) not in {"0", "false", "off"}
            for name, bit in _LOOK.items()
        }
        self._band = {of: context.styles.band(key, of) for of in ("Row", "Col")}

    def behind(self, cell: Cell) -> frozenset[str]:
        """Possible fills: the cell's own, else its table's or the style's, else what is outside."""
        own = self._fill_of(child(cell.element, "w:tcPr"))
        if own not in {None, "auto"}:
            return frozenset({own or ""})
        direct = self._fill_of(child(self._rows[cell.row], "w:tblPrEx")) or self._direct
        outside = self._outside if direct in {None, "auto"} else frozenset({direct or ""})
        if not self._fills:
            return outside
        if not self._known:  # programs differ in which fills show then
            return frozenset(self._fills.values()) | outside
        found = ({self._fills[name] for name in layer if name in self._fills} for layer in self._layers(cell))
        style = frozenset(next((layer for layer in found if layer), ()))
        # A cell that says it has no fill of its own: programs differ in whether the style's still shows.
        return style | outside if own else style or outside

    def _layers(self, cell: Cell) -> list[list[str]]:
        """Conditional formats that hold for a cell, those that win first; in one layer they are equals."""
        on = self._on
        top = on["firstRow"] and not cell.row
        bottom = on["lastRow"] and cell.row + cell.rows == len(self._rows)
        left = on["firstColumn"] and not cell.column
        right = on["lastColumn"] and cell.column + cell.columns == self._width
        holds = (top, bottom, left, right, top and left, top and right, bottom and left, bottom and right)
        across = (cell.row - on["firstRow"]) // self._band["Row"] % 2
        down = (cell.column - on["firstColumn"]) // self._band["Col"] % 2
        return [
            [name for name, true in zip(_EDGES, holds, strict=True) if true],
            [] if on["noHBand"] else [f"band{across + 1}Horz"],
            [] if on["noVBand"] else [f"band{down + 1}Vert"],
            ["wholeTable"],
        ]
