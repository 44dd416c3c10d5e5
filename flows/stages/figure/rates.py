"""A table of pass rates by a property of the items, with shaded cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flows.common.text import count_of, percent
from flows.stages.figure.svg import LABEL_WIDTH, TOP, by_judge, frame, row_label, text, titled, wrapped

_HEIGHT = 42.0  # of a cell: two lines
_NARROWEST, _WIDEST, _ALL = 72.0, 140.0, 600.0
_CHARACTER = 6.2  # mean width of a character in the headers


@dataclass(frozen=True, slots=True)
class Rate:
    """Verdicts of one group of items, pooled over the briefs of a condition.

    Attributes:
        passed: graded verdicts that passed.
        n: graded verdicts.
        ungraded: verdicts that say nothing.
    """

    passed: int
    n: int
    ungraded: int = 0


@dataclass(frozen=True, slots=True)
class RateRow:
    """The rates of one condition.

    Attributes:
        label: the condition's label.
        cells: one for each column; None if the rubrics have no such item.
    """

    label: str
    cells: tuple[Rate | None, ...]


def rate_figure(rows: Sequence[RateRow], columns: Sequence[str], *, name: str, title: str, judge: str) -> str:
    """Draw pass rates with their n, shaded by rate.

    Args:
        rows: conditions of one judge, in drawing order.
        columns: headers; they may be wrapped at spaces.
        name: unique within a page; letters, digits and hyphens.
        title: the figure's title.
        judge: the judge's label.
    """
    width = max(_NARROWEST, min(_WIDEST, _ALL / max(1, len(columns))))
    body: list[str] = []
    for number, column in enumerate(columns):
        lines = wrapped(column, int(width / _CHARACTER), 2)
        x = LABEL_WIDTH + (number + 0.5) * width
        body += [
            text(x, TOP - 8 - 13 * (len(lines) - 1 - place), one, "t m") for place, one in enumerate(lines)
        ]
    alt: list[str] = []
    for number, row in enumerate(rows):
        top = TOP + _HEIGHT * number
        body.append(row_label(row.label, top + _HEIGHT / 2))
        phrases: list[str] = []
        for place, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
            phrases.append(f"{column} {_phrase(cell)}")
            drawn = _cell(cell, LABEL_WIDTH + place * width, top, width)
            body.append(titled(f"{row.label}, {phrases[-1]}", drawn))
        alt.append(f"{row.label}: {'; '.join(phrases)}")
    size = (max(LABEL_WIDTH + width * len(columns) + 12, 660), TOP + _HEIGHT * len(rows) + 12)
    subtitle = [f"{by_judge(judge)} Share of graded verdicts passed, pooled over briefs; n: graded verdicts."]
    return frame(name, title, subtitle=subtitle, size=size, body=body, alt=alt)


def _phrase(rate: Rate | None) -> str:
    if rate is None:
        return "no such item"
    missing = f", {rate.ungraded} without a verdict" if rate.ungraded else ""
    if not rate.n:
        return f"nothing graded{missing}"
    return f"{percent(rate.passed / rate.n)}, {rate.passed} of {rate.n} passed{missing}"


def _cell(rate: Rate | None, x: float, y: float, width: float) -> str:
    box = f'x="{x + 1:.2f}" y="{y + 1:.2f}" width="{width - 2:.2f}" height="{_HEIGHT - 2:.2f}"'
    middle = x + width / 2
    if rate is None:
        return f'<rect class="none" {box}/>{text(middle, y + 25, "no item", "t m")}'
    n = text(middle, y + 35, f"n {count_of(rate.n, rate.n + rate.ungraded)}", "t m")
    if not rate.n:
        return f'<rect class="none" {box}/>{text(middle, y + 19, "missing", "t m")}{n}'
    share = rate.passed / rate.n
    # At most half opaque, so that the number is readable in both colour schemes.
    shade = f'<rect class="heat" fill-opacity="{0.03 + 0.47 * share:.3f}" {box}/>'
    return f"{shade}{text(middle, y + 19, percent(share, 0), 'm')}{n}"
