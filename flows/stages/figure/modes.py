"""Stacked bars of failure modes by condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.common.text import percent
from flows.stages.figure.rates import Rate
from flows.stages.figure.svg import (
    AREA_WIDTH,
    LABEL_WIDTH,
    ROW,
    TOP,
    by_judge,
    frame,
    line,
    row_label,
    shortened,
    text,
    titled,
)

_RIGHT = LABEL_WIDTH + AREA_WIDTH
_LEGEND = 26.0  # its height
_TALL = ROW + 12  # with a line of counts below the bar
_PATTERNS = (
    '<rect class="f0" width="8" height="8"/>',
    '<path class="f1" d="M-2 2L2 -2M0 8L8 0M6 10L10 6" stroke-width="2.5"/>',
    '<path class="f2" d="M0 4H8M4 0V8" stroke-width="2"/>',
    '<circle class="f3" cx="4" cy="4" r="2.2"/>',
    '<path class="f4" d="M0 4H8"/>',
    '<path class="f5" d="M4 0V8" stroke-width="2"/>',
)


@dataclass(frozen=True, slots=True)
class ModeRow:
    """The failures of one condition.

    Attributes:
        label: the condition's label.
        requirements: verdicts on requirements.
        failed: failed requirements by mode.
        wrong: verdicts on wrong moves, where failed means made; None if the rubrics have none.
    """

    label: str
    requirements: Rate
    failed: Mapping[str, int]
    wrong: Rate | None


def mode_figure(rows: Sequence[ModeRow], *, name: str, judge: str) -> str:
    """Draw how failed requirements divide into modes, stacked to 100%, with counts.

    Args:
        rows: conditions of one judge, in drawing order. Modes are drawn in the order of the rows; those
            that never occur are only in the description.
        name: unique within a page; letters, digits and hyphens.
        judge: the judge's label.
    """
    modes = list(dict.fromkeys(mode for row in rows for mode, count in row.failed.items() if count))
    top = TOP + _LEGEND
    bottom = top + _TALL * len(rows)
    body = [_patterns(name, len(modes))]
    for number, mode in enumerate(modes):
        x = LABEL_WIDTH + 116 * number
        body.append(_segment(f"{name}-{number}", x, 62, 18, 13))
        body.append(text(x + 24, 73, shortened(mode, 14), "s"))
    for mark in (0, 25, 50, 75, 100):
        x = LABEL_WIDTH + mark / 100 * AREA_WIDTH
        body.append(line(x, top, x, bottom, "zero" if mark == 0 else "grid"))
        body.append(text(x, bottom + 18, f"{mark}%", "s m"))
    body.append(text(_RIGHT + 24, top - 8, "requirements failed", "s"))
    body.append(text(_RIGHT + 242, top - 8, "wrong moves made", "s"))
    alt: list[str] = []
    for number, row in enumerate(rows):
        y = top + _TALL * number + ROW / 2
        failed, made = _phrase(row.requirements), _phrase(row.wrong)
        body.append(row_label(row.label, y))
        body += _bar(row, modes, name, y)
        body.append(text(_RIGHT + 24, y + 4, failed, "s"))
        body.append(text(_RIGHT + 242, y + 4, made, "s"))
        parts = ", ".join(f"{mode} {count}" for mode, count in row.failed.items())
        alt.append(f"{row.label}: requirements failed {failed}: {parts}; wrong moves made {made}")
    subtitle = [f"{by_judge(judge)} Share of failed requirements, pooled over briefs; numbers are counts."]
    size = (_RIGHT + 460, bottom + 30)
    return frame(
        name,
        "How requirements were failed",
        subtitle=subtitle,
        size=size,
        body=body,
        alt=alt,
    )


def _bar(row: ModeRow, modes: Sequence[str], name: str, y: float) -> list[str]:
    drawn: list[str] = []
    x, free = LABEL_WIDTH, 0.0  # `free`: where the next count below the bar may begin
    n_failed = sum(row.failed.values())
    for place, mode in enumerate(modes):
        count = row.failed.get(mode, 0)
        if not count:
            continue
        width = count / n_failed * AREA_WIDTH
        segment = _segment(f"{name}-{place}", x, y - 10, width, 20)
        drawn.append(titled(f"{row.label}, {mode}: {count}", segment))
        middle, needed = x + width / 2, 7 * len(str(count)) + 6
        if width > needed + 4:
            drawn.append(text(middle, y + 4, str(count), "m halo"))
        else:  # too narrow: below the bar, right of the count before it, with a line to its segment
            at = max(middle, free + needed / 2)
            free = at + needed / 2
            drawn.append(line(middle, y + 10, at, y + 14, "zero"))
            drawn.append(text(at, y + 24, str(count), "t m"))
        x += width
    return drawn


def _phrase(rate: Rate | None) -> str:
    """Describe the failed verdicts of a group; ungraded ones are named, not counted as 0."""
    if rate is None:
        return "no such item"
    missing = f", {rate.ungraded} missing" if rate.ungraded else ""
    if not rate.n:
        return f"nothing graded{missing}"
    failed = rate.n - rate.passed
    return f"{failed} of {rate.n} ({percent(failed / rate.n, 0)}){missing}"


def _patterns(name: str, count: int) -> str:
    drawn = [
        f'<pattern id="{name}-{number}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect class="back" width="8" height="8"/>{_PATTERNS[number % len(_PATTERNS)]}</pattern>'
        for number in range(count)
    ]
    return f"<defs>{''.join(drawn)}</defs>"


def _segment(pattern: str, x: float, y: float, width: float, height: float) -> str:
    box = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
    return f'<rect class="seg" fill="url(#{pattern})" {box}/>'
