"""Intervals, worked by hand and by published tables."""

import math
from dataclasses import replace

import numpy as np
import pytest

from flows.common.errors import ConfigError
from flows.schema.settings import IntervalMethod
from flows.stages.aggregate import (
    FEWEST_SCENARIOS,
    aggregate,
    interval_over,
    most_unlike,
)
from flows.stages.aggregate import interval as interval_module
from tests.stages.aggregate_support import BOOTSTRAP, SCORING, scored


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
