# ruff: noqa: RUF001 -- minus signs and dashes differ from hyphens on purpose
"""Rows of tables: by cells if ruled, otherwise by columns of words."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise

from flows.readers.pdf.layout.lines import Hyphens, Line, is_marker, lines_of, paragraphs
from flows.readers.pdf.paint.ink import Box
from flows.readers.pdf.paint.runs import Word
from flows.readers.shared.notation import span_mark

MAX_FRAME_LINES = 12  # a cell with more lines is a column of a form or a frame around text
MAX_FRAME_ROWS = 4
_FIGURE = re.compile(r"[-+(]?[$€£]?[\d.,\s]+[%)]?|[-–—]|N/?A", re.IGNORECASE)
_STEADY = 0.8  # share of lines that must agree before a row between rules is taken apart
_USUAL = 0.7  # share of the cells of a stack of figures that have as many lines
_MIN_STACK = 3  # lines of words that make a stack of rows; two may be wrapped text that is level by chance


@dataclass(slots=True)
class RuledCell:
    """A cell between rules: its box, its place in the grid from 0, its span, its words."""

    box: Box
    row: int
    column: int
    rows: int
    columns: int
    words: list[Word] = field(default_factory=list[Word])


@dataclass(slots=True)
class RuledTable:
    """A table between rules."""

    box: Box
    cells: list[RuledCell]

    @property
    def is_frame(self) -> bool:
        """Whether its rules only part columns of running text, or frame a whole page."""
        by_row = self.by_row()
        return len(by_row) <= MAX_FRAME_ROWS and any(
            any(len(lines_of(cell.words)) > MAX_FRAME_LINES for cell in cells) and not self.levels(cells)
            for cells in by_row.values()
        )

    def by_row(self) -> dict[int, list[RuledCell]]:
        """Its cells by the row that they begin in."""
        rows: dict[int, list[RuledCell]] = {}
        for cell in self.cells:
            rows.setdefault(cell.row, []).append(cell)
        return rows

    def levels(self, cells: list[RuledCell]) -> list[float]:
        """The heights of the lines of a row between rules that holds several rows; else nothing."""
        body = cells[0].row > 0 and len({cell.row for cell in self.cells}) == 2  # noqa: PLR2004 -- head and body
        return _stacked(cells, under_head=body)

    def rows(self, hyphens: Hyphens) -> list[list[str]]:
        """The table's rows; a merged cell stands once, with its span."""
        count = 1 + max(cell.row + cell.rows - 1 for cell in self.cells)
        columns = 1 + max(cell.column + cell.columns - 1 for cell in self.cells)
        grid: list[list[str]] = []
        by_row = self.by_row()
        starts = {cell.column: cell.box[0] for cell in reversed(self.cells)}
        edges = [starts.get(at, 0.0) for at in range(columns)]
        for at in range(count):
            cells = by_row.get(at, [])
            levels = self.levels(cells) if cells else []
            if levels:
                grid += _unstacked(cells, levels, columns)
                continue
            row = [""] * columns
            for cell in cells:
                _place(cell, row, edges, hyphens)
            grid.append(row)
        # Rules drawn double leave slivers: rows and columns that nothing stands in.
        wide = [at for at in range(columns) if any(row[at] for row in grid)]
        return [[row[at] for at in wide] for row in grid if any(row)]


def _stacked(cells: list[RuledCell], *, under_head: bool) -> list[float]:
    """The heights of the lines of a row between rules that holds several rows of the table; else nothing.

    Printed tables rule every fifth line, or under the head only. Such cells have their lines level with
    each other, and most are figures, or the first word of the next line had room on the line. Under a head
    two lines are enough, and not each line needs a first column; elsewhere such lines may be wrapped text
    that is level by chance.
    """
    filled = sorted((cell for cell in cells if cell.words), key=lambda cell: cell.column)
    found = [(cell, lines_of(cell.words)) for cell in filled]
    counts = [len(lines) for _, lines in found]
    usual = max(counts, key=counts.count, default=0)
    if len(found) < 2 or max(counts) < 2:  # noqa: PLR2004 -- a stack is of two at least
        return []
    longest = max((lines for _, lines in found), key=len)
    texts = [line.text for _, lines in found for line in lines]
    levels = {round(line.middle / (line.size / 2 or 1)) for _, lines in found for line in lines}
    figures = sum(1 for text in texts if _FIGURE.fullmatch(text)) >= 0.5 * len(texts)
    if figures and usual > 1 and len(levels) <= 2 * usual and counts.count(usual) >= _USUAL * len(found):
        return [line.middle for line in longest]
    rows = lines_of(word for cell, _ in found for word in cell.words)
    listed = any(
        is_marker(line.words[0].text) and len(line.words) > 1 for _, lines in found for line in lines
    )
    if (
        listed
        or len(rows) > 1.1 * len(longest)
        or len(rows) < (2 if under_head else _MIN_STACK)
        or counts[0] < (2 if under_head else _STEADY * len(rows))
        or sum(2 * count >= len(rows) for count in counts) < 2  # noqa: PLR2004 -- two columns at least are level
    ):
        return []
    free = [[not _wraps(one, two, cell.box[2]) for one, two in pairwise(lines)] for cell, lines in found]
    every = [one for column in free for one in column]
    # Rows are read off the first column; others may be wrapped, or just be full.
    steady = sum(free[0]) >= _STEADY * len(free[0]) and sum(every) >= 0.5 * len(every)
    return [line.middle for line in rows] if steady else []


def _wraps(above: Line, below: Line, right: float) -> bool:
    """Whether the first word of the lower line had no room on the upper one before `right`."""
    return above.x1 + above.size + below.words[0].x1 - below.words[0].x0 >= right


def _unstacked(cells: list[RuledCell], levels: list[float], columns: int) -> list[list[str]]:
    """A row for each level; a line that wraps one cell of the row above is joined to it."""
    rows: list[dict[int, Line]] = [{} for _ in levels]
    for cell in cells:
        for line in lines_of(cell.words):
            row = rows[min(range(len(levels)), key=lambda n, line=line: abs(levels[n] - line.middle))]
            row[cell.column] = Line([*row[cell.column].words, *line.words]) if cell.column in row else line
    rights = {cell.column: cell.box[2] for cell in cells}
    texts: list[list[str]] = []
    above: dict[int, Line] = {}
    for row in rows:
        at, line = next(iter(row.items()), (0, None))
        if texts and line and len(row) == 1 and at in above and at and _wraps(above[at], line, rights[at]):
            texts[-1][at] += " " + line.text
        else:
            texts.append([row[at].text if at in row else "" for at in range(columns)])
        above = row
    return texts


def _place(cell: RuledCell, row: list[str], edges: list[float], hyphens: Hyphens) -> None:
    """Write a cell into its row; the last line of a heading over several columns goes into those columns."""
    mark = span_mark(cell.columns, cell.rows)
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
                _add(row, cell.column + at, Line(words).text if at else f"{above}\n{Line(words).text}")
            return
    text = cell_text(cell, hyphens)
    _add(row, cell.column, text + mark if text else "")


def _add(row: list[str], at: int, text: str) -> None:
    """Write into a row's cell, below what another box at the same place has put there."""
    row[at] = "\n".join(filter(None, (row[at], text)))


def cell_text(cell: RuledCell, hyphens: Hyphens) -> str:
    """Text of a cell: wrapped lines joined, others kept apart."""
    lines = lines_of(cell.words)
    if not lines:
        return ""
    # A cell's text is centred or inset: where its widest line ends is where it wraps.
    right = min(cell.box[2], max(line.x1 for line in lines) + lines[0].size)
    return "\n".join(hyphens.text_of(group) for group in paragraphs(lines, right, narrow=True))


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
