"""Detect swapped numbers: "three killed and seven wounded" instead of seven and three."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from flows.stages.offline.quantities import Quantity, same, scan
from flows.stages.offline.words import canonical, join_phrases

_REACH = 2
_STOPS = ("and",)

Counted = tuple[Quantity, frozenset[str]]


def counted(text: str) -> list[Counted]:
    """Return every quantity of a plain text with the words for what it counts.

    These are the next two content words, up to an "and" or the next quantity; if there are none ("killed
    three and wounded seven"), the two before.
    """
    tokens = scan(join_phrases(text))
    found: list[Counted] = []
    for place, token in enumerate(tokens):
        if not isinstance(token, str):
            after = _words(tokens[place + 1 :])
            found.append((token, frozenset(after or _words(tokens[:place][::-1]))))
    return found


def _words(tokens: Sequence[str | Quantity]) -> list[str]:
    keys: list[str] = []
    for token in tokens:
        if not isinstance(token, str) or token in _STOPS or len(keys) >= _REACH:
            break
        keys.extend(canonical(token))
    return keys


def swapped(truth: Sequence[Counted], said: Sequence[Counted]) -> tuple[Quantity, Quantity] | None:
    """Return two quantities of `truth` that are swapped in `said`; None if there are none.

    Only a full swap counts: each number refers to the other's thing and never to its own.
    """
    for (one, its), (other, others) in combinations(truth, 2):
        if same(one, other):
            continue
        says_one = [words for quantity, words in said if same(one, quantity)]
        says_other = [words for quantity, words in said if same(other, quantity)]
        own, foreign = its - others, others - its
        if _only(says_one, foreign, own) and _only(says_other, own, foreign):
            return one, other
    return None


def _only(said: Sequence[frozenset[str]], wrong: frozenset[str], right: frozenset[str]) -> bool:
    return any(words & wrong for words in said) and not any(words & right for words in said)
