"""A brief cut into sentences once, and the best stretch of it for a target."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flows.schema.scenario import Item, Step
from flows.stages.offline.certainty import clauses
from flows.stages.offline.quantities import Quantity, derived_match, same, scan
from flows.stages.offline.text import plain, sentences, strip_citations
from flows.stages.offline.words import canonical, join_phrases

_QUANTITY_WEIGHT = 2.0
_LEAST_WEIGHT = 0.5  # of a word that stands in every sentence, against at most 1.5 for a rare one
_LENGTH_PRICE = 0.02  # of a share, per further sentence: of two equal windows the shorter is the better
_FEW = 50  # sentences below which a brief says nothing about how common a word is
_QUOTE = 240
_PREFIX = 5
_MISSION = re.compile(r"\bmission(?: statement)?\W*$|\b(?:proposed|restated) mission\b", re.IGNORECASE)
_OR_LIST = re.compile(r"\b[a-z-]+(?:, [a-z-]+)*,? or [a-z-]+\b")
_BETWEEN = re.compile(r",? or |, ")
_ALIKE = 0.7  # share of the longer word that two words begin with in common


@dataclass(frozen=True, slots=True)
class Target:
    """What is looked for: words in their common form and quantities, each once.

    Attributes:
        keys: words, in the order of the text.
        quantities: in the order of the text.
        weights: one for each word, then one for each quantity.
    """

    keys: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, *texts: str) -> Target:
        """The words and quantities of all `texts`, each word as heavy as any other."""
        return cls.weighed(*((text, 1.0) for text in texts))

    @classmethod
    @lru_cache(maxsize=4096)  # a sweep grades hundreds of briefs by the same items
    def weighed(cls, *texts: tuple[str, float]) -> Target:
        """The words and quantities of all texts, citations stripped.

        A word weighs the sum over the texts that hold it.
        """
        keys: dict[str, float] = {}
        quantities: list[Quantity] = []
        heavy: list[float] = []
        for text, weight in texts:
            rest, either = _alternatives(join_phrases(strip_citations(plain(text))))
            found, numbers = _read(rest)
            for key in dict.fromkeys((*found, *either)):
                keys[key] = keys.get(key, 0.0) + weight
            for number in numbers:
                if number.loose:
                    continue
                place = next((n for n, known in enumerate(quantities) if same(number, known)), None)
                if place is None:
                    quantities.append(number)
                    heavy.append(weight)
                else:
                    heavy[place] += weight
        return cls(tuple(keys), tuple(quantities), (*keys.values(), *heavy))

    def without_keys(self, keys: frozenset[str]) -> Target:
        """This target less some words."""
        kept = [n for n, key in enumerate(self.keys) if key not in keys]
        weights = (*(self.weights[n] for n in kept), *self.weights[len(self.keys) :])
        return Target(tuple(self.keys[n] for n in kept), self.quantities, weights)

    def without(self, other: Target) -> Target:
        """What is in this target and not in `other`."""
        rest = self.without_keys(frozenset(other.keys))
        own = [
            n for n, q in enumerate(self.quantities) if not any(same(q, known) for known in other.quantities)
        ]
        weights = (*rest.weights[: len(rest.keys)], *(self.weights[len(self.keys) + n] for n in own))
        return Target(rest.keys, tuple(self.quantities[n] for n in own), weights)

    def __bool__(self) -> bool:
        return bool(self.keys or self.quantities)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a brief and how much of a target is in it.

    Attributes:
        first, last: numbers of its sentences.
        coverage: weight of what was found over the weight of the target, 0 to 1.
        missing: words of the target that are not in it.
    """

    first: int
    last: int
    coverage: float
    missing: tuple[str, ...]


def _read(text: str) -> tuple[list[str], list[Quantity]]:
    keys: list[str] = []
    quantities: list[Quantity] = []
    for token in scan(join_phrases(text)):
        if isinstance(token, str):
            keys.extend(canonical(token))
        else:
            quantities.append(token)
    return keys, quantities


def _alternatives(text: str) -> tuple[str, list[str]]:
    """`text` without its lists of words joined by "or", and one key for each list.

    Any word of "clearing, seizing or holding" will do, so the list weighs as one word. Its key is its
    words' keys with bars between.
    """
    lists: list[str] = []

    def take(match: re.Match[str]) -> str:
        words = [key for word in _BETWEEN.split(match[0]) for key in canonical(word)]
        if len(words) < 2 or any(c.isdigit() for c in match[0]):  # noqa: PLR2004 -- one word is no list
            return match[0]
        lists.append("|".join(dict.fromkeys(words)))
        return " , "

    return _OR_LIST.sub(take, text), lists


class BriefIndex:
    """A brief, read once for all items.

    Attributes:
        sentences: lower-case text of each, plain and without citations.
        quantities: of each sentence.
    """

    def __init__(self, text: str) -> None:
        parts = sentences(text)
        self.sentences: Sequence[str] = [part.text.lower() for part in parts]
        self._written = [part.text for part in parts]
        self._sections = [part.section for part in parts]
        self.quantities: list[list[Quantity]] = []
        # Headings count as said of what stands below them: "Constraints" over a list of three.
        context = {part.context: frozenset(_read(part.context)[0]) for part in parts}
        self._postings: dict[str, set[int]] = {}
        self._affirmed: list[frozenset[str]] = []
        self._numbers: list[tuple[int, Quantity]] = []
        for number, part in enumerate(parts):
            keys, quantities = _read(part.text)
            self.quantities.append(quantities)
            self._numbers.extend((number, q) for q in quantities)
            for key in context[part.context].union(keys):
                self._postings.setdefault(key, set()).add(number)
            affirmed = " ; ".join(yes for yes, _ in clauses(self.sentences[number]))
            self._affirmed.append(frozenset(_read(affirmed)[0]) | context[part.context])
        self._mission = frozenset(n for n, part in enumerate(parts) if _MISSION.search(part.context))
        self._prefixes: dict[str, list[str]] = {}
        for key in self._postings:
            self._prefixes.setdefault(key[:_PREFIX], []).append(key)

    def text(self, window: Window, *, beyond: int = 0) -> str:
        """The window's sentences, lower case, and `beyond` more of its section after them."""
        last = window.last
        while beyond and last + 1 < len(self.sentences) and self._sections[last + 1] == self._sections[last]:
            last, beyond = last + 1, beyond - 1
        return " ".join(self.sentences[window.first : last + 1])

    def place(self, item: Item) -> frozenset[int] | None:
        """Numbers of the sentences that an item is about; None for all of them.

        An item that speaks of "the mission statement" is looked for under the heading that names the
        mission, where the brief has one.
        """
        if item.step is not Step.mission_statement or not self._mission:
            return None
        return self._mission

    def quote(self, window: Window) -> str:
        """The window's sentences as written, shortened."""
        text = " ".join(self._written[window.first : window.last + 1])
        return text if len(text) <= _QUOTE else text[: _QUOTE - 3] + "..."

    def best(
        self, target: Target, *, longest: int, affirmed: bool = False, only: frozenset[int] | None = None
    ) -> Window | None:
        """The stretch of at most `longest` sentences of one section that covers most of `target`.

        Args:
            target: what is looked for.
            longest: sentences in a window.
            affirmed: count only words outside the reach of a denial.
            only: numbers of the sentences to look at; None for all.

        Returns:
            The window; None where brief or target is empty. Of equals the shortest, then the first.
        """
        if not target or not self.sentences:
            return None
        weights = self._weights(target)
        total = sum(weights)
        masks = self._masks(target, affirmed=affirmed)
        shares: dict[int, float] = {}
        best = (-1.0, 0, 0, 0)
        for first in range(len(masks)):
            mask = 0
            for last in range(first, min(first + longest, len(masks))):
                if self._sections[last] != self._sections[first] or (only is not None and last not in only):
                    break
                mask |= masks[last]
                if mask not in shares:
                    shares[mask] = sum(w for bit, w in enumerate(weights) if mask >> bit & 1) / total
                value = shares[mask] - _LENGTH_PRICE * (last - first)
                if value > best[0]:
                    best = (value, first, last, mask)
        _, first, last, mask = best
        missing = tuple(key for bit, key in enumerate(target.keys) if not mask >> bit & 1)
        return Window(first, last, shares[mask], missing)

    def missing_quantities(self, quantities: Sequence[Quantity], window: Window) -> tuple[Quantity, ...]:
        """Those of `quantities` that the window neither gives nor implies."""
        offered = [q for sentence in self.quantities[window.first : window.last + 1] for q in sentence]
        return tuple(
            q for q in quantities if not any(same(q, o) for o in offered) and not derived_match(q, offered)
        )

    def strange_quantities(self, known: Sequence[Quantity], window: Window) -> list[Quantity]:
        """The window's quantities that equal none of `known`."""
        offered = [q for sentence in self.quantities[window.first : window.last + 1] for q in sentence]
        return [q for q in offered if not any(same(one, q) for one in known)]

    def coverage(self, target: Target, window: Window) -> float:
        """The share of `target` that one window covers, 0 for an empty target."""
        if not target:
            return 0.0
        weights = self._weights(target)
        mask = 0
        for one in self._masks(target, affirmed=False)[window.first : window.last + 1]:
            mask |= one
        return sum(w for bit, w in enumerate(weights) if mask >> bit & 1) / sum(weights)

    def _masks(self, target: Target, *, affirmed: bool) -> list[int]:
        """For each sentence, one bit for each part of the target that is in it."""
        masks = [0] * len(self.sentences)
        for bit, key in enumerate(target.keys):
            for other in self._alike(key):
                for number in self._postings[other]:
                    if not affirmed or other in self._affirmed[number]:
                        masks[number] |= 1 << bit
        for bit, wanted in enumerate(target.quantities, len(target.keys)):
            for number, offered in self._numbers:
                if same(wanted, offered):
                    masks[number] |= 1 << bit
        return masks

    def _alike(self, key: str) -> Iterator[str]:
        """The brief's words for `key`: itself or, where it is absent, words that begin like it."""
        for one in key.split("|"):
            if one in self._postings:
                yield one
            elif len(one) > _PREFIX and one.isalpha():
                for other in self._prefixes.get(one[:_PREFIX], ()):
                    if _common(one, other) >= _ALIKE * max(len(one), len(other)):
                        yield other

    def _weights(self, target: Target) -> list[float]:
        """For every part of the target, in the order of the bits of its masks.

        A word weighs its inverse document frequency over the brief's sentences, scaled to 0.5 to 1.5.
        """
        n = max(len(self.sentences), _FEW)
        counts = [sum(len(self._postings.get(one, ())) for one in key.split("|")) for key in target.keys]
        # An absent word weighs what one that stands once does: absence is no sign of rarity.
        words = [
            _LEAST_WEIGHT + math.log((n + 1) / (min(max(c, 1), n) + 1)) / math.log(n + 1) for c in counts
        ]
        rarity = [*words, *([_QUANTITY_WEIGHT] * len(target.quantities))]
        return [one * weight for one, weight in zip(rarity, target.weights, strict=True)]


def _common(one: str, other: str) -> int:
    """Letters that two words begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
