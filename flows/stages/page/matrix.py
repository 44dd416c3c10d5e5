"""The page of a scenario with the verdicts on every item, by condition and judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from flows.schema.scenario import Scenario
from flows.stages.page.markup import address, attribute, own
from flows.stages.page.render import parts, render
from flows.stages.page.rubric import anchor, placing
from flows.stages.page.wording import wording


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A condition under one judge.

    Attributes:
        name: what tells it from the others.
        page: parts of the address of its first brief on the scenario, below the site.
        verdicts: `passed` of each seed, by item.
    """

    name: str
    page: tuple[str, ...]
    verdicts: Mapping[str, Sequence[bool | None]]


def matrix_page(scenario: Scenario, columns: Sequence[MatrixColumn]) -> str:
    """Render how many seeds of each condition passed each item."""
    said = wording(is_task=scenario.task is not None)
    rows = [
        (item, place, [_cell(column, item.item_id) for column in columns])
        for place, item in enumerate(scenario.items)
    ]
    link = Markup('<a href="{}">{}</a>')
    heads = [link.format(address("..", *column.page), own(column.name)) for column in columns]
    return render(
        "matrix.html",
        f"{scenario.scenario_id}: items by condition",
        with_script=True,
        scenario=scenario,
        said=said,
        heads=heads,
        names=[attribute(column.name) for column in columns],
        rows=rows,
        rubric=address("..", "rubric", f"{scenario.scenario_id}.html"),
        anchor=anchor,
        placing=placing,
    )


def _cell(column: MatrixColumn, item_id: str) -> tuple[str, str]:
    """Return a cell's class and text: passed and graded seeds, and those without a verdict."""
    found = column.verdicts.get(item_id, ())
    graded = [passed for passed in found if passed is not None]
    if not graded:
        return "missing", parts().unknown()
    state = "passed" if all(graded) else "mixed" if any(graded) else "failed"
    missing = f" ({len(found) - len(graded)} ungraded)" if len(graded) < len(found) else ""
    return state, f"{sum(graded)}/{len(graded)}{missing}"
