"""What a rubric's author should look at again: shares of classes, thin evidence, near-duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from flows.schema.scenario import MA_BENCH, Dimensions, Item, Tier

ALIKE = 0.9
"""Share of equal text from which two items are reported; ours."""
_SMALLEST = 0.02  # share of the smallest severity class in the paper's corpus
_FEW = 20  # items; of fewer, shares say nothing


def rubric_notes(items: Sequence[Item], dimensions: Dimensions = MA_BENCH) -> list[str]:
    """One sentence for each finding; empty where there is nothing to look at.

    Nothing here is a fault: a rubric of one's own may have other proportions.

    Args:
        items: of one rubric; criteria with points of their own are passed over.
        dimensions: of its benchmark.
    """
    classed = [item for item in items if item.points is None]
    return [*_shares(classed, dimensions), *_thin(classed), *_alike(classed)] if classed else []


def _shares(items: Sequence[Item], dimensions: Dimensions) -> Iterator[str]:
    if len(items) < _FEW:
        return
    missing = [step for step in dimensions.steps if step not in {item.step for item in items}]
    if missing:
        yield f"no item on {', '.join(missing)}"
    for severity, count in sorted(Counter(item.severity for item in items).items(), key=str):
        if severity is not None and count / len(items) < _SMALLEST:
            yield f"{count} of {len(items)} items are {severity}: under {_SMALLEST:.0%}"


def _thin(items: Sequence[Item]) -> Iterator[str]:
    thin = [
        item.item_id
        for item in items
        if item.tier == Tier.synthesis and len({source.document for source in item.source}) < 2  # noqa: PLR2004 -- a synthesis
    ]
    if thin:
        yield f"tier 2 with evidence of one document alone: {', '.join(thin)}"


def _alike(items: Sequence[Item]) -> Iterator[str]:
    texts = [(item.item_id, f"{item.requirement} {item.ground_truth}") for item in items]
    for (one, left), (other, right) in combinations(texts, 2):
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
            continue
        if (ratio := matcher.ratio()) >= ALIKE:
            yield f"{one} and {other} are {ratio:.0%} alike"
