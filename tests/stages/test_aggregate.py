"""Estimates, differences and breakdowns, worked by hand."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.errors import ScenarioError
from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.verdict import Count, FailureMode, Verdict, VerdictStatus
from flows.stages.aggregate import (
    UNSTATED,
    aggregate,
    breakdowns,
    mean_difference,
    scenario_means,
)
from tests.stages.aggregate_support import SCORING, scored, unscored

# Estimate


def test_seeds_are_averaged_within_a_scenario_then_scenarios():
    found = aggregate(
        [
            scored("a", 1, 0.2, correct=0.1, passed=0.0, wrong=4),
            scored("a", 2, 0.4, correct=0.3, passed=0.5, wrong=2),
            scored("b", 1, -0.5, correct=0.6, passed=0.25, wrong=0),
            scored("b", 2, 0.1, correct=0.4, passed=0.75, wrong=1),
        ],
        ["a", "b"],
        2,
        SCORING,
    )
    assert found.score == pytest.approx((0.3 + -0.2) / 2)
    assert found.score_clamped == pytest.approx((0.3 + 0.05) / 2)
    assert found.correct == pytest.approx((0.2 + 0.5) / 2)
    assert found.passed == pytest.approx((0.25 + 0.5) / 2)
    assert found.wrong == pytest.approx((3 + 0.5) / 2)
    assert (found.score_low, found.score_high) == (found.score, found.score)
    # two scenarios have a range and no interval
    assert (found.interval.low, found.interval.high) == (pytest.approx(-0.2), pytest.approx(0.3))
    assert (found.interval.method, found.interval.level) == ("range of 2 scenarios", None)
    assert (found.n_scenarios, found.n_scenarios_all, found.n_briefs, found.n_briefs_all) == (2, 2, 4, 4)
    assert found.n_ungraded == 0


def test_a_missing_seed_does_not_weigh_its_scenario_down():
    found = aggregate(
        [scored("a", 1, 0.2), unscored("a", 2, -1, 1), scored("b", 1, 0.6), scored("b", 2, 0.8)],
        ["a", "b"],
        2,
        SCORING,
    )
    assert found.score == pytest.approx((0.2 + 0.7) / 2)
    assert found.score_low == pytest.approx(((0.2 - 1) / 2 + 0.7) / 2)
    assert found.score_high == pytest.approx(((0.2 + 1) / 2 + 0.7) / 2)
    assert (found.n_scenarios, found.n_briefs, found.n_briefs_all, found.n_ungraded) == (2, 3, 4, 10)


def test_a_scenario_without_a_scored_brief_counts_in_the_bounds_only():
    found = aggregate([scored("a", 1, 0.2), unscored("b", 1, -0.4, 0.6, ungraded=3)], ["a", "b"], 1, SCORING)
    assert found.score == 0.2
    assert found.interval is None
    assert (found.score_low, found.score_high) == (pytest.approx(-0.1), pytest.approx(0.4))
    assert (found.n_scenarios, found.n_scenarios_all, found.n_ungraded) == (1, 2, 3)


def test_nothing_scored_is_null_not_zero():
    found = aggregate([unscored("a", 1, -0.5, 1)], ["a"], 1, SCORING)
    assert (found.score, found.interval, found.score_clamped) == (None, None, None)
    assert (found.correct, found.passed, found.wrong) == (None, None, None)
    assert (found.score_low, found.score_high) == (-0.5, 1)
    assert (found.n_scenarios, found.n_briefs, found.n_briefs_all) == (0, 0, 1)


def test_nothing_asked_for_is_null():
    found = aggregate([], [], 3, SCORING)
    assert (found.score, found.score_low, found.score_high, found.interval) == (None, None, None, None)
    assert found.n_briefs_all == 0


ONE = [scored("a", 1, 0.2), scored("b", 1, 0.4)]


@pytest.mark.parametrize(
    ("scores", "scenario_ids", "seeds", "message"),
    [
        (ONE, ["a", "b", "c"], 1, r"c/1: no score of this brief \(1 such\)"),
        (ONE, ["a", "b"], 2, r"a/2: no score of this brief \(2 such\)"),
        (ONE, ["a"], 1, "b/1: an unexpected score of this brief"),
        ([*ONE, ONE[0]], ["a", "b"], 1, "scores: 3 of 2 briefs"),
        (ONE, ["a", "b", "a"], 1, "duplicate ids"),
    ],
)
def test_briefs_that_are_not_those_asked_for_are_refused(scores, scenario_ids, seeds, message):
    with pytest.raises(ScenarioError, match=message):
        aggregate(scores, scenario_ids, seeds, SCORING)


NUMBERS = st.floats(-1, 1).map(lambda value: round(value, 6))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5), st.randoms())
@settings(deadline=None)
def test_neither_the_order_of_rows_nor_of_seeds_matters(pairs, random):
    names = [f"s{number}" for number in range(len(pairs))]
    scores = [
        scored(name, seed, pair[seed - 1]) for name, pair in zip(names, pairs, strict=True) for seed in (1, 2)
    ]
    found = aggregate(scores, names, 2, SCORING)
    swapped = [replace(score, seed=3 - score.seed) for score in scores]
    random.shuffle(swapped)
    random.shuffle(names)
    assert aggregate(swapped, names, 2, SCORING) == found
    assert found.score_low == found.score == found.score_high


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.booleans()), min_size=1, max_size=6))
@settings(deadline=None)
def test_whatever_the_missing_verdicts_are_the_whole_mean_is_within_the_bounds(rows):
    names = [f"s{number}" for number in range(len(rows))]
    partial, whole = [], []
    for name, (*values, missing) in zip(names, rows, strict=True):
        low, middle, high = sorted(values)
        partial.append(unscored(name, 1, low, high) if missing else scored(name, 1, middle))
        whole.append(scored(name, 1, middle))
    found = aggregate(partial, names, 1, SCORING)
    assert found.score_low - 1e-12 <= aggregate(whole, names, 1, SCORING).score <= found.score_high + 1e-12


def test_below_the_floor_of_coverage_there_is_no_mean_but_the_bounds_and_counts():
    one_of_three = [scored("a", 1, 0.2), unscored("b", 1, -0.4, 0.6), unscored("c", 1, -0.4, 0.6)]
    found = aggregate(one_of_three, ["a", "b", "c"], 1, SCORING)
    assert (found.score, found.interval, found.score_clamped) == (None, None, None)
    assert (found.correct, found.passed, found.wrong) == (None, None, None)
    assert (found.score_low, found.score_high) == (pytest.approx(-0.2), pytest.approx(1.4 / 3))
    assert (found.n_scenarios, found.n_briefs, found.n_briefs_all, found.n_ungraded) == (1, 1, 3, 20)
    assert aggregate(one_of_three, ["a", "b", "c"], 1, replace(SCORING, min_coverage=1 / 3)).score == 0.2
    two_of_four = [*one_of_three, scored("d", 1, 0.4)]
    assert aggregate(two_of_four, ["a", "b", "c", "d"], 1, SCORING).score == pytest.approx(0.3)


def test_briefs_scored_by_some_of_their_items_are_counted():
    partly = replace(scored("a", 1, 0.5), score_low=0.4, score_high=0.55, n_graded=9, n_error=1)
    found = aggregate([partly, scored("b", 1, 0.7)], ["a", "b"], 1, SCORING)
    assert found.score == pytest.approx(0.6)
    assert (found.score_low, found.score_high) == (pytest.approx(0.55), pytest.approx(0.625))
    assert (found.n_partial, found.n_ungraded, found.n_briefs) == (1, 1, 2)


# Difference


def means(scores):
    return scenario_means(scores, lambda score: score.score)


def test_differences_are_paired_by_scenario():
    first = [scored("a", 1, 0.9), scored("a", 2, 0.7), scored("b", 1, 0.2), scored("c", 1, 0.5)]
    second = [scored("a", 1, 0.6), scored("b", 1, 0.1), unscored("c", 1, 0, 1)]
    found = mean_difference(means(first), means(second), ["a", "b", "c", "d"], SCORING)
    assert found.difference == pytest.approx((0.2 + 0.1) / 2)
    # The two conditions' own intervals overlap widely, [0.2, 0.8] and [0.1, 0.6]; paired they do not meet 0.
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.1), pytest.approx(0.2))
    assert found.interval.method == "range of 2 scenarios"
    assert (found.n_scenarios, found.n_scenarios_all) == (2, 4)


def test_conditions_without_a_common_scenario_have_no_difference():
    found = mean_difference(means([scored("a", 1, 0.9)]), means([scored("b", 1, 0.1)]), ["a", "b"], SCORING)
    assert (found.difference, found.interval, found.n_scenarios) == (None, None, 0)


# Breakdown


def item(item_id, severity, step=Step.risk, tier=Tier.stated):
    return Item(item_id, step, tier, severity, "r", "g", "p", "f", (Evidence("d", "q"),), "why")


RUBRICS = {
    "a": [
        item("1", Severity.important),
        item("2", Severity.important, Step.facts, Tier.inferred),
        item("3", Severity.detrimental, Step.facts),
    ],
    "b": [item("1", Severity.critically_important, Step.facts), item("2", Severity.detrimental)],
}


def verdict(scenario_id, item_id, passed, mode=None, seed=1):
    status = VerdictStatus.error if passed is None else VerdictStatus.graded
    return Verdict(scenario_id, seed, item_id, status, passed, mode)


VERDICTS = [
    verdict("a", "1", passed=True),
    verdict("a", "2", passed=False, mode=FailureMode.omission),
    verdict("a", "3", passed=False, mode=FailureMode.committed),
    verdict("a", "1", passed=False, mode=FailureMode.omission, seed=2),
    verdict("a", "2", passed=False, mode=FailureMode.partial, seed=2),
    verdict("a", "3", passed=True, seed=2),
    verdict("b", "1", passed=False),
    verdict("b", "2", passed=None),
]


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        (
            "step",
            [
                Count("facts", "requirement", n=3, passed=0, ungraded=0),
                Count("risk", "requirement", n=2, passed=1, ungraded=0),
                Count("facts", "error", n=2, passed=1, ungraded=0),
                Count("risk", "error", n=0, passed=0, ungraded=1),
            ],
        ),
        (
            "tier",
            [
                Count("1", "requirement", n=3, passed=1, ungraded=0),
                Count("3", "requirement", n=2, passed=0, ungraded=0),
                Count("1", "error", n=2, passed=1, ungraded=1),
            ],
        ),
        (
            "severity",
            [
                Count("critically_important", "requirement", n=1, passed=0, ungraded=0),
                Count("important", "requirement", n=4, passed=1, ungraded=0),
                Count("detrimental", "error", n=2, passed=1, ungraded=1),
            ],
        ),
        (
            "mode",
            [
                Count("omission", "requirement", n=5, passed=3, ungraded=0),
                Count("partial", "requirement", n=5, passed=4, ungraded=0),
                Count("incorrect", "requirement", n=5, passed=5, ungraded=0),
                Count("unsupported", "requirement", n=5, passed=5, ungraded=0),
                Count(UNSTATED, "requirement", n=5, passed=4, ungraded=0),
                Count("committed", "error", n=2, passed=1, ungraded=1),
            ],
        ),
    ],
)
def test_breakdown(by, rows):
    assert breakdowns(RUBRICS, VERDICTS, [by])[by] == rows
    assert breakdowns(RUBRICS, reversed(VERDICTS), [by])[by] == rows


def test_failures_add_up_over_modes():
    failed = Counter()
    for row in breakdowns(RUBRICS, VERDICTS, ["mode"])["mode"]:
        failed[row.kind] += row.failed
    assert failed == {"requirement": 4, "error": 1}


def test_a_rate_of_nothing_is_null():
    rates = {(row.group, row.kind): row.rate for row in breakdowns(RUBRICS, VERDICTS, ["step"])["step"]}
    assert rates == {
        ("facts", "requirement"): 0,
        ("risk", "requirement"): 0.5,
        ("facts", "error"): 0.5,
        ("risk", "error"): None,
    }


def test_a_verdict_on_an_unknown_item_is_refused():
    with pytest.raises(ScenarioError, match="b/1: a verdict on 3; expected an item of its rubric"):
        breakdowns(RUBRICS, [verdict("b", "3", passed=True)], ["tier"])
