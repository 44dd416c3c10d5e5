"""From the scores of all tokens to the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen.

    Attributes:
        temperature: 0 takes the likeliest token; else the logits are divided by it.
        top_p: the likeliest tokens are kept until they hold this share, within (0, 1] (nucleus
            sampling, Holtzman et al. 2020).
        seed: of the draws; the same seed on the same machine gives the same text.
    """

    temperature: float
    top_p: float
    seed: int


def choose(logits: NDArray[np.float32], sampling: Sampling, draw: np.random.Generator) -> int:
    """The next token.

    Args:
        logits: of every token, float32, length of the vocabulary.
        sampling: how.
        draw: where chance comes from; untouched at temperature 0.
    """
    if sampling.temperature == 0:
        return int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    shares = np.exp(scaled - scaled.max())
    shares /= shares.sum()
    # Only what can be among them is sorted: all tokens below this floor together hold less than
    # what is left over.
    likely = np.flatnonzero(shares >= (1 - sampling.top_p) / len(shares))
    order = likely[np.argsort(-shares[likely], kind="stable")]
    sums: NDArray[np.float64] = np.cumsum(shares[order])
    kept: list[int] = order[: int(np.searchsorted(sums, sampling.top_p)) + 1].tolist()
    at = draw.random() * float(sums[len(kept) - 1])
    # Rounding may put `at` on the last sum itself.
    return kept[min(int(np.searchsorted(sums, at, side="right")), len(kept) - 1)]
