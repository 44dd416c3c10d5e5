"""The order in which items are shown, and what an item's place does to its verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flows.common.digests import sha256_text
from flows.schema.scenario import Item


def shown_order(items: Sequence[Item], repeat: int) -> tuple[Item, ...]:
    """Return the items as one repeat of a judge is shown them: the first in file order, others shuffled.

    So the disagreement among repeats includes what the order does. A shuffled order depends only on the ids
    and the number of the repeat: it is the same for every brief, so that a provider can cache the rubric.

    Args:
        items: in file order.
        repeat: number of the repeat, from 1.
    """
    if repeat == 1:
        return tuple(items)
    return tuple(sorted(items, key=lambda item: sha256_text(f"{repeat} {item.item_id}")))


def place_effect(gradings: Sequence[Sequence[tuple[float, bool]]]) -> float | None:
    """Return the change in the share of passes from the first place in the rubric to the last.

    It is the least-squares slope of passes on places within items: each item is compared with itself at
    another place, so that easy items at the top do not count.

    Args:
        gradings: for each item of a brief its place, from 0 to 1, and whether it passed, by repeat.

    Returns:
        A difference of shares; None if no item was graded at two places.
    """
    products: list[float] = []
    squares: list[float] = []
    for own in gradings:
        if not own:
            continue
        mean_place = math.fsum(place for place, _ in own) / len(own)
        mean_passed = sum(passed for _, passed in own) / len(own)
        products += [(place - mean_place) * (passed - mean_passed) for place, passed in own]
        squares += [(place - mean_place) ** 2 for place, _ in own]
    spread = math.fsum(squares)
    return math.fsum(products) / spread if spread > 0 else None
