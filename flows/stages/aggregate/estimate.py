"""The mean of a condition, and the difference between two."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flows.common.errors import ScenarioError
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import BriefScore, Estimate, Interval
from flows.stages.aggregate.interval import bootstrap


def aggregate(
    scores: Sequence[BriefScore],
    scenario_ids: Sequence[str],
    seeds_expected: int | Mapping[str, int],
    scoring: ScoringSettings,
) -> Estimate:
    """A condition's estimate under one judge.

    The means are over briefs with every item graded; the counts beside them say how many those are.
    The bounds are over all briefs asked for: whatever the missing verdicts would have been, the mean
    with nothing missing lies between them. Where some are missing, the mean of the others may lie
    outside, since they are others.

    With `scoring.clamped` each brief counts within [0, 1], in the mean, its interval and its bounds.

    Args:
        scores: one for each scenario and seed asked for, in any order. A brief that was refused or
            failed has one too, with nothing graded.
        scenario_ids: the scenarios asked for.
        seeds_expected: briefs asked for in each, numbered from 1; by scenario where they differ.
        scoring: whether briefs are clamped, level of the interval, and resamples where they are drawn.

    Raises:
        ScenarioError: a brief asked for has no score, or two, or a score is of a brief not asked for.
        ConfigError: the level or the number of resamples can't be.
    """
    if not isinstance(seeds_expected, Mapping):
        seeds_expected = dict.fromkeys(scenario_ids, seeds_expected)
    _check_cover(scores, scenario_ids, seeds_expected)

    def mean_of(value: Callable[[BriefScore], float | None]) -> float | None:
        return _mean(list(_scenario_means(scores, value).values()))

    by_scenario = _scenario_means(scores, lambda score: _counted(score, scoring))
    return Estimate(
        score=_mean(list(by_scenario.values())),
        interval=bootstrap(list(by_scenario.values()), scoring),
        score_low=mean_of(lambda score: _bound(score.score_low, scoring)),
        score_high=mean_of(lambda score: _bound(score.score_high, scoring)),
        score_clamped=mean_of(lambda score: score.score_clamped),
        correct=mean_of(lambda score: score.correct),
        passed=mean_of(lambda score: score.passed),
        wrong=mean_of(lambda score: score.wrong),
        n_scenarios=len(by_scenario),
        n_scenarios_all=len(scenario_ids),
        n_briefs=sum(score.score is not None for score in scores),
        n_briefs_all=sum(seeds_expected.values()),
        n_ungraded=sum(score.n_items - score.n_graded for score in scores),
    )


def _counted(score: BriefScore, scoring: ScoringSettings) -> float | None:
    return score.score_clamped if scoring.clamped else score.score


def _bound(value: float, scoring: ScoringSettings) -> float:
    return min(max(value, 0.0), 1.0) if scoring.clamped else value


def _check_cover(
    scores: Sequence[BriefScore], scenario_ids: Sequence[str], seeds_expected: Mapping[str, int]
) -> None:
    if len(set(scenario_ids)) != len(scenario_ids):
        raise ScenarioError("scenarios", "one is asked for twice", "ids that are unique")
    asked = {(name, seed) for name in scenario_ids for seed in range(1, seeds_expected[name] + 1)}
    found = {(score.scenario_id, score.seed) for score in scores}
    for what, briefs in (("no score of", asked - found), ("a score not asked for of", found - asked)):
        if briefs:
            name, seed = min(briefs)
            raise ScenarioError(
                f"{name}/{seed}",
                f"{what} this brief ({len(briefs)} such)",
                f"one for each of {len(asked)} briefs of {len(scenario_ids)} scenarios",
                "score a brief without a text by its ungraded verdicts; it must not vanish",
            )
    if len(found) != len(scores):
        raise ScenarioError("scores", f"{len(scores)} of {len(found)} briefs", "one for each brief")


def _mean(values: Sequence[float]) -> float | None:
    """Mean, correctly rounded before the division, so that the order of rows does not matter."""
    return math.fsum(values) / len(values) if values else None


def _scenario_means(
    scores: Iterable[BriefScore], value: Callable[[BriefScore], float | None]
) -> dict[str, float]:
    """Mean over the seeds that have a value, by scenario; without scenarios that have none."""
    found: dict[str, list[float]] = {}
    for score in scores:
        number = value(score)
        if number is not None:
            found.setdefault(score.scenario_id, []).append(number)
    return {name: math.fsum(numbers) / len(numbers) for name, numbers in found.items()}


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one condition is ahead of another on the scenarios that both have a score on.

    Attributes:
        difference: mean over scenarios of the first's score less the second's; None where they share
            no scored scenario.
        interval: over scenarios; None where they share fewer than two.
        n_scenarios: scenarios compared.
        n_scenarios_all: scenarios asked for.
    """

    difference: float | None
    interval: Interval | None
    n_scenarios: int
    n_scenarios_all: int


def paired_difference(
    first: Sequence[BriefScore],
    second: Sequence[BriefScore],
    scenario_ids: Sequence[str],
    scoring: ScoringSettings,
) -> Difference:
    """The difference between two conditions, paired by scenario.

    Pairing takes out how hard the scenarios are, so two conditions whose own intervals overlap may
    still differ. The conditions may have different numbers of seeds.

    Raises:
        ScenarioError: a score is of a scenario not asked for, or a condition has two of one brief.
        ConfigError: as `bootstrap`.
    """
    means: list[dict[str, float]] = []
    for scores in (first, second):
        unknown = sorted({score.scenario_id for score in scores} - set(scenario_ids))
        if unknown:
            raise ScenarioError(unknown[0], "a score of a scenario not asked for")
        if len({(score.scenario_id, score.seed) for score in scores}) != len(scores):
            raise ScenarioError("scores", "two of one brief", "one for each brief")
        means.append(_scenario_means(scores, lambda score: _counted(score, scoring)))
    both = [name for name in scenario_ids if name in means[0] and name in means[1]]
    differences = [means[0][name] - means[1][name] for name in both]
    return Difference(_mean(differences), bootstrap(differences, scoring), len(both), len(scenario_ids))
