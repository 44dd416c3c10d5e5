"""Agreement and tests, by published worked examples and by other libraries."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from flows.stages.paper.statistics import (
    Cells,
    correlation,
    count_cells,
    gwet_ac1,
    holm,
    panel_agreement,
    sign_flip,
)

# J. L. Fleiss, Psychological Bulletin 76, 1971, table 1: 30 patients, 6 raters, 5 diagnoses; kappa 0.430.
FLEISS = [
    (0, 0, 0, 6, 0), (0, 3, 0, 0, 3), (0, 1, 4, 0, 1), (0, 0, 0, 0, 6), (0, 3, 0, 3, 0), (2, 0, 4, 0, 0),
    (0, 0, 4, 0, 2), (2, 0, 3, 1, 0), (2, 0, 0, 4, 0), (0, 0, 0, 0, 6), (1, 0, 0, 5, 0), (1, 1, 0, 4, 0),
    (0, 3, 3, 0, 0), (1, 0, 0, 5, 0), (0, 2, 0, 3, 1), (0, 0, 5, 0, 1), (3, 0, 0, 1, 2), (5, 1, 0, 0, 0),
    (0, 2, 0, 4, 0), (1, 0, 2, 0, 3), (0, 0, 0, 0, 6), (0, 1, 0, 5, 0), (0, 2, 0, 1, 3), (2, 0, 0, 4, 0),
    (1, 0, 0, 4, 1), (0, 5, 0, 1, 0), (4, 0, 0, 0, 2), (0, 2, 0, 4, 0), (1, 0, 5, 0, 0), (0, 0, 0, 0, 6),
]  # fmt: skip

# K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011: example A (two observers) and C (four).
TWO = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
GAP = np.nan
FOUR = [
    (1, 2, 3, 3, 2, 1, 4, 1, 2, GAP, GAP, GAP),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, GAP, 3),
    (GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, GAP),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, GAP),
]

# R. A. Fisher, The Design of Experiments, 1935, section 21: Darwin's maize, in eighths of an inch.
DARWIN = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)


def cells(*counts):
    return Cells(np.array(counts, float))


def test_fleiss_kappa_is_that_of_fleiss():
    ratings = np.array([np.repeat(np.arange(5), row) for row in FLEISS], float)
    assert panel_agreement(ratings)[0] == pytest.approx(0.430, abs=5e-4)


def test_alpha_is_that_of_krippendorff():
    assert panel_agreement(np.array(FOUR).T)[2] == pytest.approx(0.743, abs=5e-4)
    first, second = (pd.Series(one, dtype=float) for one in TWO)
    both = count_cells(first, second, pd.Series(["s"] * 10)).pooled
    assert float(both.alpha) == pytest.approx(0.095, abs=5e-4)
    assert panel_agreement(np.array(TWO, float).T)[2] == pytest.approx(float(both.alpha))


def test_alpha_of_items_that_two_raters_labelled_alike_is_unknown_and_warns_of_nothing():
    ratings = np.array([[1, 1], [1, 1], [0, np.nan]])  # the other category is on an item of one rater
    assert np.isnan(panel_agreement(ratings)[2])


def test_ac1_is_that_of_gwet():
    # K. Gwet, Kappa statistic is not satisfactory for assessing the extent of agreement, 2002: 125 subjects.
    skewed = cells(118, 5, 2, 0)
    assert float(skewed.ac1) == pytest.approx(0.9408, abs=5e-5)
    assert float(skewed.kappa) == pytest.approx(-0.0234, abs=5e-5)
    counts = np.array([(0, 2)] * 118 + [(1, 1)] * 7)
    assert gwet_ac1(counts) == pytest.approx(float(skewed.ac1))


def test_the_exact_test_is_that_of_fisher():
    assert sign_flip(DARWIN) == pytest.approx(1726 / 32768)
    assert sign_flip([-value for value in DARWIN]) == pytest.approx(1726 / 32768)


@pytest.mark.parametrize("n", [2, 5, 10, 15])
def test_the_exact_test_is_scipys(n):
    values = np.random.default_rng(n).normal(0.4, 1, n)
    found = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=2**15)
    assert sign_flip(values) == pytest.approx(found.pvalue)


def test_many_differences_are_tested_by_random_signs():
    values = np.random.default_rng(1).normal(0.35, 1, 40)
    assert sign_flip(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.01)
    assert sign_flip(np.full(40, 1.0)) == pytest.approx(1 / 32769)


def test_no_test_of_one_difference_and_none_of_equal_ones():
    assert np.isnan(sign_flip([0.3]))
    assert np.isnan(sign_flip([0.3, np.nan]))
    assert sign_flip([0.0, 0.0, 0.0]) == 1


def test_holm_by_hand():
    found = holm([0.01, 0.04, np.nan, 0.03, 0.005])
    assert found[[0, 1, 3, 4]] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert np.isnan(found[2])
    assert np.isnan(holm([np.nan])).all()


def test_kappa_is_that_of_scikit_learn_and_gaps_do_not_count():
    rng = np.random.default_rng(5)
    first = rng.integers(0, 2, 400).astype(float)
    second = np.where(rng.random(400) < 0.8, first, 1 - first)
    gaps = rng.random(400) < 0.1
    holed = pd.Series(np.where(gaps, np.nan, second))
    both = count_cells(pd.Series(first), holed, pd.Series(["s"] * 400)).pooled
    assert int(both.n) == int((~gaps).sum())
    assert float(both.kappa) == pytest.approx(cohen_kappa_score(first[~gaps], second[~gaps]))
    assert float(both.agreement) == pytest.approx((first == second)[~gaps].mean())


def test_a_rater_who_never_varies_has_no_kappa():
    assert np.isnan(cells(10, 3, 0, 0).kappa)
    assert np.isnan(cells(0, 0, 0, 0).agreement)
    assert np.isnan(cells(13, 0, 0, 0).alpha)
    constant = panel_agreement(np.ones((5, 3)))
    assert np.isnan(constant[0])
    assert np.isnan(constant[2])
    assert constant[1] == 1


def test_an_interval_of_agreement_takes_six_scenarios():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"s": np.repeat(list("abcdefgh"), 50), "x": rng.integers(0, 2, 400).astype(float)})
    frame["y"] = np.where(rng.random(400) < 0.85, frame["x"], 1 - frame["x"])
    whole = count_cells(frame["x"], frame["y"], frame["s"])
    low, high = whole.interval(lambda own: own.agreement)
    assert low < float(whole.pooled.agreement) < high
    assert (low, high) == whole.interval(lambda own: own.agreement)  # seeded
    few = frame[frame["s"] < "f"]
    assert np.isnan(count_cells(few["x"], few["y"], few["s"]).interval(lambda own: own.kappa)).all()


def test_correlations_are_scipys_and_take_three_pairs_that_vary():
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    assert correlation(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert correlation(x, y, "pearson") == pytest.approx(stats.pearsonr(x, y).statistic)
    assert np.isnan(correlation(x[:2], y[:2]))
    assert np.isnan(correlation([1, 1, 1], [1, 2, 3], "pearson"))
