"""Index a text by sentences, and find the passage with most of what is searched for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flows.stages.offline.quantities import Quantity, same, scan
from flows.stages.offline.text import plain, sentences, stems, strip_citations

_LONGEST = 3  # sentences in a passage
_MOST_WORDS = 75  # of a passage with several: a heap of the right words is no statement
_QUANTITY = 2.0  # weight of a number; a word has 0.5 if every sentence has it, at most 1.5 if few do
_LENGTH_PRICE = 0.02  # subtracted from the share per further sentence, to prefer the shorter of equals
_FEW = 50  # with fewer sentences a text says nothing about how rare a word is
_QUOTE = 240


@dataclass(frozen=True, slots=True)
class Target:
    """What to search for: stems and quantities, each once, with weights."""

    words: Mapping[str, float]
    quantities: Sequence[tuple[Quantity, float]]

    @classmethod
    @lru_cache(maxsize=4096)  # a sweep grades hundreds of briefs by the same items
    def of(cls, *texts: tuple[str, float]) -> Target:
        """Build a target from weighted texts. A part of several texts has the sum of their weights."""
        words: dict[str, float] = {}
        quantities: list[tuple[Quantity, float]] = []
        for text, weight in texts:
            found, numbers = read(strip_citations(plain(text)))
            for word in dict.fromkeys(found):
                words[word] = words.get(word, 0.0) + weight
            for number in numbers:
                known = next((n for n, (one, _) in enumerate(quantities) if same(number, one)), None)
                if known is None:
                    quantities.append((number, weight))
                else:
                    quantities[known] = (quantities[known][0], quantities[known][1] + weight)
        return cls(words, quantities)


@dataclass(frozen=True, slots=True)
class Passage:
    """One to three sentences of one section."""

    # first, last: indexes of its first and last sentence.
    first: int
    last: int
    share: float  # found weight as a share of the target's, 0 to 1
    missing: Sequence[str]  # words of the target that it lacks


def read(text: str) -> tuple[list[str], list[Quantity]]:
    """Return the stems and the quantities of a plain text, in order."""
    words: list[str] = []
    quantities: list[Quantity] = []
    for token in scan(text):
        if isinstance(token, str):
            words.extend(stems(token))
        else:
            quantities.append(token)
    return words, quantities


class TextIndex:
    """A text, indexed once for all items.

    Attributes:
        sentences: as written, without citations and Markdown.
        contexts: for each sentence, its headings or column names.
        sections: for each sentence, the number of its section.
    """

    def __init__(self, text: str) -> None:
        parts = sentences(text)
        self.sentences: Sequence[str] = [part.text for part in parts]
        self.contexts: Sequence[str] = [part.context for part in parts]
        self.sections: Sequence[int] = [part.section for part in parts]
        self._quantities: list[list[Quantity]] = []
        self._places: dict[str, set[int]] = {}
        for number, part in enumerate(parts):
            words, quantities = read(part.text)
            self._quantities.append(quantities)
            # Headings apply to what is below them: "Constraints" over a list of three.
            for word in (*words, *read(part.context)[0]):
                self._places.setdefault(word, set()).add(number)

    def best(self, target: Target) -> Passage | None:
        """Return the passage with most of a target; None if the text or the target is empty.

        Ties go to the shortest passage, then to the first.
        """
        weights = [self._rarity(word) * weight for word, weight in target.words.items()]
        weights += [_QUANTITY * weight for _, weight in target.quantities]
        total = sum(weights)
        if not total or not self.sentences:
            return None
        has = self._parts(target)
        lengths = [len(sentence.split()) for sentence in self.sentences]
        shares: dict[int, float] = {}
        best = (-1.0, 0, 0, 0)
        for first in range(len(has)):
            mask = length = 0
            for last in range(first, min(first + _LONGEST, len(has))):
                length += lengths[last]
                if self.sections[last] != self.sections[first] or (last > first and length > _MOST_WORDS):
                    break
                mask |= has[last]
                if mask not in shares:
                    shares[mask] = sum(w for bit, w in enumerate(weights) if mask >> bit & 1) / total
                value = shares[mask] - _LENGTH_PRICE * (last - first)
                if value > best[0]:
                    best = (value, first, last, mask)
        _, first, last, mask = best
        missing = [word for bit, word in enumerate(target.words) if not mask >> bit & 1]
        return Passage(first, last, shares[mask], missing)

    def text(self, passage: Passage) -> str:
        """Return a passage in lower case."""
        return self.quote(passage, whole=True).lower()

    def quote(self, passage: Passage, *, whole: bool = False) -> str:
        """Return a passage as written, shortened unless `whole`."""
        text = " ".join(self.sentences[passage.first : passage.last + 1])
        return text if whole or len(text) <= _QUOTE else text[: _QUOTE - 3] + "..."

    def quantities(self, passage: Passage) -> list[Quantity]:
        """Return the quantities of a passage."""
        return [one for each in self._quantities[passage.first : passage.last + 1] for one in each]

    def _parts(self, target: Target) -> list[int]:
        """Return a bit mask per sentence of the parts of a target that it has."""
        masks = [0] * len(self.sentences)
        for bit, word in enumerate(target.words):
            for number in self._places.get(word, ()):
                masks[number] |= 1 << bit
        for bit, (wanted, _) in enumerate(target.quantities, len(target.words)):
            for number, offered in enumerate(self._quantities):
                if any(same(wanted, one) for one in offered):
                    masks[number] |= 1 << bit
        return masks

    def _rarity(self, word: str) -> float:
        """Return a word's inverse frequency over sentences, scaled to 0.5 to 1.5.

        An absent word weighs as much as one that occurs once: absence does not mean rarity.
        """
        n = max(len(self.sentences), _FEW)
        count = min(max(len(self._places.get(word, ())), 1), n)
        return 0.5 + math.log((n + 1) / (count + 1)) / math.log(n + 1)
