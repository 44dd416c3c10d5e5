"""Sample the next token from logits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen.

    Attributes:
        temperature: divides the logits; 0 for the most likely token.
        top_p: probability mass of the most likely tokens to sample from, in (0, 1] (nucleus sampling,
            Holtzman et al. 2020).
        seed: random seed; the same seed on the same machine gives the same text.
    """

    temperature: float
    top_p: float
    seed: int


def choose(logits: NDArray[np.float32], sampling: Sampling, draw: np.random.Generator) -> int:
    """Choose the next token.

    Args:
        logits: logits of the vocabulary, float32.
        sampling: sampling parameters.
        draw: random generator; unused at temperature 0.
    """
    if sampling.temperature == 0:
        return int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    shares = np.exp(scaled - scaled.max())
    shares /= shares.sum()
    # Only candidates are sorted: all tokens below this floor together have less than the remaining
    # mass.
    likely = np.flatnonzero(shares >= (1 - sampling.top_p) / len(shares))
    order = likely[np.argsort(-shares[likely], kind="stable")]
    sums: NDArray[np.float64] = np.cumsum(shares[order])
    kept: list[int] = order[: int(np.searchsorted(sums, sampling.top_p)) + 1].tolist()
    at = draw.random() * float(sums[len(kept) - 1])
    # Due to rounding, `at` may equal the last sum.
    return kept[min(int(np.searchsorted(sums, at, side="right")), len(kept) - 1)]
