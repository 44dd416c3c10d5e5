"""What a rubric's author should look at again: shares of classes, thin evidence, near-duplicates."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from flows.schema.scenario import MA_BENCH, Dimensions, Item, Tier

ALIKE = 0.9
"""Share of equal text from which two items are reported; ours."""
_SMALLEST = 0.02  # share of the smallest severity class in the paper's corpus
_POINTS_TO = re.compile(
    r"\b(?:as|like|what is|which is|that is) (?:it is )?(?:stated|given|listed|shown|described|set out"
    r"|specified|laid down|written|named|defined) (?:in|at|by) "
    r"|\b(?:see|refer to|consult|according to) (?:the )?(?:documents?|packet|files?|attachments?|annex(?:es)?"
    r"|appendix|tables?|sources?|\S+\.(?:docx|pdf|xlsx|csv|eml|txt|md))\b"
    r"|\bsame as (?:in )?the (?:document|packet|table|file|source)\b",
    re.IGNORECASE,
)
"""Words that send a grader to the packet, which no grader has. Found in none of the shipped rubrics."""
_CONSEQUENCES = {
    "tier": "no item has a tier: tables have no rows by tier",
    "step": "no item has a step: tables have no rows by step",
    "severity": "no item has a severity: each weighs by its points (scoring=points)",
    "pass_condition": "no item has a pass condition: the judge decides by the requirement alone",
    "ground_truth": "no item has a ground truth: the judge can't tell a wrong figure from a right one",
    "source": "no item has a quote: validate can't hold the rubric against the documents",
}
_FEW = 20  # items; of fewer, shares say nothing


def rubric_notes(items: Sequence[Item], dimensions: Dimensions = MA_BENCH) -> list[str]:
    """One sentence for each finding; empty where there is nothing to look at.

    Nothing here is a fault: a rubric of one's own may have other proportions.

    Criteria with points of their own are passed over.
    """
    classed = [item for item in items if item.points is None]
    found = [*_shares(classed, dimensions), *_thin(classed), *_alike(classed)] if classed else []
    return [*found, *_undecided([item for item in items if not item.is_criterion], dimensions)]


def absent_notes(items: Sequence[Item], dimensions: Dimensions) -> list[str]:
    """One sentence for each optional field that no item has: what that costs."""
    if not items:
        return []
    lacking = [name for name in dimensions.optional if all(not getattr(item, name) for item in items)]
    return [_CONSEQUENCES[name] for name in lacking if name in _CONSEQUENCES]


def _undecided(items: Sequence[Item], dimensions: Dimensions) -> Iterator[str]:
    """Name items that a grader, who never sees the packet, can't decide."""
    if "ground_truth" in dimensions.optional and any(item.ground_truth for item in items):
        without = [item.item_id for item in items if not item.ground_truth]
        if without:
            yield f"without a ground truth, which a grader has instead of the packet: {', '.join(without)}"
    pointing = [
        item.item_id
        for item in items
        if _POINTS_TO.search(f"{item.requirement}\n{item.ground_truth}\n{item.pass_condition}")
    ]
    if pointing:
        yield f"refers to the packet, which no grader sees, instead of saying it: {', '.join(pointing)}"


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
