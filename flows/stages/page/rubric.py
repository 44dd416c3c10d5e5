"""A scenario's rubric, whole, with the evidence of every item."""

from __future__ import annotations

from flows.schema.scenario import Item, Scenario
from flows.stages.page.frame import document, facts
from flows.stages.page.markup import address, own, words
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
    title = f"{scenario.scenario_id}: rubric"
    errors = sum(item.is_error for item in scenario.items)
    said = wording(is_task=scenario.task is not None)
    sides = (
        (len(scenario.items) - errors, said.requirement, said.requirements),
        (errors, said.error, said.errors),
    )
    counted = [f"{count} {one if count == 1 else several}" for count, one, several in sides]
    counts = f"{len(scenario.items)}: {', '.join(counted)}"
    body = [
        f'<nav><a href="{address("..", "index.html")}">Leaderboard</a></nav>',
        f"<h1>{own(title)}</h1>",
        f'<p class="own">{own(scenario.title)}</p>',
        facts(
            [
                ("Items", counts),
                ("Documents", ", ".join(own(name) for name in scenario.documents)),
                ("Licence", own(scenario.licence)),
                ("Synthetic", "yes: events, units and people are invented" if scenario.synthetic else "no"),
            ]
        ),
        "<details><summary>The assignment</summary>",
        # The line feed after the tag is the one that HTML drops.
        f'<pre class="own" dir="auto">\n{own(scenario.assignment)}</pre></details>',
    ]
    body += [_article(item, place) for place, item in enumerate(scenario.items)]
    return document(title, body)


def placing(item: Item) -> list[str]:
    """Where an item belongs and what it weighs, each in a phrase: an item's classes, a criterion's points."""
    if item.step is None or item.tier is None or item.severity is None:
        return [f"{item.points:+g} point{'' if item.points in (1, -1) else 's'}"]
    return [words(item.step.value), f"tier {item.tier.value}", words(item.severity.value)]


def paragraph(name: str, text: str) -> str:
    """One thing that a rubric says of an item."""
    return f'<p class="own" dir="auto"><b>{name}:</b> {own(text)}</p>'


def evidence(item: Item) -> str:
    """Where the packet supports an item: documents and quotes."""
    return "".join(
        f'<blockquote class="own" dir="auto">{own(source.quote)}'
        f"{'<br><small>' + own(source.document) + '</small>' if source.document else ''}</blockquote>"
        for source in item.source
    )


def _article(item: Item, place: int) -> str:
    placed = ", ".join(placing(item))
    said = [
        (_KINDS[item.points is not None, item.is_error], item.requirement),
        ("Ground truth", item.ground_truth),
        ("Passed if", item.pass_condition),
        ("Failed if", item.fail_condition),
        ("Why it matters", item.rationale),
    ]
    return (
        f'<article id="{anchor(place)}"><h2>{own(item.item_id)}</h2><p class="soft">{own(placed)}</p>'
        + "".join(paragraph(name, text) for name, text in said if text)
        + (f"<p><b>Evidence:</b></p>{evidence(item)}" if item.source else "")
        + "</article>"
    )
