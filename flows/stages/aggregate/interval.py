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

_EXACT_UP_TO = 10  # scenarios: 92,378 distinct resamples, 1.4 million at twelve
_DRAW_SEED = 20_261_019  # fixed, so that equal scores give equal intervals
_NO_WIDTH = 1e-9  # rounding error between equal means
_DRAW_COLUMNS = 1_000  # resamples held in memory at once


def bootstrap(values: Sequence[float], scoring: ScoringSettings) -> Interval | None:
    """Compute the percentile bootstrap interval of the mean (Efron and Tibshirani 1993, chapter 13).

    Up to ten values, all n^n resamples are enumerated, each multiset once with its multinomial weight, so
    the result depends on no seed. For more values, `scoring.resamples` are drawn with a fixed seed. With
    k = (1 - level) / 2 of the resamples, rounded up, the ends are the k-th smallest and k-th largest mean.

    Args:
        values: one per cluster (scenario), in any order.
        scoring: level, and number of resamples.

    Returns:
        None for fewer than two values, which have no spread.

    Raises:
        ConfigError: the level is not within (0, 1), or the number of resamples is below 1.
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
        # Summed column by column, in a fixed order: the last bits of a matrix product differ by machine.
        means = sum((counts[:, k] * ordered[k] for k in range(n)), np.zeros(len(counts))) / n
        how = "exact"
    else:
        means, weights = _drawn_means(ordered, scoring.resamples), np.ones(scoring.resamples, dtype=np.int64)
        how = f"{scoring.resamples:,} resamples"
    # Rounding must not move a mean of equal values beyond them.
    means = np.clip(means, ordered[0], ordered[-1])
    order = np.argsort(means, kind="stable")
    means, weights = means[order], weights[order]
    total = int(weights.sum())
    # The small shift prevents rounding up a rank that is an integer except for its last bit.
    rank = max(1, math.ceil((1 - level) / 2 * total * (1 - 1e-12)))
    low = means[np.searchsorted(np.cumsum(weights), rank)]
    high = means[::-1][np.searchsorted(np.cumsum(weights[::-1]), rank)]
    name = f"bootstrap percentile over scenarios, {how}, {level * 100:g}%"
    return Interval(float(low), float(high), name)


def most_unlike(interval: Interval | None, n_scenarios: int, level: float) -> float | None:
    """Return a one-sided upper bound on the share of scenarios that score differently, if all score alike.

    A bootstrap of equal values has no width and ignores unsampled scenarios. The rule of three does not:
    none of n scenarios differed, so at 95% at most 3/n of all do (Hanley and Lippman-Hand 1983). At another
    level 3 becomes -ln(1 - level), to one decimal.

    Returns:
        A share in (0, 1]; None if there is no interval or it has a width.
    """
    if interval is None or interval.high - interval.low > _NO_WIDTH:
        return None
    return min(1.0, round(-math.log(1 - level), 1) / n_scenarios)


@lru_cache(maxsize=4)
def _multisets(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Enumerate the multisets of n draws from n values with replacement.

    Returns:
        How often each value is drawn, shape (C(2n-1, n), n), and the number of ordered resamples,
        shape (C(2n-1, n),): n! over the product of the factorials of the counts, exact in int64.
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
    """Return the means of random resamples of the values, shape (resamples,)."""
    generator = np.random.Generator(np.random.PCG64(_DRAW_SEED))
    parts: list[NDArray[np.float64]] = []
    for start in range(0, resamples, _DRAW_COLUMNS):
        columns = min(_DRAW_COLUMNS, resamples - start)
        # One resample per column: its values are added in the same order on every processor.
        drawn = ordered[generator.integers(0, len(ordered), (len(ordered), columns))]
        parts.append(drawn.sum(axis=0) / len(ordered))
    return np.concatenate(parts)
