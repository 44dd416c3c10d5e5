"""The page of a scenario's rubric with the evidence of every item."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from flows.schema.scenario import Item, Scenario
from flows.stages.page.render import parts, render, script_of
from flows.stages.page.wording import wording

_KINDS = {
    (False, False): "Requirement",
    (False, True): "Wrong move",
    (True, False): "Required criterion",
    (True, True): "Penalty",
}
"""Names of an item, by whether it is a criterion and whether it describes an error."""


def rubric_script(scenario_id: str) -> str:
    """Return the file name of the script with the truth and evidence of a rubric's items."""
    return f"{scenario_id}.js"


def rubric_data(scenario: Scenario, documents: Mapping[str, Markup]) -> str:
    """Return the script that the pages of briefs load: the truth and evidence of each item, as HTML.

    Args:
        scenario: the scenario.
        documents: addresses of the pages of its documents, from the pages of briefs.
    """
    return script_of("rubric", [parts().truth(item, _described(item), documents) for item in scenario.items])


def rubric_page(scenario: Scenario, documents: Mapping[str, Markup] | None = None) -> str:
    """Render every item of a rubric.

    Args:
        scenario: the scenario.
        documents: addresses of the pages of its documents, where there are any.
    """
    return render(
        "rubric.html",
        f"{scenario.scenario_id}: rubric",
        depth=1,
        scenario=scenario,
        documents=documents or {},
        said=wording(is_task=scenario.task is not None),
        n_items=len(scenario.items),
        n_errors=sum(item.is_error for item in scenario.items),
        described=_described,
    )


def _described(item: Item) -> list[tuple[str, str]]:
    """Return the texts of an item with their headings; the page omits empty ones."""
    return [
        (_KINDS[item.points is not None, item.is_error], item.requirement),
        ("Ground truth", item.ground_truth),
        ("Passed if", item.pass_condition),
        ("Failed if", item.fail_condition),
        ("Why it matters", item.rationale),
    ]
