"""Score by condition: a point and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flows.common.text import count_of, percent
from flows.schema.leaderboard import LeaderboardRow
from flows.stages.figure.svg import (
    AREA_WIDTH,
    LABEL_WIDTH,
    ROW,
    TOP,
    by_judge,
    frame,
    line,
    row_label,
    text,
)

_MOST_STEPS = 8  # tick labels that fit side by side
_RIGHT = LABEL_WIDTH + AREA_WIDTH
_COUNTS = _RIGHT + 456  # right of the longest interval and of the longest counts


def score_figure(rows: Sequence[LeaderboardRow], *, name: str, judge: str, scoring: str) -> str:
    """Draw scores by condition with intervals, best first, on an axis that includes 0 and 1.

    Rows outside the ranking follow it.

    A perfect brief scores 1, an empty one 0. If verdicts are missing, a dotted line spans the bounds (all
    missing ones failed, all passed).

    Args:
        rows: rows of one judge.
        name: unique within a page; letters, digits and hyphens.
        judge: the judge's label.
        scoring: name of the weights.
    """
    rows = sorted(rows, key=_order)
    low, high, ticks = _axis([value for row in rows for value in _extent(row)])

    def at(value: float) -> float:
        return LABEL_WIDTH + (value - low) / (high - low) * AREA_WIDTH

    bottom = TOP + ROW * len(rows)
    body = [
        text(_RIGHT + 24, TOP - 8, "score", "s"),
        text(_RIGHT + 76, TOP - 8, "interval or bounds", "s"),
        text(_COUNTS, TOP - 8, "scenarios / briefs", "s e"),
        text(LABEL_WIDTH + AREA_WIDTH / 2, bottom + 36, "0: an empty brief, 1: a perfect one", "s m"),
    ]
    for tick in ticks:
        body.append(line(at(tick), TOP, at(tick), bottom, "zero" if tick in (0.0, 1.0) else "grid"))
        body.append(text(at(tick), bottom + 18, f"{tick:.4g}", "s m"))
    alt: list[str] = []
    for number, row in enumerate(rows):
        y = TOP + ROW * (number + 0.5)
        score = "none" if row.score is None else f"{row.score:.3f}"
        briefs = count_of(row.n_briefs, row.n_briefs_all) if row.n_texts is None else f"{row.n_texts} texts"
        counts = f"{count_of(row.n_scenarios, row.n_scenarios_all)} / {briefs}"
        body += [
            row_label(row.condition, y),
            *_marks(row, y, at),
            text(_RIGHT + 24, y + 4, score),
            text(_RIGHT + 76, y + 4, _span(row), "s"),
            text(_COUNTS, y + 4, counts, "e"),
        ]
        alt.append(f"{row.condition}: score {score}, {_span(row)}, scenarios / briefs {counts}")
    subtitle = [f"{by_judge(judge)} Dot: score. {_interval_note(rows)}"]
    if any(row.ci_unlike is not None for row in rows):
        subtitle.append("Without a bar: all scenarios scored alike; the note says how many more may not.")
    if any(row.has_bounds for row in rows):
        subtitle.append("Dotted: the bounds, if every missing verdict had failed or had passed.")
    title = f"Score by condition ({scoring} scoring)"
    size = (_COUNTS + 12, bottom + 48)
    return frame(name, title, subtitle=subtitle, size=size, body=body, alt=alt)


def _order(row: LeaderboardRow) -> tuple[bool, bool, float, str]:
    return row.score is None, row.rank is None, -(row.score or 0.0), row.condition


def _marks(row: LeaderboardRow, y: float, at: Callable[[float], float]) -> list[str]:
    marks: list[str] = []
    if row.has_bounds and row.score_low is not None and row.score_high is not None:
        # Drawn below the interval so as not to hide it.
        below = y if row.score is None else y + 9
        marks.append(line(at(row.score_low), below, at(row.score_high), below, "bound"))
        marks += [
            line(at(end), below - 3, at(end), below + 3, "zero") for end in (row.score_low, row.score_high)
        ]
    if row.ci_low is not None and row.ci_high is not None and row.ci_unlike is None:
        marks.append(line(at(row.ci_low), y, at(row.ci_high), y, "bar"))
        marks += [line(at(end), y - 5, at(end), y + 5, "bar") for end in (row.ci_low, row.ci_high)]
    if row.score is not None:
        marks.append(f'<circle class="dot" cx="{at(row.score):.2f}" cy="{y:.2f}" r="5"/>')
    return marks


def _extent(row: LeaderboardRow) -> list[float]:
    values = [row.score, row.ci_low, row.ci_high]
    if row.has_bounds:
        values += [row.score_low, row.score_high]
    return [value for value in values if value is not None]


def _axis(values: Sequence[float]) -> tuple[float, float, list[float]]:
    """Return ends and ticks of an axis that includes 0, 1 and all values."""
    low, high = min([0.0, *values]), max([1.0, *values])
    # 0.2, 0.5, 1, 2, 5, 10, ...: the smallest step with few enough ticks.
    power, sizes = 0, (0.2, 0.5, 1.0)
    while (high - low) / (sizes[-1] * 10**power) > _MOST_STEPS:
        power += 1
    step = next(size * 10**power for size in sizes if (high - low) / (size * 10**power) <= _MOST_STEPS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return first * step, last * step, [round(number * step, 9) for number in range(first, last + 1)]


def _interval_note(rows: Sequence[LeaderboardRow]) -> str:
    drawn = [row for row in rows if row.ci_low is not None]
    levels = sorted({f"{100 * row.ci_level:g}%" for row in drawn if row.ci_level is not None})
    notes = [f"{' or '.join(levels)} interval over scenarios"] if levels else []
    if fewest := sorted({row.n_scenarios for row in drawn if row.ci_level is None}):
        notes.append(f"range of {' or '.join(map(str, fewest))} scenarios, no interval")
    return f"Bar: {'; '.join(notes)}." if notes else "No intervals: they take at least 2 scenarios."


def _span(row: LeaderboardRow) -> str:
    if row.ci_low is not None and row.ci_high is not None:
        alike = "" if row.ci_unlike is None else f", up to {percent(row.ci_unlike)} otherwise"
        return f"{row.ci_low:.3f} to {row.ci_high:.3f}{alike}"
    if row.has_bounds:
        return f"bounds {row.score_low:.3f}, {row.score_high:.3f}"
    return "no interval"
