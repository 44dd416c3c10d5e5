"""The mean of a condition, the difference between two, and the ranks of several."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flows.common.errors import ScenarioError
from flows.schema.leaderboard import LeaderboardRow, ranked_coverage
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import BriefScore, Estimate, Interval
from flows.stages.aggregate.interval import interval_over

_DIGITS = 12  # as in the files: rounding errors must not part equal scores


def aggregate(
    scores: Sequence[BriefScore],
    scenario_ids: Sequence[str],
    seeds_expected: int | Mapping[str, int],
    scoring: ScoringSettings,
) -> Estimate:
    """Estimate a condition's scores under one judge.

    Means are over briefs with a score, which are counted. They are None if less than
    `scoring.min_coverage` of the expected briefs have one. Bounds are over all expected briefs: whatever the
    missing verdicts would have been, the complete mean is between them. The mean of the scored briefs may be
    outside the bounds.

    With `scoring.clamped`, each brief's score is clamped to [0, 1] in the mean, interval and bounds. An
    interval ends where scores end: at 1, and at 0 if they are clamped.

    Args:
        scores: one for each expected scenario and seed, in any order, including refused and failed
            briefs, which have nothing graded.
        scenario_ids: the expected scenarios.
        seeds_expected: expected briefs per scenario, numbered from 1; by scenario if they differ.
        scoring: clamping, the interval and the floor of coverage.

    Raises:
        ScenarioError: an expected brief has no score or two, or a score is of an unexpected brief.
        ConfigError: the level or the number of resamples is out of range.
    """
    if not isinstance(seeds_expected, Mapping):
        seeds_expected = dict.fromkeys(scenario_ids, seeds_expected)
    _check_cover(scores, scenario_ids, seeds_expected)

    n_briefs, n_briefs_all = sum(score.score is not None for score in scores), sum(seeds_expected.values())
    is_shown = n_briefs > 0 and n_briefs >= scoring.min_coverage * n_briefs_all

    def mean_of(value: Callable[[BriefScore], float | None]) -> float | None:
        return _mean(list(scenario_means(scores, value).values()))

    def shown(value: Callable[[BriefScore], float | None]) -> float | None:
        return mean_of(value) if is_shown else None

    by_scenario = scenario_means(scores, lambda score: _counted(score, scoring))
    return Estimate(
        score=shown(lambda score: _counted(score, scoring)),
        interval=_possible(interval_over(list(by_scenario.values()), scoring), scoring) if is_shown else None,
        score_low=mean_of(lambda score: _bound(score.score_low, scoring)),
        score_high=mean_of(lambda score: _bound(score.score_high, scoring)),
        score_clamped=shown(lambda score: score.score_clamped),
        correct=shown(lambda score: score.correct),
        passed=shown(lambda score: score.passed),
        wrong=shown(lambda score: score.wrong),
        n_scenarios=len(by_scenario),
        n_scenarios_all=len(scenario_ids),
        n_briefs=n_briefs,
        n_briefs_all=n_briefs_all,
        n_ungraded=sum(score.n_missing for score in scores),
        n_partial=sum(score.is_partial for score in scores),
    )


def _possible(interval: Interval | None, scoring: ScoringSettings) -> Interval | None:
    """Cut the ends at the highest possible score, and at the lowest of clamped ones."""
    if interval is None:
        return None
    low = max(interval.low, 0.0) if scoring.clamped else interval.low
    return replace(interval, low=low, high=min(interval.high, 1.0))


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


def scenario_means(
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
    """The difference between two conditions on the scenarios that both have a score on."""

    # Mean over scenarios of the first score minus the second; None if they share no scored scenario.
    difference: float | None
    # Over scenarios, or their range if they are too few; None if they share fewer than two.
    interval: Interval | None
    n_scenarios: int  # scenarios compared
    n_scenarios_all: int  # expected scenarios


def mean_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    scenario_ids: Sequence[str],
    scoring: ScoringSettings,
) -> Difference:
    """Compute the difference between two conditions, paired by scenario.

    Pairing removes the difficulty of the scenarios, so conditions with overlapping intervals may still
    differ. The conditions may have different numbers of seeds.

    Mean scores by scenario are as from `scenario_means`.

    Raises:
        ConfigError: as `interval_over`.
    """
    both = [name for name in scenario_ids if name in first and name in second]
    differences = [first[name] - second[name] for name in both]
    return Difference(_mean(differences), interval_over(differences, scoring), len(both), len(scenario_ids))


def covered_whole(scores: Sequence[BriefScore]) -> frozenset[str]:
    """Return the scenarios of the scores; none if a brief has no score."""
    if any(score.score is None for score in scores):
        return frozenset()
    return frozenset(score.scenario_id for score in scores)


def ranked(rows: Sequence[tuple[LeaderboardRow, frozenset[str]]]) -> list[LeaderboardRow]:
    """Sort rows and rank those that cover the same scenarios whole.

    The ranking is of the rows with the `ranked_coverage`. All others follow without a rank, since their
    scores rest on other briefs: those on more scenarios first, those without a score last.

    Each row comes with the scenarios that it covers, as from `covered_whole`.
    """
    ranking = ranked_coverage(covered for row, covered in rows if row.score is not None)
    by_judge: dict[str, list[float]] = {}
    for row, covered in rows:
        if covered == ranking and row.score is not None:
            by_judge.setdefault(row.judge_id, []).append(round(row.score, _DIGITS))
    found: list[LeaderboardRow] = []
    for row, covered in rows:
        rank = None
        if covered == ranking and row.score is not None:
            rank = 1 + sum(score > round(row.score, _DIGITS) for score in by_judge[row.judge_id])
        found.append(replace(row, rank=rank))
    return sorted(found, key=_order)


def _order(row: LeaderboardRow) -> tuple[bool, bool, int, float, str, str]:
    n_scenarios = 0 if row.rank is not None else -row.n_scenarios
    score = 0.0 if row.score is None else -row.score
    return row.score is None, row.rank is None, n_scenarios, score, row.condition, row.judge_id
