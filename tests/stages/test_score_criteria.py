"""Scores of criteria with points of their own, weights that make no sense, and abstentions."""

from dataclasses import replace

import pytest

from flows.common.errors import ConfigError, ScenarioError
from flows.schema.scenario import Item
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.score import score_brief
from tests.stages.test_score import ITEMS, SCORING, score, verdicts

GOLD = verdicts(R5=True, R9=True, R2=True, E5=True, E9=True)


@pytest.mark.parametrize(
    ("items", "given_verdicts", "message"),
    [
        (ITEMS, GOLD[:4], "harbour/2: 4 verdicts for 5 items; they differ in E9"),
        (ITEMS[:4], GOLD, "harbour/2: 5 verdicts for 4 items; they differ in E9"),
        (ITEMS, [*GOLD[:4], GOLD[0]], "harbour/2: 5 verdicts on 4 items"),
        (ITEMS, [*GOLD, GOLD[0]], "harbour/2: 6 verdicts on 5 items"),
        (ITEMS, [*GOLD[:4], replace(GOLD[4], seed=1)], "verdicts: of 2 briefs"),
        (ITEMS, [*GOLD[:4], replace(GOLD[4], scenario_id="ridge")], "verdicts: of 2 briefs"),
        (ITEMS, [], "verdicts: of 0 briefs"),
        ([*ITEMS, ITEMS[0]], GOLD, "6 items with 5 ids"),
        (ITEMS[3:], GOLD[3:], "sum to no points"),
    ],
)
def test_verdicts_that_do_not_cover_the_rubric_are_refused(items, given_verdicts, message):
    with pytest.raises(ScenarioError, match=message):
        score_brief(items, given_verdicts, SCORING)


@pytest.mark.parametrize(
    ("severity", "weight", "message"),
    [
        ("important", None, r"scoring\.weights\.important: no weight"),
        ("important", -5.5, r"scoring\.weights\.important: -5\.5; expected a requirement"),
        ("detrimental", 5.5, r"scoring\.weights\.detrimental: 5\.5; expected a wrong move"),
        ("critically_important", float("inf"), r"critically_important: inf; expected a number"),
        ("critically_detrimental", float("nan"), r"critically_detrimental: nan; expected a number"),
    ],
)
def test_weights_that_make_no_sense_are_refused(severity, weight, message):
    weights = {name: value for name, value in SCORING.weights.items() if name != severity}
    if weight is not None:
        weights[severity] = weight
    with pytest.raises(ConfigError, match=message):
        score_brief(ITEMS, GOLD, replace(SCORING, weights=weights))


def test_requirements_that_weigh_nothing_are_refused():
    nothing = SCORING.weights | {"important": 0, "critically_important": 0, "slightly_important": 0}
    with pytest.raises(ScenarioError, match="weights severity: the rubric's requirements sum to no points"):
        score_brief(ITEMS, GOLD, replace(SCORING, weights=nothing))


def criterion(name, points):
    texts = dict.fromkeys(
        ("requirement", "ground_truth", "pass_condition", "fail_condition", "rationale"), ""
    )
    return Item(name, None, None, None, source=(), points=points, **texts)


CRITERIA = (criterion("C1", 4), criterion("C2", 1), criterion("P1", -3), criterion("P2", -3))


POINTS = ScoringSettings("points", {}, clamped=True, assumed=[], interval_level=0.95, resamples=10)


def on(**passed):
    return [Verdict("task", 1, name, VerdictStatus.graded, value) for name, value in passed.items()]


@pytest.mark.parametrize(
    ("verdicts", "score", "clamped"),
    [
        (on(C1=True, C2=False, P1=True, P2=True), 0.8, 0.8),  # 4 of 5
        (on(C1=True, C2=True, P1=False, P2=True), 0.4, 0.4),  # (5 - 3) / 5
        (on(C1=True, C2=False, P1=False, P2=False), -0.4, 0.0),  # (4 - 6) / 5
        (on(C1=False, C2=False, P1=True, P2=True), 0.0, 0.0),  # what a missing report has
    ],
)
def test_criteria_count_their_own_points_and_an_attempt_is_clamped(verdicts, score, clamped):
    found = score_brief(CRITERIA, verdicts, POINTS)
    assert found.score == pytest.approx(score)
    assert found.score_clamped == pytest.approx(clamped)


def test_criteria_may_count_alike_by_polarity():
    equal = replace(POINTS, weights={"positive": 1, "negative": -1})
    assert score_brief(CRITERIA, on(C1=True, C2=True, P1=False, P2=True), equal).score == 0.5  # (2 - 1) / 2


@pytest.mark.parametrize(
    "weights", [{"positive": -1, "negative": -1}, {"positive": 1, "negative": 2}, {"important": 1}]
)
def test_weights_that_do_not_fit_criteria_are_refused(weights):
    with pytest.raises(ConfigError):
        score_brief(CRITERIA, on(C1=True, C2=True, P1=True, P2=True), replace(POINTS, weights=weights))


def test_items_on_which_the_judge_abstains_are_not_scored():
    found = score(R5=True, R9=True, R2=False, E5="abstained", E9="abstained")
    # 14.5 of 16.5 points, with no wrong move judged: their number is not known, and it is not 0.
    assert (found.score, found.score_low, found.score_high) == pytest.approx((14.5 / 16.5,) * 3)
    assert (found.correct, found.passed, found.wrong) == (pytest.approx(2 / 3), pytest.approx(2 / 3), None)
    assert (found.n_items, found.n_graded, found.n_missing, found.n_abstained) == (5, 3, 0, 2)
    without = score(R5=True, R9=True, R2="abstained", E5=True, E9=False)
    assert without.score == pytest.approx((14.5 - 9) / 14.5)  # R2 is not among the points that can be had
    assert without.wrong == 1


def test_an_abstention_does_not_hide_a_missing_verdict():
    found = score(R5=True, R9="error", R2=False, E5="abstained", E9="abstained")
    assert (found.score, found.wrong, found.n_missing, found.n_abstained) == (None, None, 1, 2)
    assert (found.score_low, found.score_high) == pytest.approx((5.5 / 16.5, 14.5 / 16.5))
