# ruff: noqa: RUF001 -- minus signs and dashes are told from hyphens on purpose
"""Tables of a page: ruled ones by their lines, others by the columns that their words stand in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from flows.readers.pdf.ink import MAX_SHAPES
from flows.readers.pdf.lines import Hyphens, Line, lines_of, paragraphs, text_of
from flows.readers.pdf.page import PageText, Word

MAX_FRAME_LINES = 12  # a cell with more lines is a column of a form or a frame around text, not a cell
MAX_FRAME_ROWS = 4
_FIGURE = re.compile(r"[-+(]?[$€£]?[\d.,\s]+[%)]?|[-–—]|N/?A", re.IGNORECASE)
_EDGE = 2.0  # points within which two rules are the same


@dataclass(slots=True)
class RuledCell:
    """A cell between rules: its box, its place in the grid from 0, its span, its words."""

    box: tuple[float, float, float, float]
    row: int
    column: int
    rows: int
    columns: int
    words: list[Word] = field(default_factory=list[Word])


@dataclass(slots=True)
class RuledTable:
    """A table between rules."""

    box: tuple[float, float, float, float]
    cells: list[RuledCell]

    @property
    def is_frame(self) -> bool:
        """Whether its rules only part columns of running text, or frame a whole page."""
        rows = 1 + max(cell.row for cell in self.cells)
        return rows <= MAX_FRAME_ROWS and any(
            len(lines_of(cell.words)) > MAX_FRAME_LINES for cell in self.cells
        )

    def rows(self, hyphens: Hyphens) -> list[list[str]]:
        """The table's rows; a merged cell stands once, with its span."""
        count = 1 + max(cell.row + cell.rows - 1 for cell in self.cells)
        columns = 1 + max(cell.column + cell.columns - 1 for cell in self.cells)
        grid: list[list[str]] = []
        by_row: dict[int, list[RuledCell]] = {}
        for cell in self.cells:
            by_row.setdefault(cell.row, []).append(cell)
        edges = self._edges(columns)
        for at in range(count):
            cells = by_row.get(at, [])
            split = _stacked(cells)
            if split:
                grid += [[*row, *[""] * (columns - len(row))] for row in _unstacked(split, columns)]
                continue
            row = [""] * columns
            for cell in cells:
                _place(cell, row, edges, hyphens)
            grid.append(row)
        # Rules drawn double leave slivers: rows and columns that nothing stands in.
        wide = [at for at in range(columns) if any(row[at] for row in grid)]
        return [[row[at] for at in wide] for row in grid if any(row)]

    def _edges(self, columns: int) -> list[float]:
        """Left edges of the columns after the first, as far as cells show them."""
        edges: dict[int, float] = {}
        for cell in self.cells:
            edges.setdefault(cell.column, cell.box[0])
        return [edges.get(at, 0.0) for at in range(columns)]


def _stacked(cells: list[RuledCell]) -> list[tuple[RuledCell, list[Line]]]:
    """The lines of a row's cells if the row stacks several rows of figures; else nothing.

    Printed tables rule every fifth line or so. That a row is such a stack is taken from its
    figures: most lines are numbers, and nearly all cells have as many lines, level with each other.
    """
    found = [(cell, lines_of(cell.words)) for cell in cells if cell.words]
    counts = Counter(len(lines) for _, lines in found)
    usual = counts.most_common(1)[0][0] if counts else 0
    if usual < 2 or len(found) < 2 or counts[usual] < 0.8 * len(found):  # noqa: PLR2004 -- a stack is of two at least
        return []
    texts = [line.text for _, lines in found for line in lines]
    figures = sum(1 for text in texts if _FIGURE.fullmatch(text))
    levels = {round(line.middle / (line.size / 2 or 1)) for _, lines in found for line in lines}
    return found if figures >= 0.5 * len(texts) and len(levels) <= 2 * usual else []


def _unstacked(found: list[tuple[RuledCell, list[Line]]], columns: int) -> list[list[str]]:
    longest = max((lines for _, lines in found), key=len)
    rows = [[""] * columns for _ in longest]
    for cell, lines in found:
        for line in lines:
            at = min(range(len(longest)), key=lambda n, line=line: abs(longest[n].middle - line.middle))
            rows[at][cell.column] = f"{rows[at][cell.column]} {line.text}".strip()
    return rows


def _place(cell: RuledCell, row: list[str], edges: list[float], hyphens: Hyphens) -> None:
    """Write a cell into its row; the last line of a heading over several columns goes into those columns."""
    spans = [f"{n} {what}" for n, what in ((cell.columns, "columns"), (cell.rows, "rows")) if n > 1]
    mark = f" [spans {', '.join(spans)}]" if spans else ""
    lines = lines_of(cell.words)
    if cell.columns > 1 and len(lines) > 1:
        inner = edges[cell.column + 1 : cell.column + cell.columns]
        parts: list[list[Word]] = [[] for _ in range(cell.columns)]
        crossed = False
        for word in lines[-1].words:
            crossed = crossed or any(word.x0 < edge < word.x1 for edge in inner)
            parts[bisect_right(inner, (word.x0 + word.x1) / 2)].append(word)
        if not crossed and all(parts):
            above = "\n".join(line.text for line in lines[:-1]) + mark
            for at, words in enumerate(parts):
                row[cell.column + at] = Line(words).text
            row[cell.column] = f"{above}\n{row[cell.column]}"
            return
    text = cell_text(cell, hyphens)
    row[cell.column] = text + mark if text else ""


def cell_text(cell: RuledCell, hyphens: Hyphens) -> str:
    """Text of a cell: wrapped lines joined, others kept apart."""
    lines = lines_of(cell.words)
    if not lines:
        return ""
    # A cell's text is centred or inset: where its widest line ends is where it wraps.
    right = min(cell.box[2], max(line.x1 for line in lines) + lines[0].size)
    return "\n".join(text_of(group, hyphens) for group in paragraphs(lines, right, narrow=True))


def _edges(values: list[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > _EDGE:
            edges.append(value)
    return edges


def _nearest(edges: list[float], value: float) -> int:
    at = bisect_right(edges, value + _EDGE) - 1
    return max(at, 0)


def ruled_tables(found: PageText) -> list[RuledTable]:
    """Tables that are drawn with lines, their words taken out of `found.words`.

    A box with text in one cell only is no table; its words stay where they are.
    """
    page: Any = found.page
    if len(page.lines) + len(page.rects) + len(page.curves) > MAX_SHAPES:
        return []
    tables: list[RuledTable] = []
    for source in page.find_tables():
        boxes = [tuple(float(edge) for edge in cell) for cell in source.cells]
        columns = _edges([edge for box in boxes for edge in (box[0], box[2])])
        rows = _edges([edge for box in boxes for edge in (box[1], box[3])])
        cells: list[RuledCell] = []
        for x0, top, x1, bottom in boxes:
            left, right = _nearest(columns, x0), _nearest(columns, x1)
            upper, lower = _nearest(rows, top), _nearest(rows, bottom)
            if right > left and lower > upper:
                cells.append(RuledCell((x0, top, x1, bottom), upper, left, lower - upper, right - left))
        box = tuple(float(edge) for edge in source.bbox)
        table = RuledTable((box[0], box[1], box[2], box[3]), cells)
        words = _fill(table, found.words)
        if sum(1 for cell in cells if cell.words) > 1:
            taken = {id(word) for word in words}
            found.words = [word for word in found.words if id(word) not in taken]
            tables.append(table)
    return tables


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


def open_table(words: list[Word], gutters: list[float]) -> list[list[str]]:
    """Rows of a table without rules, whose columns are parted at `gutters`.

    A row that continues one cell of the row above (nothing else in it, no larger gap) is joined to it.
    """
    rows: list[list[str]] = []
    last: Line | None = None
    for line in lines_of(words):
        cells: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
        for word in line.words:
            cells[bisect_right(gutters, (word.x0 + word.x1) / 2)].append(word)
        texts = [Line(cell).text if cell else "" for cell in cells]
        filled = [at for at, text in enumerate(texts) if text]
        close = last is not None and line.top - last.bottom < 0.6 * line.size
        if rows and close and len(filled) == 1 and filled[0] > 0 and rows[-1][filled[0]] and rows[-1][0]:
            rows[-1][filled[0]] += " " + texts[filled[0]]
        else:
            rows.append(texts)
        last = line
    return rows
