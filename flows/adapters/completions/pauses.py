"""Pauses between tries."""

from __future__ import annotations

import random
from dataclasses import dataclass

MAX_RETRY_AFTER_S = 600.0
"""Longest pause that an endpoint may request, in seconds."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses between the tries of one call.

    Attributes:
        first_s: maximum of the first pause, in seconds; doubled each time.
        longest_s: maximum of every pause, in seconds.
        rng: source of the jitter.
    """

    first_s: float
    longest_s: float
    rng: random.Random

    def after(self, tries: int, retry_after_s: float | None) -> float:
        """Return the seconds to wait after `tries` faults of a kind.

        Exponential, with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015); never
        shorter than requested by the endpoint, up to `MAX_RETRY_AFTER_S`.
        """
        ceiling = min(self.longest_s, self.first_s * 2 ** min(tries - 1, 30))
        if retry_after_s is None:
            return self.rng.uniform(0.0, ceiling)
        # Calls throttled together must not retry together.
        return min(retry_after_s, MAX_RETRY_AFTER_S) + self.rng.uniform(0.0, min(ceiling, self.first_s))
