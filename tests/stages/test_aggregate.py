"""Estimates, intervals, differences and breakdowns, worked by hand."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.errors import ConfigError, ScenarioError
from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import BriefScore, FailureMode, Verdict, VerdictStatus
from flows.stages.aggregate import (
    UNSTATED,
    Count,
    aggregate,
    bootstrap,
    breakdown,
    most_unlike,
    paired_difference,
)

SCORING = ScoringSettings(
    name="severity", weights={}, clamped=False, assumed=[], interval_level=0.95, resamples=10_000
)
EXACT = "bootstrap percentile over scenarios, exact, 95%"


def scored(scenario_id, seed, score, *, correct=0.5, passed=0.25, wrong=1):
    return BriefScore(
        scenario_id, seed, score, min(max(score, 0.0), 1.0), score, score, correct, passed, wrong,
        n_items=10, n_graded=10, n_refused=0, n_unparsed=0, n_error=0,
    )  # fmt: skip


def unscored(scenario_id, seed, low, high, *, ungraded=10):
    return BriefScore(
        scenario_id, seed, None, None, low, high, None, None, None,
        n_items=10, n_graded=10 - ungraded, n_refused=ungraded, n_unparsed=0, n_error=0,
    )  # fmt: skip


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
    # of the four resamples (-0.2, -0.2), (-0.2, 0.3), (0.3, -0.2), (0.3, 0.3) each end takes the outermost
    assert (found.interval.low, found.interval.high) == (pytest.approx(-0.2), pytest.approx(0.3))
    assert found.interval.method == EXACT
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


# Interval


@pytest.mark.parametrize(
    ("values", "level", "low", "high"),
    [
        # 27 resamples: means 0 x1, .1 x3, .2 x3, .3 x1+3, .4 x6, .5 x3, .6 x3, .7 x3, .9 x1. One in forty
        # of them is less than one, so the ends are the outermost; a quarter is the seventh from each end.
        ([0, 0.3, 0.9], 0.95, 0, 0.9),
        ([0, 0.3, 0.9], 0.5, 0.2, 0.6),
        # 256 resamples; the number of 4s is binomial (4, 1/4): 81 108 54 12 1 in 256. The 7th mean from
        # above (2.5% of 256 is 6.4) has three 4s; the 26th (10% is 25.6) has two.
        ([0, 4, 0, 0], 0.95, 0, 3),
        ([0, 4, 0, 0], 0.8, 0, 2),
        # 4 resamples, a quarter of which is exactly one
        ([1, 3], 0.5, 1, 3),
        ([1, 3], 0.4, 2, 2),
    ],
)
def test_exact_interval(values, level, low, high):
    found = bootstrap(values, replace(SCORING, interval_level=level))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.method == f"bootstrap percentile over scenarios, exact, {level * 100:g}%"


@pytest.mark.parametrize(
    ("values", "level", "most"),
    [
        ([1.0] * 12, 0.95, 3 / 12),
        ([0.0] * 12, 0.95, 3 / 12),  # as uncertain at the other end, and between
        ([0.5] * 30, 0.95, 3 / 30),
        ([1.0] * 12, 0.99, 4.6 / 12),  # -ln(0.01) = 4.605
        ([1.0] * 2, 0.95, 1.0),  # no share is more than all
        ([0.1 + 0.2, 0.3] * 5, 0.95, 3 / 10),  # equal but for rounding
        ([1.0] * 11 + [0.9], 0.95, None),
        ([1.0], 0.95, None),  # no interval
    ],
)
def test_equal_scores_leave_a_one_sided_bound(values, level, most):
    interval = bootstrap(values, replace(SCORING, interval_level=level))
    found = most_unlike(interval, len(values), level)
    assert found == (None if most is None else pytest.approx(most))


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=5), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
@settings(deadline=None)
def test_exact_interval_is_that_of_every_resample_written_out(values, level):
    n = len(values)
    means = sorted(sum(drawn) / n for drawn in product(values, repeat=n))
    rank = math.ceil(round((1 - level) / 2 * n**n, 9))
    found = bootstrap(values, replace(SCORING, interval_level=level))
    assert found.low == pytest.approx(means[rank - 1])
    assert found.high == pytest.approx(means[-rank])


def test_ten_scenarios_are_still_exact():
    # One value in ten is 1: the number drawn is binomial (10, 1/10), and
    # P(3 or more) = 0.0702, P(4 or more) = 0.0128, so 2.5% from above lies at three; P(0) = 0.349.
    found = bootstrap([1, *[0] * 9], SCORING)
    assert (found.low, found.high) == (0, pytest.approx(0.3))
    assert found.method == EXACT


def test_beyond_ten_resamples_are_drawn_and_always_the_same():
    values = [math.sin(number) for number in range(60)]
    found = bootstrap(values, SCORING)
    assert found == bootstrap(list(reversed(values)), SCORING)
    assert found.method == "bootstrap percentile over scenarios, 10,000 resamples, 95%"
    # Against the normal approximation, which is good at sixty: 1.96 standard errors either way.
    margin = 1.96 * np.std(values) / math.sqrt(60)
    assert found.low == pytest.approx(np.mean(values) - margin, abs=0.1 * margin)
    assert found.high == pytest.approx(np.mean(values) + margin, abs=0.1 * margin)


def test_the_number_drawn_is_the_number_asked_for():
    values = list(range(11))
    one, two, many = (bootstrap(values, replace(SCORING, resamples=n)) for n in (1, 2, 1_001))
    assert one.low == one.high
    assert two.low < two.high
    assert 0 < many.low < 5 < many.high < 10
    assert many.method == "bootstrap percentile over scenarios, 1,001 resamples, 95%"


@pytest.mark.parametrize("n", [2, 3, 10, 11])
def test_equal_values_have_no_width(n):
    found = bootstrap([0.1] * n, SCORING)
    assert (found.low, found.high) == (0.1, 0.1)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_values_have_no_interval(values):
    assert bootstrap(values, SCORING) is None


@pytest.mark.parametrize("changes", [{"interval_level": 0}, {"interval_level": 1}, {"resamples": 0}])
def test_levels_and_resamples_that_can_not_be_are_refused(changes):
    with pytest.raises(ConfigError, match=r"scoring\.(interval_level|resamples): [01]; expected"):
        bootstrap([0.1, 0.2], replace(SCORING, **changes))


# Difference


def test_differences_are_paired_by_scenario():
    first = [scored("a", 1, 0.9), scored("a", 2, 0.7), scored("b", 1, 0.2), scored("c", 1, 0.5)]
    second = [scored("a", 1, 0.6), scored("b", 1, 0.1), unscored("c", 1, 0, 1)]
    found = paired_difference(first, second, ["a", "b", "c", "d"], SCORING)
    assert found.difference == pytest.approx((0.2 + 0.1) / 2)
    # The two conditions' own intervals overlap widely, [0.2, 0.8] and [0.1, 0.6]; paired they do not meet 0.
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.1), pytest.approx(0.2))
    assert found.interval.method == EXACT
    assert (found.n_scenarios, found.n_scenarios_all) == (2, 4)


def test_conditions_without_a_common_scenario_have_no_difference():
    found = paired_difference([scored("a", 1, 0.9)], [scored("b", 1, 0.1)], ["a", "b"], SCORING)
    assert (found.difference, found.interval, found.n_scenarios) == (None, None, 0)


def test_a_difference_of_other_scenarios_is_refused():
    with pytest.raises(ScenarioError, match="b: a score of an unexpected scenario"):
        paired_difference([scored("a", 1, 0.9)], [scored("b", 1, 0.1)], ["a"], SCORING)
    with pytest.raises(ScenarioError, match="two of one brief"):
        paired_difference([scored("a", 1, 0.9)] * 2, [scored("a", 1, 0.1)], ["a"], SCORING)


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
    assert breakdown(RUBRICS, VERDICTS, by) == rows
    assert breakdown(RUBRICS, reversed(VERDICTS), by) == rows


def test_failures_add_up_over_modes():
    failed = Counter()
    for row in breakdown(RUBRICS, VERDICTS, "mode"):
        failed[row.kind] += row.failed
    assert failed == {"requirement": 4, "error": 1}


def test_a_rate_of_nothing_is_null():
    rates = {(row.group, row.kind): row.rate for row in breakdown(RUBRICS, VERDICTS, "step")}
    assert rates == {
        ("facts", "requirement"): 0,
        ("risk", "requirement"): 0.5,
        ("facts", "error"): 0.5,
        ("risk", "error"): None,
    }


def test_a_verdict_on_an_unknown_item_is_refused():
    with pytest.raises(ScenarioError, match="b/1: a verdict on 3; expected an item of its rubric"):
        breakdown(RUBRICS, [verdict("b", "3", passed=True)], "tier")
