"""Index a brief's sentences and find the best passage for a target."""

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
_LEAST_WEIGHT = 0.5  # weight of a word in every sentence; at most 1.5 for a rare one
_LENGTH_PRICE = 0.02  # subtracted from the share per extra sentence, to prefer the shorter of equal windows
_FEW = 50  # with fewer sentences a brief says nothing about word frequency
_QUOTE = 240
_PREFIX = 5
_MISSION = re.compile(r"\bmission(?: statement)?\W*$|\b(?:proposed|restated) mission\b", re.IGNORECASE)
_OR_LIST = re.compile(r"\b[a-z-]+(?:, [a-z-]+)*,? or [a-z-]+\b")
_BETWEEN = re.compile(r",? or |, ")
_ALIKE = 0.7  # common prefix as a share of the longer word


@dataclass(frozen=True, slots=True)
class Target:
    """What to search for: canonical words and quantities, each once.

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
        """Build a target from `texts` with equal weights."""
        return cls.weighed(*((text, 1.0) for text in texts))

    @classmethod
    @lru_cache(maxsize=4096)  # cached, as a sweep grades hundreds of briefs by the same items
    def weighed(cls, *texts: tuple[str, float]) -> Target:
        """Build a target from weighted texts, without citations.

        A word's weight is the sum over the texts that contain it.
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
        """Return this target without some words."""
        kept = [n for n, key in enumerate(self.keys) if key not in keys]
        weights = (*(self.weights[n] for n in kept), *self.weights[len(self.keys) :])
        return Target(tuple(self.keys[n] for n in kept), self.quantities, weights)

    def without(self, other: Target) -> Target:
        """Return this target without the parts of `other`."""
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
    """A passage of a brief and how much of a target it covers.

    Attributes:
        first, last: indexes of its first and last sentence.
        coverage: found weight as a share of the target's weight, 0 to 1.
        missing: words of the target that it lacks.
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
    """Remove lists of words joined by "or" from `text`, and return one key per list.

    Any word of "clearing, seizing or holding" is enough, so the list weighs as one word. Its key joins the
    keys of its words with bars.
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
    """A brief, indexed once for all items.

    Attributes:
        sentences: lower-case plain texts without citations.
        quantities: of each sentence.
    """

    def __init__(self, text: str) -> None:
        parts = sentences(text)
        self.sentences: Sequence[str] = [part.text.lower() for part in parts]
        self._written = [part.text for part in parts]
        self._sections = [part.section for part in parts]
        self.quantities: list[list[Quantity]] = []
        # Headings apply to what is below them: "Constraints" over a list of three.
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
        """Return the window's lower-case sentences and up to `beyond` more of its section."""
        last = window.last
        while beyond and last + 1 < len(self.sentences) and self._sections[last + 1] == self._sections[last]:
            last, beyond = last + 1, beyond - 1
        return " ".join(self.sentences[window.first : last + 1])

    def place(self, item: Item) -> frozenset[int] | None:
        """Return the indexes of the sentences that an item is about; None for all.

        An item about "the mission statement" is searched for under the mission heading, if there is one.
        """
        if item.step != Step.mission_statement or not self._mission:
            return None
        return self._mission

    def quote(self, window: Window) -> str:
        """Return the window's sentences as written, shortened."""
        text = " ".join(self._written[window.first : window.last + 1])
        return text if len(text) <= _QUOTE else text[: _QUOTE - 3] + "..."

    def best(
        self, target: Target, *, longest: int, affirmed: bool = False, only: frozenset[int] | None = None
    ) -> Window | None:
        """Find the passage of at most `longest` sentences of one section that covers most of `target`.

        Args:
            target: what to search for.
            longest: maximum sentences in a window.
            affirmed: count only words that are not denied.
            only: indexes of the sentences to search; None for all.

        Returns:
            The window; None if the brief or target is empty. Ties go to the shortest, then the first.
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
        """Return the quantities that the window neither gives nor implies."""
        offered = [q for sentence in self.quantities[window.first : window.last + 1] for q in sentence]
        return tuple(
            q for q in quantities if not any(same(q, o) for o in offered) and not derived_match(q, offered)
        )

    def strange_quantities(self, known: Sequence[Quantity], window: Window) -> list[Quantity]:
        """Return the window's quantities that equal none of `known`."""
        offered = [q for sentence in self.quantities[window.first : window.last + 1] for q in sentence]
        return [q for q in offered if not any(same(one, q) for one in known)]

    def coverage(self, target: Target, window: Window) -> float:
        """Return the share of `target` that a window covers, 0 for an empty target."""
        if not target:
            return 0.0
        weights = self._weights(target)
        mask = 0
        for one in self._masks(target, affirmed=False)[window.first : window.last + 1]:
            mask |= one
        return sum(w for bit, w in enumerate(weights) if mask >> bit & 1) / sum(weights)

    def _masks(self, target: Target, *, affirmed: bool) -> list[int]:
        """Return a bit mask per sentence of the target's parts that it contains."""
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
        """Yield the brief's words for `key`: itself or, if it is absent, words with a similar beginning."""
        for one in key.split("|"):
            if one in self._postings:
                yield one
            elif len(one) > _PREFIX and one.isalpha():
                for other in self._prefixes.get(one[:_PREFIX], ()):
                    if _common(one, other) >= _ALIKE * max(len(one), len(other)):
                        yield other

    def _weights(self, target: Target) -> list[float]:
        """Return a weight for each part of the target, in the order of the mask bits.

        A word's weight is its inverse document frequency over sentences, scaled to 0.5 to 1.5.
        """
        n = max(len(self.sentences), _FEW)
        counts = [sum(len(self._postings.get(one, ())) for one in key.split("|")) for key in target.keys]
        # An absent word weighs as much as one that occurs once: absence does not mean rarity.
        words = [
            _LEAST_WEIGHT + math.log((n + 1) / (min(max(c, 1), n) + 1)) / math.log(n + 1) for c in counts
        ]
        rarity = [*words, *([_QUANTITY_WEIGHT] * len(target.quantities))]
        return [one * weight for one, weight in zip(rarity, target.weights, strict=True)]


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix of two words."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
