"""A report cut into sentences and table rows, with its headings as sentences of their own."""

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
# Only the plain words of denial: "without the waiver" names a case and denies nothing.
_NOT_THIS = re.compile(
    r"\b(?:not(?! only\b)|(?<!yes or )no(?!-| (?:more|less|fewer|later|earlier|sooner|longer|one)\b)|never"
    r"|cannot|\w+n't)\b"
)
_NOT = re.compile(rf"{_NOT_THIS.pattern}|\b(?:nor|neither|none|nobody|no one)\b")
# 31-1-03 and 31-1 name something; a range goes upwards, and a date begins with its year.
_NAME = re.compile(r"(?<![\w.-])(?!\d{4}-\d\d-\d\d)(\d+)-(\d+)((?:-\d+)*)(?![\w.]*-|\w|\.\d)")
_NAMED = re.compile(r"\bn(?=\d+-\d)")
_POUND = re.compile(r"(?<=\d )lbs?\b|(?<=\d)lbs?\b")
_AIR_BASE = re.compile(r"(?<=[a-z] )(?:AB|AFB)\b")
_NOT_OR_WITHOUT = re.compile(rf"{_NOT.pattern}|\bwithout\b")
_PART = re.compile(r"[,;:()](?!\d)|\s-\s")
_REACH = 2  # words with content that a plain denial is sure to reach


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some sentences of one section, and which parts of a target are in them.

    Attributes:
        first, last: numbers of its sentences.
        mask: one bit for each word of the target, in order.
    """

    first: int
    last: int
    mask: int


def denied(text: str, *, without: bool = False) -> frozenset[str]:
    """The words, in their common form, that stand right behind a plain "not" or "no" of `text`.

    Words without content don't count against the reach. A number ends it: "cannot take more than ten
    sorties" denies no sorties.

    Args:
        text: lower case.
        without: let "without" deny as well.
    """
    return _behind(_NOT_OR_WITHOUT if without else _NOT, _REACH, text)


def refuted(text: str) -> frozenset[str]:
    """As `denied`, for the first word behind "not" alone: "nobody at the depot knows" refutes no depot."""
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
    """True where lower-case `text` has a plain denial."""
    return _NOT.search(text) is not None


def with_names(text: str) -> str:
    """Plain `text` with an `n` before numbers such as 31-1-03, which makes names of them.

    "lb" and "AB" are written in full.
    """

    def mark(match: re.Match[str]) -> str:
        return f"n{match[0]}" if match[3] or int(match[1]) > int(match[2]) else match[0]

    text = _NAME.sub(mark, text)
    return _AIR_BASE.sub("Air Base", _POUND.sub("pounds", text))


def _also_a_sentence(heading: re.Match[str]) -> str:
    # One that begins with a number sign would be taken for a heading again.
    said = heading[1].lstrip("# ") or heading[1]
    return f"{heading[0]}\n\n{said.rstrip('.')}.\n"


class ReportIndex(BriefIndex):
    """A report, read once for all criteria.

    Attributes:
        written: the sentences as they are written.
        contexts: for each sentence, lower case, the headings above it and the names of its columns.
        denied: for each sentence, the words that it and its context deny.
        refuted: for each sentence, the first word behind each denial.
        keys: for each sentence, its words, those of its context included.
    """

    def __init__(self, text: str) -> None:
        # A heading may carry a fact of its own: "Status as of 30 April".
        text = _MARK.sub("", with_names(plain(text)))
        text = _HEADING.sub(_also_a_sentence, text)
        super().__init__(text)
        parts = sentences(text)
        self.contexts: list[str] = [part.context.lower() for part in parts]
        # What stands above a row is the head of its table, which is a sentence of its own.
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
        """Let what stands in a table stand below its heading too: its context names its columns alone."""
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
        """Every stretch of at most `longest` sentences of one section; the shorter ones of a start first.

        A row of a table is a stretch by itself: two rows speak of two things.

        Args:
            target: what is looked for; its quantities are left aside.
            longest: sentences in a stretch.
            affirmed: count only words outside the reach of a denial.
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
        """True where the report has a word, or one that begins like it."""
        return next(iter(self._alike(key)), None) is not None

    def rarity(self, target: Target) -> list[float]:
        """The weight of each word of `target` in this report: a rare one weighs more."""
        return self._weights(target)[: len(target.keys)]

    def offered(self, stretch: Stretch) -> list[Quantity]:
        """The quantities of a stretch."""
        return [q for sentence in self.quantities[stretch.first : stretch.last + 1] for q in sentence]

    def gives(self, wanted: Quantity, stretch: Stretch) -> bool:
        """True where the stretch gives the quantity, or others that it follows from."""
        offered = self.offered(stretch)
        return any(same(wanted, one) for one in offered) or derived_match(wanted, offered)

    def counted(self, stretch: Stretch) -> list[Counted]:
        """The quantities of a stretch, each with the words that say what it counts."""
        found: list[Counted] = []
        for number in range(stretch.first, stretch.last + 1):
            if number not in self._counted:
                self._counted[number] = counted(self.sentences[number])
            found.extend(self._counted[number])
        return found

    def parts(self, stretch: Stretch) -> Iterator[Counted]:
        """The quantities of a stretch, each with the words of its part of the sentence.

        A part ends at a comma, a semicolon or a bracket. The words of one without any, as a cell of a
        table may be, are those of the whole sentence.
        """
        for number in range(stretch.first, stretch.last + 1):
            for part in _PART.split(self.sentences[number]):
                tokens = scan(join_phrases(part))
                words = frozenset(key for one in tokens if isinstance(one, str) for key in canonical(one))
                for token in tokens:
                    if not isinstance(token, str):
                        yield token, words or self.keys[number]

    def said(self, stretch: Stretch) -> str:
        """The sentences of a stretch and what stands above them, lower case."""
        numbers = range(stretch.first, stretch.last + 1)
        above = dict.fromkeys(self.contexts[number] for number in numbers)
        return " . ".join((*above, *(self.sentences[number] for number in numbers)))

    def own_words(self, number: int) -> frozenset[str]:
        """The words of one sentence that don't stand above it too."""
        return self.keys[number] - frozenset(Target.of(self.contexts[number]).keys)

    def words(self, stretch: Stretch) -> frozenset[str]:
        """The words of a stretch in their common form."""
        return frozenset[str]().union(*self.keys[stretch.first : stretch.last + 1])

    def near(self, number: int) -> frozenset[str]:
        """The words of a sentence and, outside tables, of the one before it in its section."""
        before = number - 1
        if number and not self._rows[number] and self._sections[before] == self._sections[number]:
            return self.keys[number] | self.keys[before]
        return self.keys[number]

    def quoted(self, stretch: Stretch) -> str:
        """A stretch as written, shortened."""
        return _NAMED.sub("", self.quote(Window(stretch.first, stretch.last, 0.0, ())))

    def only_denied(self, key: str, stretch: Stretch) -> bool | None:
        """Whether the stretch denies a word wherever it has it; None where it has it nowhere."""
        return self._always(key, stretch, self.denied)

    def only_refuted(self, key: str, stretch: Stretch) -> bool | None:
        """As `only_denied`, for the first word behind a denial."""
        return self._always(key, stretch, self.refuted)

    def _always(self, key: str, stretch: Stretch, marked: Sequence[frozenset[str]]) -> bool | None:
        numbers = range(stretch.first, stretch.last + 1)
        found = [key in marked[n] for n in numbers if key in self.keys[n]]
        return all(found) if found else None
