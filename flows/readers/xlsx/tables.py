"""Split the cells of a sheet into tables at empty rows and columns."""

from collections.abc import Callable, Iterator
from itertools import groupby

from flows.readers.shared.notation import collapsed, letters, pipe_table
from flows.readers.xlsx.grid import Grid
from flows.readers.xlsx.places import Span
from flows.schema.document import Block, BlockKind

THIN_AREA = 1_000_000  # cells of a range from which it may be too thin for a table
THIN_SHARE = 20  # times the filled cells, from which it is
_FRAME = 3  # characters that an empty cell takes
MAX_FILL = 1_000_000  # characters that merged ranges may fill on one sheet


def tables(grid: Grid, sheet: str, spend: Callable[[int], None]) -> Iterator[Block]:
    """The tables of a sheet, from top to bottom, then left to right; a lone cell is a paragraph.

    Merged ranges are filled with their value, and the first cell of one notes it; hidden rows and
    columns are marked. Cells spread thinly over a huge range are listed one a line, `C7: text`.
    `spend` is called with the characters of a table's frame, before it is written.
    """
    _fill(grid)
    for region in _regions(grid):
        place = f"{sheet}!{region.name}"
        if region.area > THIN_AREA and region.area > THIN_SHARE * sum(map(len, grid.rows.values())):
            cells = (
                f"{letters(column)}{row}: {collapsed(_cell(grid, region, row, column))}"
                for row in range(region.top, region.bottom + 1)
                for column in sorted(grid.rows.get(row, {}))
            )
            yield Block(BlockKind.table, "\n".join(cells), place)
        elif region.area == 1:
            text = collapsed(_cell(grid, region, region.top, region.left))
            yield Block(BlockKind.paragraph, text, place)
        else:
            columns = range(region.left, region.right + 1)
            within = range(region.top, region.bottom + 1)
            spend(_FRAME * sum(max(0, len(columns) - len(grid.rows.get(row, ()))) for row in within))
            rows = [[_cell(grid, region, row, at) for at in columns] for row in within if row in grid.rows]
            yield Block(BlockKind.table, pipe_table(rows), place)


def _cell(grid: Grid, region: Span, row: int, column: int) -> str:
    text = grid.rows.get(row, {}).get(column, "")
    if row == region.top and any(first <= column <= last for first, last in grid.hidden_columns):
        text = f"{text} [hidden column]".strip()
    if column == region.left and row in grid.hidden_rows:
        text = f"[hidden row] {text}".strip()
    return text


def _fill(grid: Grid) -> None:
    left = MAX_FILL
    for merge in grid.merges:
        text = grid.rows.get(merge.top, {}).get(merge.left, "")
        if not text:
            continue
        left -= merge.area * (len(text) + 3)
        if left > 0 and not _is_title(grid, merge):
            for row in range(merge.top, merge.bottom + 1):
                cells = grid.rows.setdefault(row, {})
                for column in range(merge.left, merge.right + 1):
                    cells[column] = text
        grid.rows[merge.top][merge.left] = f"{text} [merged {merge.name}]"
    grid.rows = dict(sorted(grid.rows.items()))


def _is_title(grid: Grid, merge: Span) -> bool:
    """Whether nothing stands beside a merged range: filling it would only repeat a caption."""
    return all(
        merge.left <= column <= merge.right
        for row in range(merge.top, min(merge.bottom, merge.top + 1000) + 1)
        for column in grid.rows.get(row, {})
    )


def _regions(grid: Grid) -> Iterator[Span]:
    for _, band in groupby(enumerate(grid.rows), lambda pair: pair[1] - pair[0]):
        for part in _apart(grid, [row for _, row in band]):
            yield from _columns(grid, part)


def _apart(grid: Grid, band: list[int]) -> Iterator[list[int]]:
    """Part a band of rows where all cells above a line stand left or right of all cells below it."""
    extents = [(min(grid.rows[row]), max(grid.rows[row])) for row in band]
    below = [extents[-1]] * len(band)
    for at in range(len(band) - 2, -1, -1):
        below[at] = (min(extents[at][0], below[at + 1][0]), max(extents[at][1], below[at + 1][1]))
    start, left, right = 0, *extents[0]
    for at in range(1, len(band)):
        if right < below[at][0] or left > below[at][1]:
            yield band[start:at]
            start, left, right = at, *extents[at]
        left, right = min(left, extents[at][0]), max(right, extents[at][1])
    yield band[start:]


def _columns(grid: Grid, band: list[int]) -> Iterator[Span]:
    extents: dict[int, tuple[int, int]] = {}  # first and last row of each column
    for row in band:
        for column in grid.rows[row]:
            extents[column] = (extents[column][0] if column in extents else row, row)
    groups: list[Span] = []
    for column in sorted(extents):
        top, bottom = extents[column]
        last = groups[-1] if groups else None
        if last is not None and column == last.right + 1:
            groups[-1] = Span(min(last.top, top), last.left, max(last.bottom, bottom), column)
        else:
            groups.append(Span(top, column, bottom, column))
    # A gap parts two tables only if both sides look like one: a label and its value may stand apart.
    if all(region.right > region.left and region.bottom > region.top for region in groups):
        yield from groups
    else:
        yield Span(band[0], min(extents), band[-1], max(extents))
