"""The page that follows a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows.stages.page.render import Column, render

_COLUMNS = (Column("condition"), Column("state"), Column("score", is_number=True), Column("interval"))


def run_page(
    title: str,
    facts: Mapping[str, str],
    stages: Sequence[tuple[str, int, int]],
    conditions: Sequence[tuple[str, ...]],
    *,
    is_running: bool,
) -> str:
    """Render the progress of a run.

    Args:
        title: of the run.
        facts: what is known of it, by name.
        stages: name, number done and number expected of each stage.
        conditions: name, state, score and interval of each.
        is_running: True to let the browser load the page again every two seconds.
    """
    return render(
        "run.html",
        f"{title}: run",
        depth=None,
        facts=list(facts.items()),
        stages=stages,
        columns=_COLUMNS,
        conditions=conditions,
        is_running=is_running,
    )
