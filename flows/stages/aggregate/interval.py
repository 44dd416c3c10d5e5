"""Percentile bootstrap over scenarios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from flows.common.errors import ConfigError
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Interval

_EXACT_UP_TO = 10  # scenarios; 92,378 distinct resamples there, 1.4 million at twelve
_DRAW_SEED = 20_261_019  # any fixed number: equal scores give equal intervals
_NO_WIDTH = 1e-9  # what rounding leaves between equal means
_DRAW_COLUMNS = 1_000  # resamples held in memory at once


def bootstrap(values: Sequence[float], scoring: ScoringSettings) -> Interval | None:
    """Percentile bootstrap interval of the mean of `values` (Efron and Tibshirani 1993, chapter 13).

    Up to ten values, all n^n resamples are taken, each multiset of values once with its multinomial
    weight: there is no draw, and so no seed, in the result. Beyond, `scoring.resamples` are drawn
    with a fixed seed. With k = (1 - level) / 2 of the resamples, rounded up, the ends are the k-th
    smallest and the k-th largest mean.

    Args:
        values: one for each cluster, here each scenario; their order does not matter.
        scoring: level, and number of resamples.

    Returns:
        None for fewer than two values: one says nothing about how far another would lie.

    Raises:
        ConfigError: the level is not within (0, 1), or there are no resamples to draw.
    """
    level = scoring.interval_level
    if not 0 < level < 1:
        raise ConfigError("scoring.interval_level", str(level), "a number between 0 and 1")
    if scoring.resamples < 1:
        raise ConfigError("scoring.resamples", str(scoring.resamples), "at least 1")
    n = len(values)
    if n < 2:  # noqa: PLR2004 -- a spread takes two
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if n <= _EXACT_UP_TO:
        counts, weights = _multisets(n)
        # Added up column by column, in one order: a matrix product's last bits differ between machines.
        means = sum((counts[:, k] * ordered[k] for k in range(n)), np.zeros(len(counts))) / n
        how = "exact"
    else:
        means, weights = _drawn_means(ordered, scoring.resamples), np.ones(scoring.resamples, dtype=np.int64)
        how = f"{scoring.resamples:,} resamples"
    # Rounding must not take a mean of equal values past them.
    means = np.clip(means, ordered[0], ordered[-1])
    order = np.argsort(means, kind="stable")
    means, weights = means[order], weights[order]
    total = int(weights.sum())
    # The small shift keeps a rank that is a whole number from being rounded up for its last bit.
    rank = max(1, math.ceil((1 - level) / 2 * total * (1 - 1e-12)))
    low = means[np.searchsorted(np.cumsum(weights), rank)]
    high = means[::-1][np.searchsorted(np.cumsum(weights[::-1]), rank)]
    name = f"bootstrap percentile over scenarios, {how}, {level * 100:g}%"
    return Interval(float(low), float(high), name)


def most_unlike(interval: Interval | None, n_scenarios: int, level: float) -> float | None:
    """One-sided upper bound on the share of scenarios that score otherwise, where all scored alike.

    A bootstrap of equal values has no width and says nothing of what was not sampled. The rule of three does:
    none of n scenarios differed, so at 95% at most 3/n of all do (Hanley and Lippman-Hand 1983). At another
    level 3 becomes -ln(1 - level), to one decimal.

    Returns:
        Within (0, 1]; None where there is no interval, or one with a width.
    """
    if interval is None or interval.high - interval.low > _NO_WIDTH:
        return None
    return min(1.0, round(-math.log(1 - level), 1) / n_scenarios)


@lru_cache(maxsize=4)
def _multisets(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Every way to draw n of n with replacement, order aside.

    Returns:
        How often each value is drawn, (C(2n-1, n), n), and in how many of the n^n ordered resamples,
        (C(2n-1, n),): n! over the product of the factorials of the counts. Whole, as int64 holds
        10^10.
    """
    drawn = np.array(list(combinations_with_replacement(range(n), n)), dtype=np.int64)
    counts = np.zeros((len(drawn), n), dtype=np.int64)
    np.add.at(counts, (np.arange(len(drawn))[:, None], drawn), 1)
    factorials = np.array([math.factorial(k) for k in range(n + 1)], dtype=np.int64)
    weights = math.factorial(n) // factorials[counts].prod(axis=1)
    counts = counts.astype(np.float64)
    counts.flags.writeable = weights.flags.writeable = False  # shared by every later call
    return counts, weights


def _drawn_means(ordered: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    """Means of `resamples` resamples of the values, (resamples,)."""
    generator = np.random.Generator(np.random.PCG64(_DRAW_SEED))
    parts: list[NDArray[np.float64]] = []
    for start in range(0, resamples, _DRAW_COLUMNS):
        columns = min(_DRAW_COLUMNS, resamples - start)
        # One column a resample: its values are added in one order, whatever the processor.
        drawn = ordered[generator.integers(0, len(ordered), (len(ordered), columns))]
        parts.append(drawn.sum(axis=0) / len(ordered))
    return np.concatenate(parts)
