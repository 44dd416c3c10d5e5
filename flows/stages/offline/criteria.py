"""Parse a criterion: a statement, a place, a form, an absence or an error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from flows.stages.offline.asked_numbers import Group, bounds, number_groups
from flows.stages.offline.index import Target
from flows.stages.offline.numerals import spell_in_digits
from flows.stages.offline.quantities import Quantity, scan
from flows.stages.offline.report_index import with_names
from flows.stages.offline.text import plain


class Kind(StrEnum):
    """The rule that grades a criterion."""

    statement = "statement"  # the report says something
    absence = "absence"  # a required criterion that something is left out
    length = "length"  # the report keeps a word or page limit
    headings = "headings"  # the report keeps the headings of its template


class Place(StrEnum):
    """Where in the report a statement must be."""

    anywhere = "anywhere"
    paragraph = "paragraph"  # in the first paragraph
    sentence = "sentence"  # in the first sentence


_REPORT = (
    r"(?:(?:the |a |this )?(?:report|brief|memo(?:randum)?|paper|document|read-ahead|entry|summary|it)\s+)?"
)
_SENTENCE = re.compile(
    r"\b(?:(?:opens?|opening|leads?|leading|begins?|starts?) (?:off )?with|first (?:sentence|line)"
    r"|up front)\b",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(
    r"\b(?:(?:first|opening) (?:paragraph|lines|sentences|section)"
    r"|at the (?:top|start|beginning|head)(?: of the (?:report|memo|brief|paper))?)\b",
    re.IGNORECASE,
)
_HEADED = re.compile(
    r"^(?:the )?(?P<heading>[a-z][a-z ]{2,40}?) (?:opens?|leads?|begins?|starts?)\b", re.IGNORECASE
)
_ACRONYM = re.compile(r"\b[A-Z]{2,}[ -]?\d+\b")  # ESF 8 is a name
_NOT_DOING = r"(?:does not|doesn't|must not|should not|never|neither|do not)\s+"
_ABSENCE = re.compile(
    rf"^{_REPORT}(?P<verb>leaves? out|omits?|excludes?|avoids?|refrains? from"
    r"|(?:is|stays|remains) (?:free of|silent (?:on|about))"
    r"|(?:contains?|names?|mentions?|makes?|includes?|uses?|passes|repeats?)"
    r" (?:no(?:ne|body|thing)?\b|neither)"
    rf"|{_NOT_DOING}\w+|no\b|nothing\b)\s*(?P<what>.*)$",
    re.DOTALL,
)
_SAYS = re.compile(rf"^{_REPORT}(?:says?|states?|notes?|tells?|explains?|reports?|shows?)\b")
_LEFT_OUT = re.compile(
    r"^(?P<what>.+?) (?:is|are) "
    r"(?:not (?:mentioned|named|included|reported|repeated|given|cited)|left out|omitted)"
    r"(?: anywhere)?\.?\s*$",
    re.DOTALL,
)
_LENGTH = re.compile(
    r"(?:at most|no (?:more|longer) than|not (?:more|longer) than|within|under|fewer than|less than|up to"
    r"|maximum(?: length)? of|not exceed(?:ing)?|keeps? (?:to|within)|limit of|fits? (?:on|into|within))\s+"
    r"(?:the )?(?:limit of )?(?P<limit>\d[\d,]*|an?|one|a single)\s+(?P<unit>words?|pages?)\b"
)
_HEADINGS = re.compile(
    r"\b(?:(?:keeps?|follows?|uses?|retains?|preserves?)\b.{0,40}\b(?:headings?|template|section titles)"
    r"|(?:headings?|template)\b.{0,40}\b(?:kept|followed|used|retained|preserved|unchanged"
    r"|in (?:their )?order))\b"
)
_ALTERNATIVE = re.compile(r",\s+or\s+|;\s+(?:or\s+)?")
_QUOTED = re.compile(r"[\"]([^\"\n]+)[\"]")
_EXAMPLES = re.compile(
    r"[(,]?\s*\b(?:such as|for example|for instance|e\.g\.,?|including|like)\s+(?P<list>[^()]+?)"
    r"(?:\)|\.?\s*$)"
)
_ENUMERATION = re.compile(r",(?!\d)\s*(?:or|and)?\s*|\s+or\s+|\s+and\s+")
_FILLER = re.compile(
    r"\b(?:as the (?:day|date|time|place|reason|cause|owner|number|figure)"
    r" (?:on|at|in|by|for|of)?(?: which| when)?"
    r"|anyone|anything|something)\b"
)
_MENTION = re.compile(
    rf"^{_REPORT}(?:mentions?|names?|refers? to|discuss(?:es)?|includes?|contains?|reports?|reveals?"
    r"|discloses?|repeats?|tells?|identif(?:y|ies)|describes?|says? (?:anything|something) about|passes"
    r"|passing|quotes?|cites?)\b"
)
_SPEECH = re.compile(
    rf"^\s*{_REPORT}(?:counts?|rates?|treats?|tells?|pass(?:es)?|puts?|calls?)\b"
    r"|\b(?:says?|tells?|writes?) (?:anything|something) (?:of|about|on)\b"
)
_VAGUE = re.compile(r"\b(?:some|any)(?:thing|one|body)\b")
_PERSON = re.compile(
    r"\b(?:names?|identif\w+|mentions?)\b.{0,30}\b(?:persons?|people|individuals?|applicants?|employees?"
    r"|soldiers?|airmen|sailors?|members?|officers?|workers?|civilians?|students?|trainees?|anyone|anybody"
    r"|witness(?:es)?|patients?|by name)\b"
)


@dataclass(frozen=True, slots=True)
class Move:
    """One way to make an error.

    Attributes:
        target: its words and quantities.
        example: True for an example from the criterion: all of it must be there.
    """

    target: Target
    example: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A parsed criterion.

    Attributes:
        kind: the rule that grades it.
        place: where a statement must be.
        heading: heading of the section that must open with it; may be empty.
        words: the criterion in lower case, without its places.
        target: the words and quantities of `words`.
        numbers: the quantities that a report must give, one alternative of every group.
        bounds: minimums (1) and maximums (-1); any quantity within them satisfies them.
        moves: ways to make the error, for a penalty or an absence.
        by_mention: True if any mention is the error, even a denial.
        persons: True if naming a person is the error.
        limit, unit: a length limit; the unit is `words` or `pages`.
    """

    kind: Kind
    place: Place
    heading: str
    words: str
    target: Target
    numbers: tuple[Group, ...]
    bounds: tuple[tuple[Quantity, int], ...]
    moves: tuple[Move, ...]
    by_mention: bool
    persons: bool
    limit: int
    unit: str


@lru_cache(maxsize=4096)  # cached, as a sweep grades many reports by the same criteria
def read_criterion(requirement: str, *, is_error: bool) -> Asked:
    """Parse a criterion.

    Args:
        requirement: its text.
        is_error: True for a penalty.
    """
    text = re.sub(r"\s+", " ", with_names(plain(requirement))).strip()
    words = text.lower()
    kind, wrong, by_mention = Kind.statement, "", False
    limit = _LENGTH.search(spell_in_digits(words))
    absent = _ABSENCE.match(words) or _LEFT_OUT.match(words)
    if is_error:
        wrong, by_mention = words, _MENTION.match(words) is not None
    elif _SAYS.match(words):
        pass  # "Says that the annex has at most ten pages" is about the annex
    elif limit:
        kind = Kind.length
    elif _HEADINGS.search(words):
        kind = Kind.headings
    elif absent:
        kind, wrong = Kind.absence, absent["what"]
        verb = absent.groupdict().get("verb") or "mentions"
        # "does not treat the rumour as a fact" is met by a report that denies it; "names no one" is not.
        said = re.sub(f"^{_NOT_DOING}", "", verb)
        by_mention = said == verb or _MENTION.match(said) is not None
    persons = bool(wrong) and _PERSON.search(words) is not None
    place, heading = _place(words)
    if place is not Place.anywhere:
        text = _PARAGRAPH.sub(" ", _SENTENCE.sub(" ", _HEADED.sub(" ", text)))
        words = text.lower()
    digits = (limit["limit"] if limit else "1").replace(",", "")
    return Asked(
        kind=kind,
        place=place,
        heading=heading,
        words=words,
        target=Target.of(_FILLER.sub(" ", words)),
        numbers=number_groups(_ACRONYM.sub(" ", text).lower()),
        bounds=bounds(words),
        moves=_moves(wrong, persons=persons),
        by_mention=by_mention,
        persons=persons,
        limit=int(digits) if digits.isdigit() else 1,
        unit="" if limit is None else limit["unit"].rstrip("s") + "s",
    )


def _place(words: str) -> tuple[Place, str]:
    """Return where a statement must be, and the heading named with it."""
    headed = _HEADED.match(words)
    heading = headed["heading"] if headed and _SENTENCE.search(words) else ""
    if _PARAGRAPH.search(words):
        return Place.paragraph, ""
    if _SENTENCE.search(words):
        return Place.sentence, heading
    return Place.anywhere, ""


def _moves(wrong: str, *, persons: bool) -> tuple[Move, ...]:
    """Return the ways to make a wrong move: its alternatives and examples.

    If naming a person is the error, "an applicant" alone is not one: a name is searched for instead.
    """
    if not wrong:
        return ()
    examples = _QUOTED.findall(wrong)
    rest = _QUOTED.sub(" ", wrong)
    for match in _EXAMPLES.finditer(rest):
        examples.extend(_ENUMERATION.split(match["list"]))
    rest = _EXAMPLES.sub(" ", rest)
    moves: list[Move] = []
    for alternative in _ALTERNATIVE.split(rest):
        words = _SPEECH.sub(" ", alternative)
        if _VAGUE.search(words) and examples:
            continue  # "something from which a reader could tell": only its examples can be searched for
        target = Target.of(_VAGUE.sub(" ", words).replace(" among ", " "))
        if moves and len(target.keys) < 2:  # noqa: PLR2004 -- one word is too unspecific
            # "129 of 160, or 81 percent" goes on speaking of the rate that the first part names.
            target = Target.of(" ".join((*_words_of(rest), alternative))) if target.quantities else target
        if target and not (persons and len(target.keys) < 2):  # noqa: PLR2004 -- as above
            moves.append(Move(target, example=False))
    targets = (Target.of(example) for example in examples)
    moves.extend(Move(target, example=True) for target in targets if target)
    return tuple(moves)


def _words_of(text: str) -> list[str]:
    first = _ALTERNATIVE.split(text)[0]
    return [token for token in scan(plain(first)) if isinstance(token, str)]
