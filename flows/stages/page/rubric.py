"""A scenario's rubric, whole, with the evidence of every item."""

from __future__ import annotations

from flows.schema.scenario import Item, Scenario
from flows.stages.page.markup import words
from flows.stages.page.render import render
from flows.stages.page.wording import wording

_KINDS = {
    (False, False): "Requirement",
    (False, True): "Wrong move",
    (True, False): "Required criterion",
    (True, True): "Penalty",
}
"""What an item is called, by whether it is a criterion and whether it describes an error."""


def anchor(place: int) -> str:
    """Where an item stands on its rubric's page, from its place in the rubric, from 0.

    An item's id is no anchor: it may hold anything.
    """
    return f"item-{place + 1}"


def rubric_page(scenario: Scenario) -> str:
    """Every item with all that its rubric says."""
    errors = sum(item.is_error for item in scenario.items)
    said = wording(is_task=scenario.task is not None)
    sides = (
        (len(scenario.items) - errors, said.requirement, said.requirements),
        (errors, said.error, said.errors),
    )
    counted = [f"{count} {one if count == 1 else several}" for count, one, several in sides]
    facts = [
        ("Items", f"{len(scenario.items)}: {', '.join(counted)}"),
        ("Documents", ", ".join(scenario.documents)),
        ("Licence", scenario.licence),
        ("Synthetic", "yes: events, units and people are invented" if scenario.synthetic else "no"),
    ]
    return render(
        "rubric.html",
        f"{scenario.scenario_id}: rubric",
        with_script=False,
        scenario=scenario,
        facts=facts,
        anchor=anchor,
        placing=placing,
        described=_described,
    )


def placing(item: Item) -> list[str]:
    """Where an item belongs and what it weighs, each in a phrase: an item's classes, a criterion's points."""
    if item.step is None or item.tier is None or item.severity is None:
        return [f"{item.points:+g} point{'' if item.points in (1, -1) else 's'}"]
    return [words(item.step.value), f"tier {item.tier.value}", words(item.severity.value)]


def _described(item: Item) -> list[tuple[str, str]]:
    """What a rubric says of an item, by its heading; empty texts are left out of the page."""
    return [
        (_KINDS[item.points is not None, item.is_error], item.requirement),
        ("Ground truth", item.ground_truth),
        ("Passed if", item.pass_condition),
        ("Failed if", item.fail_condition),
        ("Why it matters", item.rationale),
    ]
