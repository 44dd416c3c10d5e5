"""How long to wait before a further try."""

from __future__ import annotations

import random
from dataclasses import dataclass

MAX_RETRY_AFTER_S = 600.0
"""Longest pause that an endpoint may ask for; after it, it is asked again."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses between the tries of one call.

    Attributes:
        first_s: ceiling of the first pause, in seconds; doubled at each further one.
        longest_s: ceiling of every pause.
        rng: source of the jitter.
    """

    first_s: float
    longest_s: float
    rng: random.Random

    def after(self, tries: int, retry_after_s: float | None) -> float:
        """Seconds to wait after `tries` faults of a kind.

        Exponential, with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015); never
        shorter than what the endpoint asks for, up to `MAX_RETRY_AFTER_S`.
        """
        ceiling = min(self.longest_s, self.first_s * 2 ** min(tries - 1, 30))
        if retry_after_s is None:
            return self.rng.uniform(0.0, ceiling)
        # What was throttled together must not come back together.
        return min(retry_after_s, MAX_RETRY_AFTER_S) + self.rng.uniform(0.0, min(ceiling, self.first_s))
