"""The page that compares any two conditions, with what each of them scored and passed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from flows.common.text import count_of, number
from flows.pipeline.results.graded import Graded, scenario_means, scored
from flows.pipeline.results.leaderboard.differences import differences
from flows.pipeline.results.pages.comparison import difference_text, item_counts
from flows.schema.brief import Brief
from flows.schema.rows import from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.aggregate import Difference, mean_difference
from flows.stages.page.compare import compare_data, compare_page, items_data
from flows.stages.page.markup import brief_file
from flows.stages.page.wording import Wording


def compare_files(
    benchmark: str,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    said: Wording,
    *,
    site: str | None = "",
) -> Iterator[tuple[str, str]]:
    """Yield path and text of the page and of its data.

    `site` is the path of the site from the page's folder, with a slash at its end; None if there is no site.
    """
    used = sorted({name for entry in graded for name in entry.about["scenarios"]} & scenarios.keys())
    stand_ins = sorted({entry.judge for entry in graded if entry.is_stand_in})
    yield "data/items.js", items_data([scenarios[name] for name in used])
    conditions = [_condition(entry, scenarios, scoring, said) for entry in graded]
    pairs = {names: said.of(text) for names, text in _pairs(graded, scenarios, scoring).items()}
    yield "data/compare.js", compare_data(conditions, pairs, site)
    paired = said.of("Differences are paired by scenario, on those that both were graded on.")
    notes = [*differences(graded), paired]
    yield "compare.html", compare_page(benchmark, said, notes, stand_ins, site=site)


def score_text(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> str:
    """Describe the score of a condition with its interval and the briefs that it rests on."""
    estimate = scored(entry, scenarios, scoring).estimate
    interval = estimate.interval
    over = f" ({number(interval.low)} to {number(interval.high)})" if interval else ""
    briefs = count_of(estimate.n_briefs, estimate.n_briefs_all)
    return f"score {number(estimate.score)}{over}, briefs scored: {briefs}"


def _condition(
    entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings, said: Wording
) -> dict[str, Any]:
    means = scenario_means(entry, scenarios, scoring)
    names = list(entry.about["scenarios"])
    counts = item_counts(entry)
    pages: dict[str, str] = {}
    if not entry.is_foreign:
        briefs = from_rows(Brief, entry.whole_briefs)
        for brief in sorted(briefs, key=lambda one: -one.seed):
            pages[brief.scenario_id] = brief_file(brief)
    return {
        "name": f"{entry.condition}, judge {entry.judge}",
        "folder": [entry.condition, entry.judge],
        "score": said.of(score_text(entry, scenarios, scoring)),
        "means": {name: means.get(name) for name in names},
        "items": {
            name: [counts[name, item.item_id] for item in scenarios[name].items]
            for name in names
            if name in scenarios
        },
        "pages": pages,
    }


def _pairs(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> dict[str, str]:
    """Return the difference of each pair both ways round, by the numbers of the conditions.

    A condition under one judge is not compared with another condition under another judge.
    """
    means = [scenario_means(entry, scenarios, scoring) for entry in graded]
    found: dict[str, str] = {}
    for one, other in combinations(range(len(graded)), 2):
        a, b = graded[one], graded[other]
        common = [name for name in a.about["scenarios"] if name in b.about["scenarios"]]
        alike = a.judge == b.judge or a.condition == b.condition
        if common and alike and a.is_foreign == b.is_foreign:
            difference = mean_difference(means[one], means[other], common, scoring)
            found[f"{one},{other}"] = difference_text(difference, scoring.interval_level)
            found[f"{other},{one}"] = difference_text(_turned(difference), scoring.interval_level)
    return found


def _turned(found: Difference) -> Difference:
    interval = found.interval
    if interval is not None:
        interval = replace(interval, low=-interval.high, high=-interval.low)
    return replace(
        found, difference=None if found.difference is None else -found.difference, interval=interval
    )
