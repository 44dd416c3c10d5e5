"""Scores, worked by hand: requirements of 5.5, 9 and 2 points (16.5), wrong moves of 5.5 and 9."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.settings import Refusals, ScoringSettings
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.score import score_brief, score_briefs, score_refused

SCORING = ScoringSettings(
    name="severity",
    weights={
        "critically_important": 9,
        "important": 5.5,
        "slightly_important": 2,
        "detrimental": -5.5,
        "critically_detrimental": -9,
    },
    clamped=False,
    assumed=["important", "slightly_important", "detrimental"],
    interval_level=0.95,
    resamples=10_000,
)


def item(item_id, severity):
    return Item(item_id, Step.risk, Tier.stated, severity, "r", "g", "p", "f", (Evidence("d", "q"),), "why")


ITEMS = (
    item("R5", Severity.important),
    item("R9", Severity.critically_important),
    item("R2", Severity.slightly_important),
    item("E5", Severity.detrimental),
    item("E9", Severity.critically_detrimental),
)


def verdicts(**passed):
    """A verdict for each item: True, False, or the status of one without."""
    return [
        Verdict("harbour", 2, item_id, VerdictStatus.graded, passed=value)
        if isinstance(value, bool)
        else Verdict("harbour", 2, item_id, VerdictStatus(value), passed=None)
        for item_id, value in passed.items()
    ]


def score(**passed):
    return score_brief(ITEMS, verdicts(**passed), SCORING)


@pytest.mark.parametrize(
    ("passed", "scores", "shares"),  # scores: unclamped, clamped; shares: correct, passed, wrong
    [
        # all requirements met, no wrong move made
        ({"R5": True, "R9": True, "R2": True, "E5": True, "E9": True}, (1, 1), (5 / 5, 3 / 3, 0)),
        # an empty brief: nothing met, no wrong move made
        ({"R5": False, "R9": False, "R2": False, "E5": True, "E9": True}, (0, 0), (2 / 5, 0 / 3, 0)),
        # nothing met, both wrong moves made
        (
            {"R5": False, "R9": False, "R2": False, "E5": False, "E9": False},
            (-14.5 / 16.5, 0),
            (0 / 5, 0 / 3, 2),
        ),
        # 9 gained, 5.5 lost
        (
            {"R5": False, "R9": True, "R2": False, "E5": False, "E9": True},
            (3.5 / 16.5, 3.5 / 16.5),
            (2 / 5, 1 / 3, 1),
        ),
        # 7.5 gained, 9 lost
        ({"R5": True, "R9": False, "R2": True, "E5": True, "E9": False}, (-1.5 / 16.5, 0), (3 / 5, 2 / 3, 1)),
        # everything right but for both wrong moves
        (
            {"R5": True, "R9": True, "R2": True, "E5": False, "E9": False},
            (2 / 16.5, 2 / 16.5),
            (3 / 5, 3 / 3, 2),
        ),
    ],
    ids=["gold", "empty", "worst", "mixed", "below zero", "reckless"],
)
def test_whole_gradings(passed, scores, shares):
    found = score(**passed)
    assert found.score == found.score_low == found.score_high
    assert (found.score, found.score_clamped) == pytest.approx(scores, abs=1e-15)
    assert (found.correct, found.passed, found.wrong) == shares
    assert (found.n_items, found.n_graded) == (5, 5)
    assert (found.n_refused, found.n_unparsed, found.n_error) == (0, 0, 0)
    assert (found.scenario_id, found.seed) == ("harbour", 2)


def test_gold_is_one_and_empty_is_zero_to_the_last_bit():
    assert score(R5=True, R9=True, R2=True, E5=True, E9=True).score == 1
    assert score(R5=False, R9=False, R2=False, E5=True, E9=True).score == 0


def test_a_partial_grading_has_bounds_and_no_score():
    found = score(R5="unparsed", R9=True, R2=False, E5=True, E9="error")
    assert (found.score, found.score_clamped) == (None, None)
    assert (found.correct, found.passed, found.wrong) == (None, None, None)
    assert found.score_low == pytest.approx((9 - 9) / 16.5)  # R5 failed, E9 made
    assert found.score_high == pytest.approx((5.5 + 9) / 16.5)  # R5 passed, E9 not made
    assert (found.n_items, found.n_graded) == (5, 3)
    assert (found.n_refused, found.n_unparsed, found.n_error) == (0, 1, 1)


def test_nothing_graded_is_not_zero():
    found = score(R5="refused", R9="refused", R2="refused", E5="refused", E9="refused")
    assert found.score is None
    assert (found.score_low, found.score_high) == (pytest.approx(-14.5 / 16.5), 1)
    assert (found.n_graded, found.n_refused) == (0, 5)


def test_above_the_floor_the_score_is_over_the_graded_items():
    lenient = replace(SCORING, min_graded=0.8)
    partly = verdicts(R5="unparsed", R9=True, R2=False, E5=False, E9=True)
    found = score_brief(ITEMS, partly, lenient)
    assert found.score == found.score_clamped == pytest.approx((9 - 5.5) / 11)  # without R5 of 16.5 points
    assert (found.score_low, found.score_high) == (pytest.approx(3.5 / 16.5), pytest.approx(9 / 16.5))
    assert (found.correct, found.passed, found.wrong) == (2 / 4, 1 / 2, 1)
    assert found.is_partial
    assert score_brief(ITEMS, partly, replace(SCORING, min_graded=0.81)).score is None


def test_no_graded_requirement_has_no_score_and_no_graded_wrong_move_no_count():
    lenient = replace(SCORING, min_graded=0.1)
    errors_only = verdicts(R5="error", R9="error", R2="error", E5=False, E9=True)
    assert score_brief(ITEMS, errors_only, lenient).score is None
    requirements_only = verdicts(R5=True, R9=True, R2=False, E5="error", E9="error")
    found = score_brief(ITEMS, requirements_only, lenient)
    assert (found.score, found.passed, found.wrong) == (pytest.approx(14.5 / 16.5), 2 / 3, None)


@pytest.mark.parametrize(
    ("n", "ungraded", "counts"), [(20, 1, True), (20, 2, False), (88, 4, True), (88, 5, False)]
)
def test_nineteen_of_twenty_items_are_enough(n, ungraded, counts):
    items = [item(f"R{number}", Severity.important) for number in range(n)]
    states = {one.item_id: True if number >= ungraded else "error" for number, one in enumerate(items)}
    assert (score_brief(items, verdicts(**states), SCORING).score == 1) is counts


REFUSED = verdicts(R5="refused", R9="refused", R2="refused", E5="refused", E9="refused")


def test_a_refused_brief_scores_like_an_empty_one_where_refusals_are_zero():
    zero = replace(SCORING, refusals=Refusals.zero)
    found = score_brief(ITEMS, REFUSED, zero, is_refused=True)
    assert (found.score, found.score_low, found.score_high) == (0, 0, 0)
    assert (found.correct, found.passed, found.wrong) == (2 / 5, 0, 0)
    assert (found.n_graded, found.n_refused) == (0, 5)  # it has no verdict all the same
    assert not found.is_partial
    # The judge's refusal says nothing of the writer.
    assert score_brief(ITEMS, REFUSED, zero).score is None
    assert score_brief(ITEMS, REFUSED, SCORING, is_refused=True).score is None
    both = [*REFUSED, *(replace(verdict, seed=3) for verdict in REFUSED)]
    found = score_briefs({"harbour": ITEMS}, both, zero, {("harbour", 3)})
    assert [score.score for score in found] == [None, 0]


IMPORTED = replace(score(R5=False, R9=False, R2=False, E5=True, E9=True), n_items=0, n_graded=0, correct=None)


def test_a_refused_attempt_that_was_imported_with_a_zero_follows_the_same_rule():
    found = score_refused(IMPORTED, SCORING, [5.5, 9, 2, -5.5, -9])
    assert (found.score, found.passed, found.wrong) == (None, None, None)
    assert (found.score_low, found.score_high) == (pytest.approx(-14.5 / 16.5), 1)
    assert score_refused(IMPORTED, replace(SCORING, clamped=True), [5.5, 9, 2, -5.5, -9]).score_low == 0
    zero = replace(SCORING, refusals=Refusals.zero)
    found = score_refused(IMPORTED, zero, [5.5, 9, 2, -5.5, -9])
    assert (found.score, found.score_low, found.score_high) == (0, 0, 0)
    assert (found.correct, found.passed, found.wrong) == (2 / 5, 0, 0)
    assert score_refused(IMPORTED, zero, [5.5, None]).correct is None  # unknown is not zero


IDS = ("R5", "R9", "R2", "E5", "E9")
STATES = st.sampled_from([True, False, "refused", "unparsed", "error"])


@given(st.tuples(*[STATES] * 5), st.tuples(*[st.booleans()] * 5), st.permutations(range(5)))
@settings(deadline=None)  # the machine may be busy
def test_whatever_the_missing_verdicts_are_the_score_is_within_the_bounds(states, missing, order):
    found = score(**dict(zip(IDS, states, strict=True)))
    filled = {
        name: state if isinstance(state, bool) else guess
        for name, state, guess in zip(IDS, states, missing, strict=True)
    }
    whole = score(**filled)
    assert found.score_low <= whole.score <= found.score_high
    assert found.n_graded + found.n_refused + found.n_unparsed + found.n_error == 5
    shuffled = [verdicts(**filled)[place] for place in order]
    assert score_brief([ITEMS[place] for place in reversed(order)], shuffled, SCORING) == whole


def test_other_weights_give_another_score():
    one_each = replace(SCORING, weights=dict.fromkeys(SCORING.weights, 1) | {
        "detrimental": -1, "critically_detrimental": -1})  # fmt: skip
    passed = verdicts(R5=False, R9=True, R2=True, E5=False, E9=True)
    assert score_brief(ITEMS, passed, one_each).score == pytest.approx((2 - 1) / 3)


def test_a_weight_of_zero_leaves_a_severity_out():
    no_charge = replace(SCORING, weights=SCORING.weights | {"detrimental": 0, "critically_detrimental": 0})
    passed = verdicts(R5=True, R9=True, R2=True, E5=False, E9=False)
    assert score_brief(ITEMS, passed, no_charge).score == 1


def test_a_rubric_without_wrong_moves_needs_no_weights_for_them():
    positive = {name: weight for name, weight in SCORING.weights.items() if weight > 0}
    found = score_brief(ITEMS[:3], verdicts(R5=True, R9=False, R2=False), replace(SCORING, weights=positive))
    assert found.score == pytest.approx(5.5 / 16.5)
    assert found.wrong is None  # not 0: such scenarios would lower the mean number, or stand for it alone
