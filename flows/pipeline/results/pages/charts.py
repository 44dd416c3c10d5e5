"""Charts and tables of a paper for the site."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from flows.pipeline.results.graded import Graded
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.page.index import paper_page
from flows.stages.page.markup import address
from flows.stages.page.render import Chart

_CHARTS = {
    "score": "figure-01-scores",
    "tier": "figure-03-tiers",
    "step": "appendix-g-steps",
    "mode": "appendix-h-failure-modes",
    "credit": "missing-credit",
    "scenario": "scenarios",
}
"""Name of a chart's files, and of the paper's figure. On pages of one condition there is `credit` alone."""
_PICTURES = ("svg", "png", "vl.json")


@dataclass
class Drawn:
    """Charts and tables by one judge."""

    judge: str  # label
    charts: dict[str, str] = field(default_factory=dict[str, str])  # titles, by the name of the files
    # Contents of the charts' files, by path below a folder of figures.
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    # Title, path in the site and text of the page of each table.
    pages: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    @property
    def shown(self) -> tuple[list[Chart], list[tuple[str, Markup]]]:
        """What the first page shows: the charts, and title and address of each table."""
        charts: list[Chart] = []
        for name, title in self.charts.items():
            others = {end.upper(): address("charts", self.judge, f"{name}.{end}") for end in ("svg", "png")}
            specification = json.loads(self.files[f"{self.judge}/{name}.vl.json"])
            charts.append(Chart(title, specification, others["SVG"], others))
        return charts, [(title, address(*path.split("/"))) for title, path, _ in self.pages]


def drawn(
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    *,
    word_cap: int | None = None,
    prompt: str = "",
    only_charts: bool = False,
) -> Iterator[Drawn]:
    """Yield the charts and tables by each judge, in the order of the board.

    Charts show all conditions, like the board. Tables are the paper's: they rank and compare the conditions
    with the benchmark's `word_cap` and `prompt`, or all if there is none. What the results can't support is
    left out.
    """
    # pandas and altair take a second to import.
    from flows.pipeline.results.paper import paper_results, summary_of
    from flows.stages.paper import FIGURES, TABLES, NotEnoughError, draw
    from flows.stages.paper.table import cells

    ours = [entry for entry in graded if not entry.is_foreign]  # Harbor shows its own
    if not ours:
        return
    results = paper_results(ours, scenarios, scoring, word_cap=None, prompt="")
    judges = {entry.judge for entry in ours}
    for note in [note for note in board.judges if note.judge_id in judges]:
        own = replace(results, judge=note.judge_id)
        made = Drawn(note.judge_id)
        for name, figure in _CHARTS.items():
            with suppress(NotEnoughError):
                chart = FIGURES[figure](own)
                files = draw(chart)
                made.charts[name] = chart.title
                made.files |= {f"{note.judge_id}/{name}.{ending}": files[ending] for ending in _PICTURES}
        of_paper = replace(own, word_cap=word_cap, prompt=prompt)
        for name, make in () if only_charts else TABLES.items():
            with suppress(NotEnoughError):
                table = make(of_paper)
                page = paper_page(
                    table.title,
                    own.said(summary_of(make)),
                    cells(table),
                    table.notes,
                    judge=note.judge_id,
                    is_stand_in=note.is_stand_in,
                )
                made.pages.append((table.title, f"tables/{note.judge_id}/{name}.html", page))
        yield made


def own_charts(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> list[Chart]:
    """Return the charts of one condition."""
    from flows.pipeline.results.paper import paper_results
    from flows.stages.paper import FIGURES, NotEnoughError

    try:
        found = FIGURES[_CHARTS["credit"]](
            paper_results([entry], scenarios, scoring, word_cap=None, prompt="")
        )
    except NotEnoughError:
        return []
    return [Chart(found.title, found.specification)]
