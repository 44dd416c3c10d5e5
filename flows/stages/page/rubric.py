"""The page of a scenario's rubric with the evidence of every item."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from flows.common.text import plural
from flows.schema.scenario import Item, Scenario
from flows.stages.page.markup import own, words
from flows.stages.page.render import parts, render, script_of
from flows.stages.page.wording import wording

_KINDS = {
    (False, False): "Requirement",
    (False, True): "Wrong move",
    (True, False): "Required criterion",
    (True, True): "Penalty",
}
"""Names of an item, by whether it is a criterion and whether it describes an error."""


def anchor(place: int) -> str:
    """Return an item's anchor on the rubric page, from its index in the rubric.

    An item's id may contain any characters.
    """
    return f"item-{place + 1}"


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
    errors = sum(item.is_error for item in scenario.items)
    said = wording(is_task=scenario.task is not None)
    sides = (
        (len(scenario.items) - errors, said.requirement, said.requirements),
        (errors, said.error, said.errors),
    )
    counted = [plural(count, one, several) for count, one, several in sides]
    facts = [
        ("Items", f"{len(scenario.items)}: {', '.join(counted)}"),
        ("Documents", ", ".join(scenario.documents) if not documents else _links(documents)),
        ("Licence", scenario.licence),
        ("Synthetic", "yes: events, units and people are invented" if scenario.synthetic else "no"),
    ]
    return render(
        "rubric.html",
        f"{scenario.scenario_id}: rubric",
        depth=1,
        scenario=scenario,
        documents=documents or {},
        facts=facts,
        anchor=anchor,
        placing=placing,
        described=_described,
    )


def filtered_by(item: Item) -> list[str]:
    """Return tier, step and severity of an item, by which rows are chosen; empty ones are no choice."""
    return [str(item.tier or ""), words(item.step or ""), words(item.severity or "")]


def placing(item: Item) -> list[str]:
    """Return the classes of an item, or the points of a criterion, as phrases."""
    found: list[str | int | None] = [
        item.step and words(item.step),
        item.tier and f"tier {item.tier}",
        item.severity and words(item.severity),
        None if item.points is None else f"{item.points:+g} point{'' if item.points in (1, -1) else 's'}",
    ]
    return [str(phrase) for phrase in found if phrase]


def _described(item: Item) -> list[tuple[str, str]]:
    """Return the texts of an item with their headings; the page omits empty ones."""
    return [
        (_KINDS[item.points is not None, item.is_error], item.requirement),
        ("Ground truth", item.ground_truth),
        ("Passed if", item.pass_condition),
        ("Failed if", item.fail_condition),
        ("Why it matters", item.rationale),
    ]


def _links(pages: Mapping[str, Markup]) -> Markup:
    link = Markup('<a href="{}">{}</a>')
    return Markup(", ").join(link.format(page, own(name)) for name, page in pages.items())
