"""Find the tables of a page that are drawn with lines or filled boxes."""

from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pdfplumber.utils.geometry import merge_bboxes

from flows.readers.pdf.layout.areas import all_gutters, prose
from flows.readers.pdf.layout.lines import Line, is_marker, lines_of
from flows.readers.pdf.layout.tables import Box, RuledCell, RuledTable
from flows.readers.pdf.paint.ink import MAX_SHAPES
from flows.readers.pdf.paint.page import PageText
from flows.readers.pdf.paint.runs import Word

_EDGE = 2.0  # points within which two rules are the same
_FUSED = 3.5  # points between two tables that the library takes for one
_TIGHT = {"snap_tolerance": 0.8, "join_tolerance": 0.8, "intersection_tolerance": 0.8}
_MOST = 0.7  # share of a table's rows that a column beside it has


def ruled_tables(found: PageText) -> list[RuledTable]:
    """Return tables that are drawn with lines, and remove their words from `found.words`.

    A box with text in only one cell is not a table; its words stay.
    """
    page: Any = found.page
    if len(page.lines) + len(page.rects) + len(page.curves) > MAX_SHAPES:
        return []
    tables: list[RuledTable] = []
    for boxes in _boxes(page):
        columns = _edges([edge for box in boxes for edge in (box[0], box[2])])
        rows = _edges([edge for box in boxes for edge in (box[1], box[3])])
        cells: list[RuledCell] = []
        for box in boxes:
            left, right = _nearest(columns, box[0]), _nearest(columns, box[2])
            upper, lower = _nearest(rows, box[1]), _nearest(rows, box[3])
            if right > left and lower > upper:
                cells.append(RuledCell(box, upper, left, lower - upper, right - left))
        table = RuledTable(merge_bboxes(boxes), cells)
        words = _fill(table, found.words)
        if sum(1 for cell in cells if cell.words) < 2:  # noqa: PLR2004 -- one cell is a box around text
            continue
        parted = _parted(table)
        if _is_unsure(table, parted):
            if all(cell.column == 0 and cell.columns == 1 for cell in cells) and not table.is_frame:
                continue
            parted = table
        found.words = _without(found.words, words)
        tables.append(parted)
    for at, table in enumerate(tables):
        tables[at], words = _open_columns(table, found.words)
        found.words = _without(found.words, words)
    return tables


def _boxes(page: Any) -> list[list[Box]]:
    """Return the cells of each table, also of tables separated only by a double rule."""
    loose: list[list[Box]] = [table.cells for table in page.find_tables()]
    near = {axis: sorted({float(edge[axis]) for edge in page.edges}) for axis in ("x0", "top")}
    if not loose or not any(
        1 < two - one <= _FUSED for places in near.values() for one, two in pairwise(places)
    ):
        return loose
    tight: list[list[Box]] = [table.cells for table in page.find_tables(_TIGHT)]
    found: list[list[Box]] = []
    for boxes in loose:
        x0, top, x1, bottom = merge_bboxes(boxes)
        inner = [
            cells
            for cells in tight
            if all(x0 - _FUSED <= c[0] and c[2] <= x1 + _FUSED for c in cells)
            and all(top - _FUSED <= c[1] and c[3] <= bottom + _FUSED for c in cells)
        ]
        found += inner if len(inner) > 1 and sum(map(len, inner)) == len(boxes) else [boxes]
    return found


def _without(words: list[Word], taken: list[Word]) -> list[Word]:
    gone = {id(word) for word in taken}
    return [word for word in words if id(word) not in gone] if gone else words


def _fill(table: RuledTable, words: list[Word]) -> list[Word]:
    """Give each cell the words whose middle is in it; all words that were given."""
    x0, top, x1, bottom = table.box
    taken: list[Word] = []
    cells = sorted(table.cells, key=lambda cell: (cell.box[1], cell.box[0]))
    for word in words:
        x, y = (word.x0 + word.x1) / 2, word.middle
        if not (x0 <= x <= x1 and top <= y <= bottom):
            continue
        for cell in cells:
            if cell.box[0] <= x <= cell.box[2] and cell.box[1] <= y <= cell.box[3]:
                cell.words.append(word)
                taken.append(word)
                break
    return taken


def _edges(values: list[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > _EDGE:
            edges.append(value)
    return edges


def _nearest(edges: list[float], value: float) -> int:
    at = bisect_right(edges, value + _EDGE) - 1
    return max(at, 0)


def _parted(table: RuledTable) -> RuledTable:
    """The table with a column of its own for what stands in columns inside a ruled column.

    Bands of colour and rules under the head show the rows only, or the head only.
    """
    count = 1 + max(cell.column + cell.columns - 1 for cell in table.cells)
    inner: list[list[float]] = []
    for at in range(count):
        words = [
            word
            for cell in table.cells
            if (cell.column, cell.columns) == (at, 1)
            for line in lines_of(cell.words)
            if line.has_gap
            for word in line.words
        ]
        inner.append([x for x in all_gutters(words) if _parts_rows(words, x)])
    if not any(inner):
        return table
    starts = [at + sum(len(gutters) for gutters in inner[:at]) for at in range(count + 1)]
    cells: list[RuledCell] = []
    for cell in table.cells:
        gutters = inner[cell.column] if cell.columns == 1 else []
        start, end = starts[cell.column], starts[cell.column + cell.columns]
        if not gutters or any(word.x0 < x < word.x1 for word in cell.words for x in gutters):
            cells.append(replace(cell, column=start, columns=end - start))
            continue
        edges = [cell.box[0], *gutters, cell.box[2]]
        parts = [
            [word for word in cell.words if bisect_right(gutters, (word.x0 + word.x1) / 2) == at]
            for at in range(len(gutters) + 1)
        ]
        for at, words in enumerate(parts):
            # A column reaches to where the next one begins.
            right = min((word.x0 for word in cell.words if word.x0 > edges[at + 1]), default=edges[-1])
            box = (edges[at], cell.box[1], right, cell.box[3])
            cells.append(RuledCell(box, cell.row, start + at, cell.rows, 1, words))
    return RuledTable(table.box, cells)


def _parts_rows(words: list[Word], x: float) -> bool:
    """Whether two lines at least have text on both sides; a bullet or a currency sign is no column."""
    both = 0
    for line in lines_of(words):
        left = [word for word in line.words if word.x1 <= x]
        text = Line(left).text if left else ""
        both += any(sign.isalnum() for sign in text) and not is_marker(text) and len(left) < len(line.words)
    return both > 1


def _is_unsure(table: RuledTable, parted: RuledTable) -> bool:
    """Whether the rules show neither columns nor rows of it; its lines are then read as they stand."""
    if parted is not table:
        if any(
            any(len(lines_of(cell.words)) > 2 for cell in cells) and not parted.levels(cells)  # noqa: PLR2004 -- one may wrap
            for cells in parted.by_row().values()
        ):
            return True
    elif any(cell.column or cell.columns > 1 for cell in table.cells):
        return False
    return sum(line.has_gap for cell in parted.cells for line in lines_of(cell.words)) > 1


def _open_columns(table: RuledTable, words: list[Word]) -> tuple[RuledTable, list[Word]]:
    """The table with the columns beside it that no rule closes, and the words that went into them.

    Such a column has one line in nearly each row of the table, and nothing else.
    """
    x0, top, x1, bottom = table.box
    rows = {cell.row: (cell.box[1], cell.box[3]) for cell in table.cells if cell.rows == 1}
    level = [word for word in words if word.item is None and top <= word.middle <= bottom]
    taken: list[Word] = []
    for side in ([w for w in level if w.x1 <= x0 + _EDGE], [w for w in level if w.x0 >= x1 - _EDGE]):
        lines = lines_of(side)
        at = [
            next((row for row, (upper, lower) in rows.items() if upper <= line.middle <= lower), None)
            for line in lines
        ]
        if None in at or len(set(at)) < len(at) or len(at) < max(2, _MOST * len(rows)) or prose(lines):
            continue
        gutters = all_gutters(side)
        edges = [min(word.x0 for word in side), *gutters, max(word.x1 for word in side)]
        before = side[0].x1 <= x0 + _EDGE
        shift = 1 + max(cell.column + cell.columns - 1 for cell in table.cells)
        if before:
            table = RuledTable(
                table.box, [replace(c, column=c.column + len(gutters) + 1) for c in table.cells]
            )
            shift = 0
        for row, line in zip(at, lines, strict=True):
            for column, (left, right) in enumerate(pairwise(edges)):
                inside = [w for w in line.words if bisect_right(gutters, (w.x0 + w.x1) / 2) == column]
                cell = RuledCell((left, line.top, right, line.bottom), row or 0, shift + column, 1, 1, inside)
                table.cells.append(cell)
        taken += side
    return (replace(table, box=merge_bboxes([cell.box for cell in table.cells])) if taken else table), taken
