"""Score one judge's verdicts on one brief under one set of weights."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from flows.common.errors import ConfigError, ScenarioError
from flows.schema.report_task import Polarity
from flows.schema.scenario import Item
from flows.schema.settings import Refusals, ScoringSettings
from flows.schema.verdict import BriefScore, Verdict, VerdictStatus

POLARITIES = frozenset(polarity.value for polarity in Polarity)
"""Keys of weights that replace the criteria's own points, by polarity."""

SCORE_VERSION = "3"
"""Increment when the same verdicts and weights give another score."""


def score_brief(
    items: Sequence[Item],
    verdicts: Sequence[Verdict],
    scoring: ScoringSettings,
    *,
    is_refused: bool = False,
) -> BriefScore:
    """Compute the severity-weighted score of one brief, with bounds and unweighted shares.

    score = (sum of the points of passed requirements - sum of the absolute points of wrong moves
    that were made) / sum of the points of all requirements. A perfect brief has 1, an empty one 0;
    wrong moves can make it negative. This is the score of both benchmarks (MA-Bench, 4.3 and
    appendix D; MissionReport, Scoring), before any clamping.

    A missing verdict is neither a pass nor a fail. Score and shares are over the graded items, and None if
    these are less than `scoring.min_graded` of those asked for; the bounds give the possible
    range. An item on which the judge abstains is left out, as if the rubric did not have it.

    A criterion counts its own points, or those of its polarity if given; an item counts those of its
    severity.

    Args:
        items: the rubric.
        verdicts: one per item of one brief, in any order.
        scoring: points by severity; for criteria none, or by polarity.
        is_refused: True if the writer refused; with `scoring.refusals=zero`, the brief then scores like an
            empty one.

    Raises:
        ScenarioError: the verdicts don't cover each item exactly once or are of several briefs; the rubric
            has duplicate ids; or the requirements on which the judge does not abstain sum to no points.
        ScenarioError, ConfigError: as `item_points`.
    """
    points = item_points(items, scoring)
    by_id = _by_id(items, verdicts)
    as_empty = is_refused and scoring.refusals is Refusals.zero
    statuses = [by_id[item.item_id].status for item in items]
    # Looked up once, as there may be 100,000 verdicts.
    rows = [
        (points[item.item_id], item.is_error, item.is_error if as_empty else by_id[item.item_id].passed)
        for item, status in zip(items, statuses, strict=True)
        if status is VerdictStatus.graded or status.is_missing
    ]
    if _points_of_requirements(rows) <= 0:
        raise _no_points(scoring)
    low = _share_of_points(rows, ungraded_passes=False)
    graded = [(weight, is_error, passed) for weight, is_error, passed in rows if passed is not None]
    whole = len(graded) == len(rows)
    high = low if whole else _share_of_points(rows, ungraded_passes=True)
    # The small slack is for a floor such as 0.95 · 20, which rounding may put above 19.
    counts = len(graded) >= scoring.min_graded * len(rows) - 1e-9 and _points_of_requirements(graded) > 0
    score = _share_of_points(graded, ungraded_passes=False) if counts else None
    requirements = [passed for _, is_error, passed in graded if not is_error]
    errors_avoided = [passed for _, is_error, passed in graded if is_error]
    return BriefScore(
        scenario_id=verdicts[0].scenario_id,
        seed=verdicts[0].seed,
        score=score,
        score_clamped=None if score is None else min(max(score, 0.0), 1.0),
        score_low=low,
        score_high=high,
        correct=sum(requirements + errors_avoided) / len(graded) if counts else None,
        passed=sum(requirements) / len(requirements) if counts else None,
        wrong=errors_avoided.count(False) if counts and errors_avoided else None,
        n_items=len(items),
        n_graded=statuses.count(VerdictStatus.graded),
        n_refused=statuses.count(VerdictStatus.refused),
        n_unparsed=statuses.count(VerdictStatus.unparsed),
        n_error=statuses.count(VerdictStatus.error),
    )


def _points_of_requirements(rows: Iterable[tuple[float, bool, bool | None]]) -> float:
    return math.fsum(weight for weight, is_error, _ in rows if not is_error)


def _share_of_points(rows: Sequence[tuple[float, bool, bool | None]], *, ungraded_passes: bool) -> float:
    """Return the score of rows of points, polarity and verdict."""
    # A requirement counts if it passed, a wrong move (negative points) if it did not.
    counted = math.fsum(
        weight
        for weight, is_error, passed in rows
        if (ungraded_passes if passed is None else passed) != is_error
    )
    return counted / _points_of_requirements(rows)


def score_briefs(
    items: Mapping[str, Sequence[Item]],
    verdicts: Iterable[Verdict],
    scoring: ScoringSettings,
    refused: Collection[tuple[str, int]] = (),
) -> list[BriefScore]:
    """Apply `score_brief` to every brief in the verdicts, in order of first appearance.

    `refused` are scenario and seed of the briefs that the writer refused.

    Raises:
        ScenarioError, ConfigError: as `score_brief`.
    """
    by_brief: dict[tuple[str, int], list[Verdict]] = {}
    for verdict in verdicts:
        by_brief.setdefault((verdict.scenario_id, verdict.seed), []).append(verdict)
    return [
        score_brief(items[brief[0]], own, scoring, is_refused=brief in refused)
        for brief, own in by_brief.items()
    ]


def score_refused(score: BriefScore, scoring: ScoringSettings, points: Sequence[float | None]) -> BriefScore:
    """Apply `scoring.refusals` to a refused attempt that was imported with a score, often 0.

    Args:
        score: as imported.
        scoring: whether a refusal has a score, and whether scores are clamped.
        points: of the task's criteria, negative for penalties; None for an unknown one, and empty if none
            is known.
    """
    known = [each for each in points if each is not None]
    n_errors = sum(each < 0 for each in known)
    low = score.score_low
    if scoring.clamped:
        low = 0.0
    elif known and len(known) == len(points) and n_errors < len(known):
        low = -math.fsum(abs(each) for each in known if each < 0) / math.fsum(p for p in known if p > 0)
    correct = n_errors / len(known) if known and len(known) == len(points) else None
    value = 0.0 if scoring.refusals is Refusals.zero else None
    return replace(
        score,
        score=value,
        score_clamped=value,
        score_low=low if value is None else value,
        score_high=1.0 if value is None else value,
        correct=None if value is None else correct,
        passed=value,
        wrong=0 if value is not None and n_errors else None,
    )


def item_points(items: Sequence[Item], scoring: ScoringSettings) -> dict[str, float]:
    """Return points by item id, after checking the weights that this rubric uses.

    A weight of 0 is allowed: it excludes a severity from the score.

    Raises:
        ScenarioError: only some items have points, or all requirements together have none.
        ConfigError: a severity of the rubric has no weight or one of the wrong sign; or weights by
            severity are given for criteria.
    """
    criteria = any(item.points is not None for item in items)
    points = _points_of_criteria(items, scoring) if criteria else _points_of_severities(items, scoring)
    if items and math.fsum(points[item.item_id] for item in items if not item.is_error) <= 0:
        raise _no_points(scoring)
    return points


def _no_points(scoring: ScoringSettings) -> ScenarioError:
    return ScenarioError(
        f"weights {scoring.name}", "the rubric's requirements sum to no points", "more than 0"
    )


def _points_of_severities(items: Sequence[Item], scoring: ScoringSettings) -> dict[str, float]:
    for severity, is_error in {item.severity: item.is_error for item in items if item.severity}.items():
        where = f"scoring.weights.{severity}"
        if severity not in scoring.weights:
            raise ConfigError(
                where, "no weight", "a number for each severity of the rubric", "for example scoring=severity"
            )
        weight = scoring.weights[severity]
        if not math.isfinite(weight):
            raise ConfigError(where, str(weight), "a number")
        if weight > 0 if is_error else weight < 0:
            sign = "a wrong move to weigh 0 or less" if is_error else "a requirement to weigh 0 or more"
            raise ConfigError(where, str(weight), sign)
    return {
        item.item_id: float(scoring.weights[item.severity]) for item in items if item.severity is not None
    }


def _points_of_criteria(items: Sequence[Item], scoring: ScoringSettings) -> dict[str, float]:
    own = {item.item_id: item.points for item in items if item.points is not None}
    if len(own) != len(items):
        raise ScenarioError("rubric", "criteria with points mixed with items without points", "one kind")
    if not scoring.weights:
        return own
    if scoring.weights.keys() == POLARITIES:
        positive, negative = scoring.weights["positive"], scoring.weights["negative"]
        if not (0 <= positive < math.inf and -math.inf < negative <= 0):
            raise ConfigError("scoring.weights", f"{positive:g}, {negative:g}", "0 or more, and 0 or less")
        return {item.item_id: float(negative if item.is_error else positive) for item in items}
    raise ConfigError(
        f"scoring={scoring.name}",
        "weights by severity for criteria, which have their own points",
        "scoring=points, or scoring=equal_points",
    )


def _by_id(items: Sequence[Item], verdicts: Sequence[Verdict]) -> dict[str, Verdict]:
    """Return verdicts by item id, after checking that each item has one and all are of one brief."""
    briefs = sorted({(verdict.scenario_id, verdict.seed) for verdict in verdicts})
    if len(briefs) != 1:
        raise ScenarioError("verdicts", f"of {len(briefs)} briefs", "those of one brief")
    where = f"verdicts on {briefs[0][0]}/{briefs[0][1]}"
    ids = {item.item_id for item in items}
    if len(ids) != len(items):
        raise ScenarioError(where, f"{len(items)} items with {len(ids)} ids", "unique ids")
    by_id = {verdict.item_id: verdict for verdict in verdicts}
    if len(by_id) != len(verdicts):
        raise ScenarioError(where, f"{len(verdicts)} verdicts on {len(by_id)} items", "one per item")
    odd = sorted(ids ^ by_id.keys())
    if odd:
        raise ScenarioError(
            where,
            f"{len(by_id)} verdicts for {len(ids)} items; they differ in {', '.join(odd[:5])}",
            "each item exactly once",
            "grade the brief again: its rubric may have changed",
        )
    return by_id
