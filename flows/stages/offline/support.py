"""Find what supports a criterion in the expert's report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flows.stages.offline import certainty
from flows.stages.offline.asked_numbers import Group
from flows.stages.offline.criteria import Asked
from flows.stages.offline.index import Target
from flows.stages.offline.quantities import Quantity, same
from flows.stages.offline.report_index import ReportIndex, Stretch, denied
from flows.stages.offline.swaps import Counted
from flows.stages.offline.words import DOUBT_KEYS

LONGEST = 3
"""Maximum sentences in a passage."""

LENGTH_PRICE = 0.02
"""Subtracted from the share per extra sentence, to prefer the shorter of equal passages."""

_DENIED = 2.0  # weight of a word denied by both criterion and expert, where the denial matters
_NAME = 2.5  # weight of a name such as 31-1-03
_BONUS = 0.35  # weight of a word of the criterion that the expert does not use
_SAME_MATTER = 0.5  # share of a criterion's words
_ASKS_FOR_NUMBER = re.compile(
    r"\b(?:the (?:date|day|time|number|count|total|share|percentage|rate|cost|price|deadline|figures?)"
    r"|how (?:many|much|long|far)|by when|a (?:date|deadline|number|figure))\b"
)


Beside = tuple[tuple[Quantity, frozenset[str]], ...]
"""Numbers that are given together, each with words of which one must be in its sentence."""


@dataclass(frozen=True, slots=True)
class Support:
    """What supports a criterion in the expert's report, which a report is measured by.

    Attributes:
        asked: the criterion.
        target: its words, without quantities.
        weights: one for each word.
        stretch: its passage in the expert's report.
        share: weight of the words in that passage.
        words: all words of that passage.
        numbers: what a passage must give: one alternative of every group.
        apart: as `numbers`, for those that the expert gives elsewhere, each with adjacent words of
            the criterion.
        heads: True if small numbers must refer to something in the criterion.
        denied, affirmed: words that the passage plainly denies, or has and does not deny.
        checks: names of further checks that the passage passes.
        said: the passage in lower case, with its context.
        counted: its quantities, with the words for what each counts.
    """

    asked: Asked
    target: Target
    weights: tuple[float, ...]
    stretch: Stretch
    share: float
    words: frozenset[str]
    numbers: tuple[Group, ...]
    apart: tuple[tuple[Beside, ...], ...]
    heads: bool
    denied: frozenset[str]
    affirmed: frozenset[str]
    checks: frozenset[str]
    said: str
    counted: tuple[Counted, ...]


def bare_support(asked: Asked, reference: ReportIndex, whole: ReportIndex) -> Support | None:
    """Return what the expert's report says about a criterion; None if it has no word or number of it.

    The passage of up to three sentences with most of the criterion's numbers, then most of its words, is
    used. `heads` and `checks` are left empty.

    Args:
        asked: the criterion.
        reference: the part of the expert's report that is compared.
        whole: all of it, which says how rare a word is.
    """
    target = asked.target
    if certainty.asks_for_doubt(asked.words):
        target = target.without_keys(DOUBT_KEYS)
    target = Target(target.keys, (), target.weights[: len(target.keys)])
    rarity = whole.rarity(target)
    total = sum(rarity) or 1.0
    best: tuple[float, Stretch] | None = None
    for stretch in reference.stretches(target, longest=LONGEST):
        given = sum(1 for group in asked.numbers if given_group(group, reference, stretch))
        value = given + share_of(stretch.mask, rarity) / total - LENGTH_PRICE * (stretch.last - stretch.first)
        if best is None or value > best[0]:
            best = (value, stretch)
    if best is None or best[0] <= 0:
        return None
    stretch = best[1]
    not_so = _plainly_denied(asked, reference, stretch)
    weights = [
        w * _importance(key, not_so) if stretch.mask >> bit & 1 else _BONUS * w
        for bit, (key, w) in enumerate(zip(target.keys, rarity, strict=True))
    ]
    numbers, elsewhere = _calibrated(asked.numbers, reference, stretch)
    if not asked.numbers and _ASKS_FOR_NUMBER.search(asked.words):
        numbers = tuple(((q,),) for q in reference.offered(stretch) if not q.loose)
    words = reference.words(stretch)
    return Support(
        asked=asked,
        target=target,
        weights=tuple(weights),
        stretch=stretch,
        share=share_of(stretch.mask, weights),
        words=words,
        numbers=numbers,
        apart=tuple(found for group in elsewhere if (found := _beside(group, target, reference))),
        heads=False,
        denied=not_so,
        affirmed=_plainly_affirmed(asked, target, reference, stretch),
        checks=frozenset(),
        said=reference.said(stretch),
        counted=tuple(reference.counted(stretch)),
    )


def share_of(mask: int, weights: Sequence[float]) -> float:
    """Return the weight of the words in a mask."""
    return sum(w for bit, w in enumerate(weights) if mask >> bit & 1)


def given_group(group: Group, report: ReportIndex, stretch: Stretch) -> bool:
    """True if a passage gives all of one alternative."""
    return any(all(report.gives(q, stretch) for q in alternative) for alternative in group)


def _calibrated(
    groups: Sequence[Group], reference: ReportIndex, stretch: Stretch
) -> tuple[tuple[Group, ...], list[Group]]:
    """Return the groups that the passage satisfies, and the others."""
    kept: list[Group] = []
    elsewhere: list[Group] = []
    for group in groups:
        if given_group(group, reference, stretch):
            kept.append(group)
            continue
        given = tuple(q for q in group[0] if reference.gives(q, stretch))
        if given:
            kept.append((given,))
        elsewhere.append(tuple(tuple(q for q in each if q not in given) for each in group))
    return tuple(kept), elsewhere


def _beside(group: Group, target: Target, reference: ReportIndex) -> tuple[Beside, ...]:
    """Return the alternatives of which the expert gives every number next to words of the target."""
    found: list[Beside] = []
    for alternative in group:
        pairs = tuple((q, _words_beside(q, target, reference)) for q in alternative)
        if pairs and all(words for _, words in pairs):
            found.append(pairs)
    return tuple(found)


def _words_beside(wanted: Quantity, target: Target, reference: ReportIndex) -> frozenset[str]:
    """Return the words of the target in the expert's sentence with the number and most of them."""
    best: frozenset[str] = frozenset()
    for number, keys in enumerate(reference.keys):
        beside = keys & frozenset(target.keys)
        if len(beside) > len(best) and any(same(wanted, q) for q in reference.quantities[number]):
            best = beside
    return best


def _importance(key: str, not_so: frozenset[str]) -> float:
    if key in not_so:
        return _DENIED
    return _NAME if key[0] == "n" and key[1:].isdigit() else 1.0


def _plainly_denied(asked: Asked, reference: ReportIndex, stretch: Stretch) -> frozenset[str]:
    both = denied(asked.words, without=True)
    return frozenset(key for key in both if reference.only_denied(key, stretch))


def _plainly_affirmed(
    asked: Asked, target: Target, reference: ReportIndex, stretch: Stretch
) -> frozenset[str]:
    """Return words that the passage affirms and the expert denies nowhere on the same subject."""
    elsewhere: set[str] = set()
    for number, words in enumerate(reference.denied):
        for key in words.intersection(target.keys):
            others = frozenset(target.keys) - {key}
            if len(others & reference.keys[number]) >= _SAME_MATTER * len(others):
                elsewhere.add(key)
    keys = frozenset(target.keys) - denied(asked.words, without=True) - elsewhere
    return frozenset(key for key in keys if reference.only_denied(key, stretch) is False)
