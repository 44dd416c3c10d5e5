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
    """Estimate a condition's scores under one judge.

    Means are over briefs with every item graded, which are counted. Bounds are over all expected briefs:
    whatever the missing verdicts would have been, the complete mean is between them. The mean of the
    graded briefs may be outside the bounds.

    With `scoring.clamped`, each brief's score is clamped to [0, 1] in the mean, interval and bounds.

    Args:
        scores: one for each expected scenario and seed, in any order, including refused and failed
            briefs, which have nothing graded.
        scenario_ids: the expected scenarios.
        seeds_expected: expected briefs per scenario, numbered from 1; by scenario if they differ.
        scoring: clamping, level of the interval and number of resamples.

    Raises:
        ScenarioError: an expected brief has no score or two, or a score is of an unexpected brief.
        ConfigError: the level or the number of resamples is out of range.
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
        n_ungraded=sum(score.n_missing for score in scores),
    )


def _counted(score: BriefScore, scoring: ScoringSettings) -> float | None:
    return score.score_clamped if scoring.clamped else score.score


def _bound(value: float, scoring: ScoringSettings) -> float:
    return min(max(value, 0.0), 1.0) if scoring.clamped else value


def _check_cover(
    scores: Sequence[BriefScore], scenario_ids: Sequence[str], seeds_expected: Mapping[str, int]
) -> None:
    if len(set(scenario_ids)) != len(scenario_ids):
        raise ScenarioError("scenarios", "duplicate ids", "unique ids")
    asked = {(name, seed) for name in scenario_ids for seed in range(1, seeds_expected[name] + 1)}
    found = {(score.scenario_id, score.seed) for score in scores}
    for what, briefs in (("no score of", asked - found), ("an unexpected score of", found - asked)):
        if briefs:
            name, seed = min(briefs)
            raise ScenarioError(
                f"{name}/{seed}",
                f"{what} this brief ({len(briefs)} such)",
                f"one for each of {len(asked)} briefs of {len(scenario_ids)} scenarios",
                "score briefs without a text by their ungraded verdicts",
            )
    if len(found) != len(scores):
        raise ScenarioError("scores", f"{len(scores)} of {len(found)} briefs", "one for each brief")


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean from an exact sum, so that the order of rows does not matter."""
    return math.fsum(values) / len(values) if values else None


def _scenario_means(
    scores: Iterable[BriefScore], value: Callable[[BriefScore], float | None]
) -> dict[str, float]:
    """Return the mean over seeds with a value, by scenario; scenarios without any are left out."""
    found: dict[str, list[float]] = {}
    for score in scores:
        number = value(score)
        if number is not None:
            found.setdefault(score.scenario_id, []).append(number)
    return {name: math.fsum(numbers) / len(numbers) for name, numbers in found.items()}


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two conditions on the scenarios that both have a score on.

    Attributes:
        difference: mean over scenarios of the first score minus the second; None if they share no scored
            scenario.
        interval: over scenarios; None if they share fewer than two.
        n_scenarios: scenarios compared.
        n_scenarios_all: expected scenarios.
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
    """Compute the difference between two conditions, paired by scenario.

    Pairing removes the difficulty of the scenarios, so conditions with overlapping intervals may still
    differ. The conditions may have different numbers of seeds.

    Raises:
        ScenarioError: a score is of an unexpected scenario, or a condition has two of one brief.
        ConfigError: as `bootstrap`.
    """
    means: list[dict[str, float]] = []
    for scores in (first, second):
        unknown = sorted({score.scenario_id for score in scores} - set(scenario_ids))
        if unknown:
            raise ScenarioError(unknown[0], "a score of an unexpected scenario")
        if len({(score.scenario_id, score.seed) for score in scores}) != len(scores):
            raise ScenarioError("scores", "two of one brief", "one per brief")
        means.append(_scenario_means(scores, lambda score: _counted(score, scoring)))
    both = [name for name in scenario_ids if name in means[0] and name in means[1]]
    differences = [means[0][name] - means[1][name] for name in both]
    return Difference(_mean(differences), bootstrap(differences, scoring), len(both), len(scenario_ids))
