"""Statistics of the tables: agreement of raters, tests of paired differences, correlations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import pandas as pd

FEWEST_CLUSTERS = 6
"""Fewest scenarios for an interval."""

_DRAW_SEED = 20_261_019  # fixed, so that equal verdicts give equal intervals
_RESAMPLES = 2_000
_EXACT_UP_TO = 15  # scenarios; 2^15 patterns of signs


@dataclass(frozen=True)
class Cells:
    """Two-by-two counts of two raters; also of many resamples, so that these are computed at once."""

    counts: np.ndarray  # along the last axis both passed, only the first, only the second, both failed

    @property
    def each(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The four counts."""
        a, b, c, d = np.moveaxis(self.counts, -1, 0)
        return a, b, c, d

    @property
    def n(self) -> np.ndarray:
        """Items that both graded."""
        return self.counts.sum(axis=-1)

    @property
    def agreement(self) -> np.ndarray:
        """Share of equal verdicts."""
        return _ratio(self.counts[..., 0] + self.counts[..., 3], self.n)

    @property
    def kappa(self) -> np.ndarray:
        """Cohen's kappa (1960); NaN if a rater never varies, since chance then explains everything."""
        a, b, c, d = self.each
        varies = (a + b > 0) & (c + d > 0) & (a + c > 0) & (b + d > 0)
        found = _ratio(2 * (a * d - b * c), (a + b) * (b + d) + (a + c) * (c + d))
        return np.where(varies, found, np.nan)

    @property
    def ac1(self) -> np.ndarray:
        """Gwet's AC1 for two raters (2008): chance agreement is 2 q (1 - q), q the mean share of passes."""
        passes = _ratio(self._ones, 2 * self.n)
        chance = 2 * passes * (1 - passes)
        return _ratio(self.agreement - chance, 1 - chance)

    @property
    def alpha(self) -> np.ndarray:
        """Krippendorff's alpha for nominal values of two raters without gaps (2004, chapter 11)."""
        expected = _ratio(2 * self._ones * (2 * self.n - self._ones), 2 * self.n * (2 * self.n - 1))
        found = 1 - _ratio(1 - self.agreement, expected)
        return np.where(expected > 0, found, np.nan)

    @property
    def _ones(self) -> np.ndarray:
        a, b, c, _ = self.each
        return 2 * a + b + c

    @property
    def pooled(self) -> Cells:
        """The sum over clusters."""
        return Cells(self.counts.sum(axis=0))

    @property
    def resampled(self) -> Cells:
        """Clusters resampled with replacement, one element per resample; the draws are seeded."""
        n = len(self.counts)
        weights = np.random.default_rng(_DRAW_SEED).multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
        return Cells(weights @ self.counts)

    def interval(self, statistic: Callable[[Cells], np.ndarray]) -> tuple[float, float]:
        """Return the 95% percentile interval of a statistic over resampled clusters; NaN below six."""
        if len(self.counts) < FEWEST_CLUSTERS:
            return np.nan, np.nan
        return percentiles(statistic(self.resampled))


def count_cells(first: pd.Series, second: pd.Series, clusters: pd.Series) -> Cells:
    """Count the verdicts of two raters, one element per cluster; items that either left open don't count.

    A verdict is 1, 0 or NaN; `clusters` has the scenario of each item.
    """
    both, values = first.to_numpy(float) * 2, second.to_numpy(float)
    known = ~np.isnan(both + values)
    code = 3 - (both + values)[known].astype(np.int64)
    cluster, names = pd.factorize(clusters[known])
    counts = np.bincount(cluster * 4 + code, minlength=4 * len(names))
    return Cells(counts.reshape(-1, 4).astype(float))


def percentiles(values: np.ndarray) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of the known values; NaN without any."""
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan, np.nan
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def panel_agreement(ratings: np.ndarray) -> tuple[float, float, float]:
    """Return Fleiss' kappa, Gwet's AC1 and Krippendorff's alpha of a panel.

    Kappa and AC1 are over the items that every rater labelled, alpha over all with two labels.

    `ratings` have a row per item and a column per rater: a category from 0, or NaN.

    Returns:
        NaN where undefined: fewer than two raters or items, or no variation.
    """
    import krippendorff
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    n_categories = max(2, int(np.nanmax(ratings, initial=0)) + 1)
    whole = ratings[~np.isnan(ratings).any(axis=1)].astype(int)
    kappa = ac1 = alpha = np.nan
    if whole.shape[0] and whole.shape[1] > 1:
        counts = aggregate_raters(whole, n_cat=n_categories)[0]
        if (counts.sum(axis=0) > 0).sum() > 1:
            kappa = float(fleiss_kappa(counts))
        ac1 = gwet_ac1(counts)
    pairable = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) > 1:
        domain = range(n_categories)
        alpha = float(krippendorff.alpha(pairable.T, level_of_measurement="nominal", value_domain=domain))
    return kappa, ac1, alpha


def gwet_ac1(counts: np.ndarray) -> float:
    """Compute Gwet's AC1 of several raters without gaps.

    Source: K. Gwet, British Journal of Mathematical and Statistical Psychology 61, 2008, pp. 29-48.

    `counts` are raters by item (row) and category (column), with equal row sums of two or more.
    """
    raters, categories = counts.sum(axis=1)[0], counts.shape[1]
    observed = ((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))).mean()
    shares = counts.sum(axis=0) / counts.sum()
    chance = (shares * (1 - shares)).sum() / (categories - 1)
    return float((observed - chance) / (1 - chance))


def sign_flip(differences: Sequence[float] | np.ndarray) -> float:
    """Return the two-sided p of the sign-flip test that the mean difference is 0.

    All patterns of signs are counted up to 15 differences, else 32,768 random ones (Fisher 1935).

    Returns:
        NaN for fewer than two differences.
    """
    values = np.asarray(differences, dtype=float)
    values = values[~np.isnan(values)]
    n = len(values)
    if n < 2:  # noqa: PLR2004 -- one difference has no test
        return np.nan
    signs = _signs(n)
    extra = int(n > _EXACT_UP_TO)  # the observed pattern, so that p is never 0
    as_far = int((np.abs(signs @ values) >= abs(values.sum()) - 1e-9).sum())
    return (as_far + extra) / (len(signs) + extra)


@lru_cache(maxsize=4)
def _signs(n: int) -> np.ndarray:
    """Return patterns of signs (rows) of n differences; kept, since a table tests many pairs of one n."""
    if n <= _EXACT_UP_TO:
        return 1.0 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    return np.random.default_rng(_DRAW_SEED).choice([-1.0, 1.0], size=(2**_EXACT_UP_TO, n))


def holm(values: Sequence[float] | np.ndarray | pd.Series) -> np.ndarray:
    """Return p-values corrected by Holm (1979) for a family; NaN stay and don't count."""
    p = np.asarray(values, dtype=float)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sort last
    found = np.full(len(p), np.nan)
    found[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return found


def correlation(
    first: Sequence[float] | pd.Series,
    second: Sequence[float] | pd.Series,
    method: Literal["pearson", "spearman"] = "spearman",
) -> float:
    """Return the correlation of ranks, or Pearson's; NaN for fewer than three pairs or a constant side."""
    pairs = pd.DataFrame({"a": np.asarray(first, float), "b": np.asarray(second, float)}).dropna()
    if len(pairs) < 3 or pairs["a"].nunique() < 2 or pairs["b"].nunique() < 2:  # noqa: PLR2004 -- two points fit any line
        return np.nan
    return float(pairs["a"].corr(pairs["b"], method=method))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=whole != 0)
