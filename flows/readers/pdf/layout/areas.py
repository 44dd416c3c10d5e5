"""Reading order: columns in turn, tables across them in place; uncertain cases are reported."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from flows.readers.pdf.layout.lines import Line, is_marker, lines_of
from flows.readers.pdf.paint.runs import Word

_MIN_LINES = 3  # lines that each side of a gutter must have
_PROSE_WORDS = 4  # words that a line of running text has at least, in the middle
_PROSE_FILL = 0.5  # share of lines that reach across the column, for it to be running text
_ALIGNED = 0.7  # share of lines with a partner on the other side, for rows of a table
_CLOSE = 0.6  # heights of type between the lines of one paragraph at most
MAX_DEPTH = 24
MAX_WORDS = 20_000  # of a page; a page that a person can read has two thousand
MAX_CANDIDATES = 60  # places that are tried as a gutter; more only cost time


@dataclass(slots=True)
class Area:
    """A part of a page in reading order."""

    # `text` (one column), `table` (a table without rules), or if it is uncertain which: `rows` (read line by
    # line) or `columns` (empty; the columns follow).
    kind: str
    words: list[Word]
    gutters: list[float] = field(default_factory=list[float])  # x positions between the columns of a table
    right: float = 0.0  # right edge of the column


@dataclass(frozen=True, slots=True)
class _Gutter:
    x: float
    top: float
    bottom: float
    upper: float  # from here to `lower` both sides have words
    lower: float
    score: tuple[float, float]


def areas(words: list[Word], right_edge: float | None = None, depth: int = 0) -> list[Area]:
    """Split a page, or a part of one, into areas in reading order.

    The blank vertical strip that separates most lines is found first. Text above it is read first, then
    its left side, its right side, and the text below it.
    """
    if not words:
        return []
    edge = max(word.x1 for word in words) if right_edge is None else right_edge
    if len(words) > MAX_WORDS:
        return [Area("rows", words, right=edge)]
    gutter = _best_gutter(words) if depth < MAX_DEPTH else None
    if gutter is None:
        return [Area("text", words, right=edge)]
    above = [word for word in words if word.middle < gutter.top]
    below = [word for word in words if word.middle > gutter.bottom]
    inside = [word for word in words if gutter.top <= word.middle <= gutter.bottom]
    if above:  # the short last line of a paragraph above the columns is none of theirs
        end = max(word.bottom for word in above)
        last = [w for w in inside if w.middle < gutter.upper and w.top - end < _CLOSE * w.size]
        above, inside = above + last, [word for word in inside if not any(word is w for w in last)]
    left = [word for word in inside if (word.x0 + word.x1) / 2 < gutter.x]
    right = [word for word in inside if (word.x0 + word.x1) / 2 >= gutter.x]
    kind = _judge(left, right)
    # A column is as wide as its widest line, not as the gutter beside it; above and below, as the page.
    deeper = depth + 1
    if kind in {"text", "columns"}:
        parts = areas(above, edge, deeper) + ([Area(kind, [])] if kind == "columns" else [])
        parts += areas(left, None, deeper) + areas(right, None, deeper)
        return parts + areas(below, edge, deeper)
    top, bottom = _rows_around(inside, gutter) if kind == "table" else (gutter.upper, gutter.lower)
    rows = [word for word in inside if top <= word.middle <= bottom]
    parts = areas(above + [word for word in inside if word.middle < top], edge, deeper)
    if kind == "table":  # an image beside its rows is no cell
        parts.append(Area("text", [word for word in rows if word.item is not None], right=edge))
        rows = [word for word in rows if word.item is None]
    parts.append(Area(kind, rows, all_gutters(rows), edge))
    return parts + areas([word for word in inside if word.middle > bottom] + below, edge, deeper)


def _rows_around(inside: list[Word], gutter: _Gutter) -> tuple[float, float]:
    """Top and bottom of a table, with the rows at its ends that have nothing on one side of the gutter."""
    lines = lines_of(inside)
    rows = [at for at, line in enumerate(lines) if gutter.upper <= line.words[0].middle <= gutter.lower]
    if not rows:
        return gutter.upper, gutter.lower
    gutters = all_gutters([word for at in rows for word in lines[at].words])
    steps = [lines[two].top - lines[one].top for one, two in pairwise(rows)]
    first, last, step = rows[0], rows[-1], max(steps, default=0.0)

    def is_row(line: Line) -> bool:
        crossed = any(word.x0 < x < word.x1 for word in line.words for x in gutters)
        return line.words[0].item is None and line.has_gap and not crossed

    while first > 0 and is_row(lines[first - 1]) and lines[first].top - lines[first - 1].top <= step:
        first -= 1
    while last + 1 < len(lines) and is_row(lines[last + 1]) and lines[last + 1].top - lines[last].top <= step:
        last += 1
    return min(gutter.upper, lines[first].top), max(gutter.lower, lines[last].bottom)


def _width(words: list[Word]) -> float:
    sizes = [word.size for word in words if word.item is None]
    return median(sizes) if sizes else 10.0


def _candidates(words: list[Word], least: float) -> list[float]:
    """Places of wide gaps to the left of a word, the most frequent ones, thinned to two points.

    Every word whose height overlaps counts as a neighbour, not only one on the same line: the lines of
    two columns often stand at different heights.
    """
    by_top = sorted(words, key=lambda word: word.top)
    tops = [word.top for word in by_top]
    tallest = max((word.bottom - word.top for word in words if word.item is None), default=0.0)
    counts: dict[int, int] = {}
    for word in words:
        if word.item is not None:
            continue
        near = by_top[bisect_left(tops, word.top - tallest) : bisect_right(tops, word.bottom)]
        ends = [w.x1 for w in near if w.bottom > word.top and w.x0 < word.x0 and w is not word]
        end = max(ends, default=None)
        if end is not None and word.x0 - end >= least:
            # The edge at the right word is the steadier one: columns are set flush left.
            for x in (word.x0 - least / 2, end + least / 2, (word.x0 + end) / 2):
                counts[round(x / 2)] = counts.get(round(x / 2), 0) + 1
    best = sorted(counts, key=lambda at: (-counts[at], at))[:MAX_CANDIDATES]
    return [2.0 * at for at in sorted(best)]


def _best_gutter(words: list[Word]) -> _Gutter | None:
    least = max(0.9 * _width(words), 5.0)
    by_top = sorted(words, key=lambda word: word.middle)
    middles = [word.middle for word in by_top]
    best: _Gutter | None = None
    for x in _candidates(words, least):
        x0, x1 = x - least / 2 + 0.5, x + least / 2 - 0.5
        top, bottom = by_top[0].top - 1, max(word.bottom for word in words) + 1
        stops = sorted((word.top, word.bottom) for word in by_top if word.x0 < x1 and word.x1 > x0)
        edges = [top] + [edge for stop in stops for edge in stop] + [bottom]
        for at in range(0, len(edges), 2):
            if edges[at + 1] - edges[at] < _MIN_LINES * least:
                continue  # too low for three lines: most strips between words of running text
            inside = by_top[bisect_left(middles, edges[at]) : bisect_right(middles, edges[at + 1])]
            beat = best.score[0] if best else 0.0
            found = _measured(inside, x, edges[at], edges[at + 1], beat) if len(inside) > _MIN_LINES else None
            if found is not None and (best is None or found.score > best.score):
                best = found
    return best


def _measured(inside: list[Word], x: float, top: float, bottom: float, beat: float) -> _Gutter | None:
    """A strip at `x` from `top` to `bottom`, if enough lines for a score of `beat` stand on both sides."""
    left = [word for word in inside if (word.x0 + word.x1) / 2 < x]
    right = [word for word in inside if (word.x0 + word.x1) / 2 >= x]
    if not left or not right:
        return None
    # The strip only counts where both sides have words: what stands beside nothing is no column.
    upper = max(min(word.top for word in left), min(word.top for word in right))
    lower = min(max(word.bottom for word in left), max(word.bottom for word in right))
    # There are no more lines than words; counting lines takes most of the time.
    level = [[word for word in side if upper - 1 <= word.middle <= lower + 1] for side in (left, right)]
    if (lower - upper) * min(map(len, level)) < beat - 0.001:
        return None
    left_lines, right_lines = (
        [line for line in lines_of(side) if upper - 1 <= line.words[0].middle <= lower + 1]
        for side in (left, right)
    )
    fewest = min(len(left_lines), len(right_lines))
    if fewest < _MIN_LINES or lower <= upper:
        return None
    if all(is_marker(line.text) for line in left_lines):
        return None  # bullets and numbers belong to the text behind them
    # Of equal strips the longest: one in the ragged margin of a long column ends at its longer lines.
    return _Gutter(x, top, bottom, upper - 1, lower + 1, (round((lower - upper) * fewest, 3), bottom - top))


def prose(lines: list[Line]) -> bool:
    """Whether lines are running text: several words each, most of them filling the column."""
    texts = [line for line in lines if line.words[0].item is None]
    if len(texts) < _MIN_LINES:
        return False
    left, right = min(line.x0 for line in texts), max(line.x1 for line in texts)
    filled = sum(1 for line in texts if line.x1 - line.x0 > 0.75 * (right - left))
    return filled >= _PROSE_FILL * len(texts) and median(len(line.words) for line in texts) >= _PROSE_WORDS


def _judge(left: list[Word], right: list[Word]) -> str:
    """Classify the two sides of a gutter: `text` columns, a `table`, or uncertain: `rows` or `columns`."""
    left_lines, right_lines = (
        lines_of(word for word in side if not isinstance(word.item, str)) for side in (left, right)
    )
    running = prose(left_lines), prose(right_lines)
    if all(running) or not left_lines or not right_lines:
        return "text"
    middles = sorted(line.words[0].middle for line in right_lines)
    partners = 0
    for line in left_lines:
        at = bisect_left(middles, line.words[0].middle - 0.3 * line.size)
        partners += at < len(middles) and middles[at] <= line.words[0].middle + 0.3 * line.size
    aligned = partners / min(len(left_lines), len(right_lines))
    tables = [any(line.words[0].item is not None for line in side) for side in (left_lines, right_lines)]
    if aligned >= _ALIGNED:
        # A table is no cell of another: two beside each other stand in columns.
        return "text" if all(tables) else "rows" if any(tables) else "table"
    if aligned < 1 - _ALIGNED or any(running):
        return "text"
    return "rows" if aligned >= 0.5 else "columns"  # noqa: PLR2004 -- what most lines are


def all_gutters(words: list[Word]) -> list[float]:
    """Centres of all blank strips that run through a whole table."""
    least = max(0.6 * _width(words), 4.0)
    gutters: list[float] = []
    end: float | None = None
    for word in sorted(words, key=lambda w: w.x0):
        if end is not None and word.x0 - end >= least:
            gutters.append((word.x0 + end) / 2)
        end = word.x1 if end is None else max(end, word.x1)
    return gutters
