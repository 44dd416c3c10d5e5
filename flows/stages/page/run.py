"""The page that follows a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.stages.page.markup import address, link
from flows.stages.page.render import Column, numbers, render

_COLUMNS = (Column("condition"), Column("state"), *numbers("score"), Column("interval"))


@dataclass(frozen=True, slots=True)
class RunRow:
    """A condition of the run.

    Attributes:
        name: of the condition and its judge.
        page: parts of the address of its page; empty without one.
        state, score, interval: as shown.
    """

    name: str
    page: Sequence[str]
    state: str
    score: str
    interval: str


def run_page(
    title: str,
    facts: Mapping[str, str],
    stages: Sequence[tuple[str, int, int]],
    conditions: Sequence[RunRow],
    *,
    stand_ins: Sequence[str],
    notes: Sequence[str],
    report: str,
    links: Sequence[str],
    is_running: bool,
) -> str:
    """Render the progress of a run.

    Args:
        title: of the run.
        facts: what is known of it, by name.
        stages: name, number done and number expected of each stage.
        conditions: of the run.
        stand_ins: labels of its judges that are stand-ins.
        notes: sentences below the scores.
        report: the command that writes the pages.
        links: paths of results, from the folder of the page.
        is_running: True to let the browser load the page again every two seconds.
    """
    return render(
        "run.html",
        title,
        depth=None,
        facts=list(facts.items()),
        stages=stages,
        columns=_COLUMNS,
        conditions=[
            (link(address(*row.page), row.name) if row.page else row.name, row.state, row.score, row.interval)
            for row in conditions
        ],
        stand_ins=stand_ins,
        notes=notes,
        report=report,
        links=[link(address(*path.split("/")), path) for path in links],
        is_running=is_running,
    )
