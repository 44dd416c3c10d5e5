"""Index a report's sentences and table rows, with headings as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flows.stages.offline.index import BriefIndex, Target, Window
from flows.stages.offline.quantities import Quantity, derived_match, same, scan
from flows.stages.offline.swaps import Counted, counted
from flows.stages.offline.text import Sentence, plain, sentences
from flows.stages.offline.words import canonical, join_phrases

_MARK = re.compile(r"^\[(?:header|footer|text box)\] ", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+)$", re.MULTILINE)
# Only plain denials: "without the waiver" names a case and denies nothing.
_NOT_THIS = re.compile(
    r"\b(?:not(?! only\b)|(?<!yes or )no(?!-| (?:more|less|fewer|later|earlier|sooner|longer|one)\b)|never"
    r"|cannot|\w+n't)\b"
)
_NOT = re.compile(rf"{_NOT_THIS.pattern}|\b(?:nor|neither|none|nobody|no one)\b")
# 31-1-03 and 31-1 are names; a range ascends, and a date begins with its year.
_NAME = re.compile(r"(?<![\w.-])(?!\d{4}-\d\d-\d\d)(\d+)-(\d+)((?:-\d+)*)(?![\w.]*-|\w|\.\d)")
_NAMED = re.compile(r"\bn(?=\d+-\d)")
_POUND = re.compile(r"(?<=\d )lbs?\b|(?<=\d)lbs?\b")
_AIR_BASE = re.compile(r"(?<=[a-z] )(?:AB|AFB)\b")
_NOT_OR_WITHOUT = re.compile(rf"{_NOT.pattern}|\bwithout\b")
_PART = re.compile(r"[,;:()](?!\d)|\s-\s")
_REACH = 2  # content words after a plain denial that it certainly denies


@dataclass(frozen=True, slots=True)
class Stretch:
    """A passage of one section, and the parts of a target in it.

    Attributes:
        first, last: indexes of its first and last sentence.
        mask: one bit for each word of the target, in order.
    """

    first: int
    last: int
    mask: int


def denied(text: str, *, without: bool = False) -> frozenset[str]:
    """Return the canonical words directly after a plain "not" or "no" in `text`.

    Words without content are skipped. A number ends the denial: "cannot take more than ten sorties" does not
    deny sorties.

    Args:
        text: lower case.
        without: True to treat "without" as a denial.
    """
    return _behind(_NOT_OR_WITHOUT if without else _NOT, _REACH, text)


def refuted(text: str) -> frozenset[str]:
    """As `denied`, but only the first word after "not": "nobody at the depot knows" denies no depot."""
    return _behind(_NOT_THIS, 1, text)


def _behind(cues: re.Pattern[str], reach: int, text: str) -> frozenset[str]:
    found: set[str] = set()
    for cue in cues.finditer(text):
        left = reach
        clause = re.split(r"[,;:.()]", text[cue.end() :], maxsplit=1)[0]
        for token in scan(join_phrases(clause)):
            if not isinstance(token, str) or left <= 0:
                break
            keys = canonical(token)
            found.update(keys)
            left -= len(keys)
    return frozenset(found)


def says_not(text: str) -> bool:
    """True if lower-case `text` has a plain denial."""
    return _NOT.search(text) is not None


def with_names(text: str) -> str:
    """Prefix numbers such as 31-1-03 in plain `text` with an `n`, which makes them names.

    "lb" and "AB" are expanded.
    """

    def mark(match: re.Match[str]) -> str:
        return f"n{match[0]}" if match[3] or int(match[1]) > int(match[2]) else match[0]

    text = _NAME.sub(mark, text)
    return _AIR_BASE.sub("Air Base", _POUND.sub("pounds", text))


def _also_a_sentence(heading: re.Match[str]) -> str:
    # A leading number sign would make it a heading again.
    said = heading[1].lstrip("# ") or heading[1]
    return f"{heading[0]}\n\n{said.rstrip('.')}.\n"


class ReportIndex(BriefIndex):
    """A report, indexed once for all criteria.

    Attributes:
        written: the sentences as written.
        contexts: for each sentence, its headings and column names in lower case.
        denied: for each sentence, the words that it and its context deny.
        refuted: for each sentence, the first word after each denial.
        keys: for each sentence, its words, including its context.
    """

    def __init__(self, text: str) -> None:
        # A heading may state a fact: "Status as of 30 April".
        text = _MARK.sub("", with_names(plain(text)))
        text = _HEADING.sub(_also_a_sentence, text)
        super().__init__(text)
        parts = sentences(text)
        self.contexts: list[str] = [part.context.lower() for part in parts]
        # The context of a row is its table's header, which is its own sentence.
        heads = {(part.section, part.text) for part in parts if not part.context}
        self._rows: Sequence[bool] = [
            bool(part.context) and (part.section, part.context) in heads for part in parts
        ]
        self.refuted: Sequence[frozenset[str]] = [refuted(sentence) for sentence in self.sentences]
        self._add_headings(parts)
        self.written: Sequence[str] = self._written
        self.denied: Sequence[frozenset[str]] = [
            denied(f"{sentence} . {context}")
            for sentence, context in zip(self.sentences, self.contexts, strict=True)
        ]
        keys: list[set[str]] = [set() for _ in self.sentences]
        for key, places in self._postings.items():
            for place in places:
                keys[place].add(key)
        self.keys: Sequence[frozenset[str]] = [frozenset(each) for each in keys]
        self._counted: dict[int, list[Counted]] = {}

    def _add_headings(self, parts: Sequence[Sentence]) -> None:
        """Add headings to the contexts of table rows, which only have column names."""
        above = ""
        section = -1
        words: frozenset[str] = frozenset()
        for number, part in enumerate(parts):
            if part.section != section:
                section, above = part.section, part.context.lower()
                words = frozenset(Target.of(above).keys)
            elif self._rows[number]:
                self.contexts[number] = f"{above} . {self.contexts[number]}"
                for key in words:
                    self._postings.setdefault(key, set()).add(number)
                self._affirmed[number] |= words

    def stretches(self, target: Target, *, longest: int, affirmed: bool = False) -> Iterator[Stretch]:
        """Yield every passage of at most `longest` sentences of one section, by start, then length.

        A table row is its own passage: two rows are about two things.

        Args:
            target: what to search for; its quantities are ignored.
            longest: maximum sentences in a passage.
            affirmed: count only words that are not denied.
        """
        masks = self._masks(Target(target.keys, (), target.weights[: len(target.keys)]), affirmed=affirmed)
        for first in range(len(masks)):
            mask = 0
            for last in range(first, min(first + longest, len(masks))):
                if last > first and (self._rows[last] or self._sections[last] != self._sections[first]):
                    break
                mask |= masks[last]
                yield Stretch(first, last, mask)
                if self._rows[last]:
                    break

    def has(self, key: str) -> bool:
        """True if the report has a word, or one with a similar beginning."""
        return next(iter(self._alike(key)), None) is not None

    def rarity(self, target: Target) -> list[float]:
        """Return the weight of each word of `target` in this report; rare words weigh more."""
        return self._weights(target)[: len(target.keys)]

    def offered(self, stretch: Stretch) -> list[Quantity]:
        """Return the quantities of a passage."""
        return [q for sentence in self.quantities[stretch.first : stretch.last + 1] for q in sentence]

    def gives(self, wanted: Quantity, stretch: Stretch) -> bool:
        """True if the passage gives or implies the quantity."""
        offered = self.offered(stretch)
        return any(same(wanted, one) for one in offered) or derived_match(wanted, offered)

    def counted(self, stretch: Stretch) -> list[Counted]:
        """Return the quantities of a passage, each with the words for what it counts."""
        found: list[Counted] = []
        for number in range(stretch.first, stretch.last + 1):
            if number not in self._counted:
                self._counted[number] = counted(self.sentences[number])
            found.extend(self._counted[number])
        return found

    def parts(self, stretch: Stretch) -> Iterator[Counted]:
        """Yield the quantities of a passage, each with the words of its part of the sentence.

        A part ends at a comma, a semicolon or a bracket. A part without words, such as a table cell, gets
        those of the whole sentence.
        """
        for number in range(stretch.first, stretch.last + 1):
            for part in _PART.split(self.sentences[number]):
                tokens = scan(join_phrases(part))
                words = frozenset(key for one in tokens if isinstance(one, str) for key in canonical(one))
                for token in tokens:
                    if not isinstance(token, str):
                        yield token, words or self.keys[number]

    def said(self, stretch: Stretch) -> str:
        """Return the sentences of a passage and their contexts, in lower case."""
        numbers = range(stretch.first, stretch.last + 1)
        above = dict.fromkeys(self.contexts[number] for number in numbers)
        return " . ".join((*above, *(self.sentences[number] for number in numbers)))

    def own_words(self, number: int) -> frozenset[str]:
        """Return the words of a sentence that are not in its context."""
        return self.keys[number] - frozenset(Target.of(self.contexts[number]).keys)

    def words(self, stretch: Stretch) -> frozenset[str]:
        """Return the canonical words of a passage."""
        return frozenset[str]().union(*self.keys[stretch.first : stretch.last + 1])

    def near(self, number: int) -> frozenset[str]:
        """Return the words of a sentence and, outside tables, of the previous one in its section."""
        before = number - 1
        if number and not self._rows[number] and self._sections[before] == self._sections[number]:
            return self.keys[number] | self.keys[before]
        return self.keys[number]

    def quoted(self, stretch: Stretch) -> str:
        """Return a passage as written, shortened."""
        return _NAMED.sub("", self.quote(Window(stretch.first, stretch.last, 0.0, ())))

    def only_denied(self, key: str, stretch: Stretch) -> bool | None:
        """Whether the passage denies every occurrence of a word; None if it has none."""
        return self._always(key, stretch, self.denied)

    def only_refuted(self, key: str, stretch: Stretch) -> bool | None:
        """As `only_denied`, for the first word after a denial."""
        return self._always(key, stretch, self.refuted)

    def _always(self, key: str, stretch: Stretch, marked: Sequence[frozenset[str]]) -> bool | None:
        numbers = range(stretch.first, stretch.last + 1)
        found = [key in marked[n] for n in numbers if key in self.keys[n]]
        return all(found) if found else None
