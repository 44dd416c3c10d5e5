"""The page on which any two conditions are compared, and the page of all briefs: their data are scripts."""

from collections.abc import Mapping, Sequence
from typing import Any

from flows.schema.scenario import Scenario
from flows.stages.page.render import TABLE_SCRIPTS, render, script_of
from flows.stages.page.wording import Wording, filtered_by

BRIEF_HEADS = (
    "scenario", "seed", "condition", "judge", "status", "score", "correct", "passed", "wrong", "ungraded",
    "words",
)  # fmt: skip
"""Columns of the page of all briefs; the file name of its page follows."""


def compare_page(
    benchmark: str, said: Wording, notes: Sequence[str], stand_ins: Sequence[str], *, site: str | None
) -> str:
    """Render the page without its data.

    Args:
        benchmark: its name.
        said: the protocol's wording.
        notes: sentences below the tables.
        stand_ins: labels of judges that are stand-ins.
        site: path of the site from the page's folder, with a slash at its end; None if there is no site.
    """
    return render(
        "compare.html",
        f"{benchmark}: two conditions",
        depth=0,
        scripts=("data/items.js", "data/compare.js", *TABLE_SCRIPTS),
        said=said,
        leaderboard="" if site is None else f"{site}index.html",
        notes=notes,
        stand_ins=stand_ins,
    )


def briefs_page(benchmark: str, said: Wording, *, copied: Sequence[str] = ()) -> str:
    """Render the page of all briefs without its data; `copied` are the conditions that copy the packet."""
    return render(
        "briefs.html",
        f"{benchmark}: all {said.brief}s",
        depth=0,
        scripts=("data/briefs.js", *TABLE_SCRIPTS),
        said=said,
        copied=copied,
    )


def items_data(scenarios: Sequence[Scenario]) -> str:
    """Return the script with the items of each scenario: id, text, and what they are filtered by."""
    return script_of(
        "items",
        {
            scenario.scenario_id: [
                [item.item_id, item.requirement, *filtered_by(item)] for item in scenario.items
            ]
            for scenario in scenarios
        },
    )


def compare_data(conditions: Sequence[Mapping[str, Any]], pairs: Mapping[str, Any], site: str | None) -> str:
    """Return the script with what each condition scored, and the difference of each pair.

    Args:
        conditions: of each its `name`, `folder`, `score`, `means` by scenario, and `items`: by scenario the
            passed and the graded verdicts on each item. And `pages`: the file of the first brief.
        pairs: by the numbers of two conditions (`0,1`) their difference, as a sentence.
        site: path of the site from the page's folder, with a slash at its end; None if there is no site.
    """
    return script_of("compare", {"conditions": conditions, "pairs": pairs, "site": site})


def briefs_data(rows: Sequence[Sequence[Any]], said: Wording) -> str:
    """Return the script with a row for each brief, as `BRIEF_HEADS`."""
    names = {"scenario": said.scenario, "seed": said.repeat, "wrong": f"{said.errors} {said.made}"}
    return script_of("briefs", {"heads": [names.get(head, head) for head in BRIEF_HEADS], "rows": rows})
