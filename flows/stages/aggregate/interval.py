"""Interval of a mean over scenarios, or their range where they are too few for one."""

import math
from collections.abc import Sequence
from typing import Any

from flows.common.errors import ConfigError
from flows.schema.settings import IntervalMethod, ScoringSettings
from flows.schema.verdict import Interval

FEWEST_SCENARIOS = 6
"""Fewest scenarios for an interval. With five, not even five differences of one sign are significant at 5%
(exact sign test, two-sided: 2 / 2^5); with six they are."""

_DRAW_SEED = 20_261_019  # fixed, so that equal scores give equal intervals
_NO_WIDTH = 1e-9  # rounding error between equal means


def interval_over(values: Sequence[float], scoring: ScoringSettings) -> Interval | None:
    """Compute the interval of the mean of the values.

    - Fewer than six values have no interval: the result is their range, without a level.
    - `t`: mean ± t · s / sqrt(n), with n - 1 degrees of freedom. Its coverage is close to the level even
      for few values, unlike the bootstrap's, which covers about 90% at ten and a level of 95%.
    - `bootstrap`: the percentile bootstrap (Efron and Tibshirani 1993, chapter 13), of
      `scoring.resamples` resamples drawn with a fixed seed.

    The values are one per cluster (scenario), in any order.

    Returns:
        None for fewer than two values, which have no spread.

    Raises:
        ConfigError: the level is not within (0, 1), or the number of resamples is below 2.
    """
    level = scoring.interval_level
    if not 0 < level < 1:
        raise ConfigError("scoring.interval_level", str(level), "a number between 0 and 1")
    if scoring.resamples < 2:  # noqa: PLR2004 -- a bootstrap compares resamples
        raise ConfigError("scoring.resamples", str(scoring.resamples), "2 or more")
    n = len(values)
    if n < 2:  # noqa: PLR2004 -- a spread takes two
        return None
    low, high = min(values), max(values)
    if n < FEWEST_SCENARIOS:
        return Interval(low, high, f"range of {n} scenarios")
    name = f"{100 * level:g}% over scenarios"
    if scoring.interval is IntervalMethod.t:
        name = f"t, {name}"
        if high - low > _NO_WIDTH:
            low, high = _t_interval(values, level)
    else:
        name = f"percentile bootstrap, {name}, {scoring.resamples:,} resamples"
        if high - low > _NO_WIDTH:
            low, high = _bootstrap(values, level, scoring.resamples)
    return Interval(low, high, name, level)


def _t_interval(values: Sequence[float], level: float) -> tuple[float, float]:
    from scipy.special import stdtrit  # slow import

    n = len(values)
    mean = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    margin = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return mean - margin, mean + margin


def _bootstrap(values: Sequence[float], level: float, resamples: int) -> tuple[float, float]:
    # Slow imports.
    import numpy as np
    from scipy import stats

    found: Any = stats.bootstrap(  # pyright: ignore[reportUnknownMemberType] -- untyped
        (np.asarray(sorted(values), dtype=np.float64),),  # sorted: the order of scenarios must not matter
        np.mean,
        n_resamples=resamples,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(_DRAW_SEED),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def most_unlike(interval: Interval | None, n_scenarios: int) -> float | None:
    """Return a one-sided upper bound on the share of scenarios that score differently, if all score alike.

    An interval of equal values has no width and ignores unsampled scenarios. The rule of three does not:
    none of n scenarios differed, so at 95% at most 3/n of all do (Hanley and Lippman-Hand 1983). At another
    level 3 becomes -ln(1 - level), to one decimal.

    Returns:
        A share in (0, 1]; None if there is no interval, only a range, or it has a width.
    """
    if interval is None or interval.level is None or interval.high - interval.low > _NO_WIDTH:
        return None
    return min(1.0, round(-math.log(1 - interval.level), 1) / n_scenarios)
