"""Estimates, intervals, differences and breakdowns, worked by hand."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.errors import ConfigError, ScenarioError
from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.settings import IntervalMethod, ScoringSettings
from flows.schema.verdict import BriefScore, Count, FailureMode, Verdict, VerdictStatus
from flows.stages.aggregate import (
    FEWEST_SCENARIOS,
    UNSTATED,
    aggregate,
    breakdowns,
    interval_over,
    mean_difference,
    most_unlike,
    scenario_means,
)
from flows.stages.aggregate import interval as interval_module

SCORING = ScoringSettings(
    name="severity", weights={}, clamped=False, assumed=[], interval_level=0.95, resamples=10_000
)
BOOTSTRAP = replace(SCORING, interval=IntervalMethod.bootstrap)


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


# Interval


def test_t_interval_of_a_published_example():
    # NIST/SEMATECH e-Handbook, 1.3.5.2: ZARR13.DAT, n 195, mean 9.261460, standard deviation 0.02278881:
    # 95% limits 9.258242 and 9.264679. Values with exactly this mean and deviation:
    n, mean, deviation = 195, 9.261460, 0.02278881
    step = deviation * math.sqrt((n - 1) / (n - 1 - (n - 1) % 2))
    values = [mean, *[mean + step] * 97, *[mean - step] * 97]
    assert np.std(values, ddof=1) == pytest.approx(deviation)
    found = interval_over(values, SCORING)
    assert (found.low, found.high) == (pytest.approx(9.258242, abs=2e-6), pytest.approx(9.264679, abs=2e-6))
    assert (found.method, found.level) == ("t, 95% over scenarios", 0.95)


@pytest.mark.parametrize(("level", "quantile"), [(0.95, 2.571), (0.9, 2.015), (0.99, 4.032)])
def test_t_interval_by_a_table_of_quantiles(level, quantile):
    values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]  # five degrees of freedom, deviation sqrt(0.035)
    found = interval_over(values, replace(SCORING, interval_level=level))
    margin = quantile * math.sqrt(0.035 / 6)
    assert (found.low, found.high) == (
        pytest.approx(0.35 - margin, abs=1e-3),
        pytest.approx(0.35 + margin, abs=1e-3),
    )
    assert found.method == f"t, {100 * level:g}% over scenarios"


@pytest.mark.parametrize("scoring", [SCORING, BOOTSTRAP])
def test_fewer_than_six_values_have_their_range_and_no_level(scoring):
    for values in ([0.3, -0.1], [0.3, 0.2, 0.9], [0.5, 0.1, 0.2, 0.3, 0.4]):
        found = interval_over(values, scoring)
        assert (found.low, found.high) == (min(values), max(values))
        assert (found.method, found.level) == (f"range of {len(values)} scenarios", None)
    assert interval_over([0.5, 0.1, 0.2, 0.3, 0.4, 0.6], scoring).level == 0.95


def test_the_bootstrap_is_the_percentile_one_and_always_the_same():
    # One value in ten is 1: the number drawn is binomial (10, 1/10), and
    # P(3 or more) = 0.0702, P(4 or more) = 0.0128, so 2.5% from above lies at three; P(0) = 0.349.
    found = interval_over([1, *[0] * 9], BOOTSTRAP)
    assert (found.low, found.high) == (0, pytest.approx(0.3))
    assert found.method == "percentile bootstrap, 95% over scenarios, 10,000 resamples"
    values = [math.sin(number) for number in range(60)]
    found = interval_over(values, BOOTSTRAP)
    assert found == interval_over(list(reversed(values)), BOOTSTRAP)
    # Against the normal approximation, which is good at sixty: 1.96 standard errors either way.
    margin = 1.96 * np.std(values) / math.sqrt(60)
    assert found.low == pytest.approx(np.mean(values) - margin, abs=0.1 * margin)
    assert found.high == pytest.approx(np.mean(values) + margin, abs=0.1 * margin)


def test_the_number_of_resamples_is_the_number_asked_for():
    values = list(range(11))
    few, many = (interval_over(values, replace(BOOTSTRAP, resamples=n)) for n in (2, 1_001))
    assert few.high - few.low < many.high - many.low
    assert 0 < many.low < 5 < many.high < 10
    assert many.method.endswith("1,001 resamples")


def coverage(kind, n, *, repeats):
    """Share of simulated samples of n scenario means whose interval holds the true mean."""
    draw = np.random.default_rng(n)
    held = 0
    for _ in range(repeats):
        low, high = kind([float(value) for value in draw.normal(0.4, 0.13, n)])
        held += low <= 0.4 <= high
    return held / repeats


@pytest.mark.parametrize(("n", "least", "most"), [(2, 0.45, 0.58), (5, 0.78, 0.88), (10, 0.86, 0.94)])
def test_what_the_percentile_bootstrap_covers(n, least, most):
    # 52%, 84% and 90% instead of 95%, within four standard errors of 600 repeats.
    assert (
        least < coverage(lambda values: interval_module._bootstrap(values, 0.95, 400), n, repeats=600) < most
    )


@pytest.mark.parametrize("n", [2, 5, 6, 10])
def test_t_covers_what_it_says(n):
    assert (
        0.935 < coverage(lambda values: interval_module._t_interval(values, 0.95), n, repeats=4_000) < 0.965
    )


def test_six_is_where_a_sign_test_can_find_anything():
    assert 2 / 2 ** (FEWEST_SCENARIOS - 1) > 0.05 > 2 / 2**FEWEST_SCENARIOS


@pytest.mark.parametrize(
    ("values", "level", "most"),
    [
        ([1.0] * 12, 0.95, 3 / 12),
        ([0.0] * 12, 0.95, 3 / 12),  # as uncertain at the other end, and between
        ([0.5] * 30, 0.95, 3 / 30),
        ([1.0] * 12, 0.99, 4.6 / 12),  # -ln(0.01) = 4.605
        ([0.1 + 0.2, 0.3] * 5, 0.95, 3 / 10),  # equal but for rounding
        ([1.0] * 11 + [0.9], 0.95, None),
        ([1.0] * 5, 0.95, None),  # a range
        ([1.0], 0.95, None),  # no interval
    ],
)
@pytest.mark.parametrize("method", list(IntervalMethod))
def test_equal_scores_leave_a_one_sided_bound(values, level, most, method):
    found = interval_over(values, replace(SCORING, interval_level=level, interval=method))
    assert most_unlike(found, len(values)) == (None if most is None else pytest.approx(most))


@pytest.mark.parametrize("method", list(IntervalMethod))
@pytest.mark.parametrize("n", [2, 3, 10, 11])
def test_equal_values_have_no_width(n, method):
    found = interval_over([0.1] * n, replace(SCORING, interval=method))
    assert (found.low, found.high) == (0.1, 0.1)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_values_have_no_interval(values):
    assert interval_over(values, SCORING) is None


@pytest.mark.parametrize("changes", [{"interval_level": 0}, {"interval_level": 1}, {"resamples": 0}])
def test_levels_and_resamples_that_can_not_be_are_refused(changes):
    with pytest.raises(ConfigError, match=r"scoring\.(interval_level|resamples): [01]; expected"):
        interval_over([0.1, 0.2], replace(SCORING, **changes))


def test_an_interval_ends_where_scores_end():
    names = [f"s{number}" for number in range(6)]
    high = [scored(name, 1, value) for name, value in zip(names, [1, 1, 1, 1, 1, 0.7], strict=True)]
    found = aggregate(high, names, 1, SCORING).interval
    assert found.high == 1
    assert found.low == pytest.approx(0.95 - 2.571 * 0.12247 / math.sqrt(6), abs=1e-3)
    low = [scored(name, 1, value) for name, value in zip(names, [0, 0, 0, 0, 0, 0.3], strict=True)]
    assert aggregate(low, names, 1, SCORING).interval.low < 0  # wrong moves could bring it there
    assert aggregate(low, names, 1, replace(SCORING, clamped=True)).interval.low == 0


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
