"""The rule for errors: does a report say what the criterion warns of and the expert's report does not say?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flows.stages.offline import certainty
from flows.stages.offline.criteria import Asked, Move
from flows.stages.offline.index import Target
from flows.stages.offline.quantities import Quantity, same
from flows.stages.offline.report_index import ReportIndex, Stretch, denied

_LONGEST = 2
_ENOUGH = 0.5
_ENOUGH_OF_EXAMPLE = 0.99
_AS_THE_EXPERT = 0.8  # share of a sentence's words in one passage of the expert's, to say the same
_SAME_MATTER = 0.4  # share of the expert's further words, to be on the same subject
_HALF = 0.5
_KIND = re.compile(r"\d+k")  # a 60K loader: a type, not a count
_RANK = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Gen|Col|Lt|Maj|Capt|Cpt|Cdr|Sgt|SSG|SFC|MSG|SSgt|TSgt|MSgt|SMSgt|CMSgt|SrA|A1C"
    r"|Cpl|Pfc|PFC|Pvt|Spc|SPC|CPL|SGT|CSM|MAJ|CPT|LTC|COL|1LT|2LT|CW[2-5]|Colonel|Major|Captain|Lieutenant"
    r"|Sergeant|Specialist|Corporal|Private|Airman)\.?\s+(?:[A-Z]\.\s+)?"
    r"(?P<name>[A-Z][a-z]+(?:-[A-Z][a-z]+)?)\b"
)
_PAIR = re.compile(r"(?<![.!?]\s)(?<!^)\b(?P<name>[A-Z][a-z]+ [A-Z][a-z]+)\b(?! [A-Z])")
_OF_A_PERSON = re.compile(
    r"\b(?:he|she|his|her|him|who|whose|applicants?|candidates?|employees?|hire|analyst|clerk|officer|sergeant"
    r"|airman|soldier|named)\b"
)


@dataclass(frozen=True, slots=True)
class _Case:
    """A move with the words that the expert's report lacks and its closest sentence."""

    asked: Asked
    move: Move
    reference: ReportIndex
    foreign: frozenset[str]
    ours: Stretch | None


def committed(
    asked: Asked, report: ReportIndex, reference: ReportIndex, own: Sequence[bool]
) -> tuple[str, Stretch] | None:
    """Return what commits a penalty or violates an absence; None if nothing does.

    Sentences that say what the expert's report says are never the error. One or two other consecutive
    sentences must have half of a move's words, half of those that the expert does not use, and its numbers;
    for an example in the criterion, all.

    Args:
        asked: a penalty or an absence.
        report: the graded report.
        reference: the expert's report.
        own: for each sentence of the report, whether the expert says it: from `as_the_expert`.

    Returns:
        The reason and the passage.
    """
    for move in asked.moves:
        case = _case(asked, move, reference)
        for stretch, found in _candidates(asked, move, report, own):
            if _has_enough(case, found, report, stretch) and not _excused(case, found, report, stretch):
                share = len(found) / len(move.target.keys) if move.target.keys else 1.0
                return f"{share:.0%} of the error's words, in nothing that the expert says", stretch
    if asked.persons:
        return _person(report, own, reference)
    return None


def as_the_expert(report: ReportIndex, reference: ReportIndex) -> list[bool]:
    """Return for each sentence whether one or two sentences of the expert's say the same."""
    return [_is_said(report, number, reference) for number in range(len(report.sentences))]


def _is_said(report: ReportIndex, number: int, reference: ReportIndex) -> bool:
    """True if a passage of the expert's says the same, with no other number or denial."""
    sentence = report.sentences[number]
    if sentence in reference.sentences:
        return True
    keys = tuple(sorted(report.own_words(number)))
    if sum(map(reference.has, keys)) < _AS_THE_EXPERT * len(keys):
        return False  # no passage can have what the whole report lacks
    target = Target(keys, (), (1.0,) * len(keys))
    for stretch in reference.stretches(target, longest=_LONGEST):
        if stretch.mask.bit_count() >= _AS_THE_EXPERT * len(keys):
            quantities = report.quantities[number]
            theirs = frozenset[str]().union(*reference.denied[stretch.first : stretch.last + 1])
            ours = report.denied[number]
            alike = ours <= theirs and theirs & report.keys[number] <= ours
            if alike and all(reference.gives(q, stretch) for q in quantities):
                return True
    return False


def _candidates(
    asked: Asked, move: Move, report: ReportIndex, own: Sequence[bool]
) -> Iterator[tuple[Stretch, frozenset[str]]]:
    """Yield passages without a sentence of the expert's, with the words of the move in them."""
    affirmed = not asked.by_mention
    for stretch in report.stretches(move.target, longest=1 if move.example else _LONGEST, affirmed=affirmed):
        if any(own[stretch.first : stretch.last + 1]):
            continue
        yield stretch, frozenset(key for bit, key in enumerate(move.target.keys) if stretch.mask >> bit & 1)


def _closest(target: Target, reference: ReportIndex) -> Stretch | None:
    """Return the expert's sentence with most of a target's words and numbers."""
    best: tuple[int, Stretch] | None = None
    for stretch in reference.stretches(target, longest=1):
        numbers = sum(1 for q in target.quantities if reference.gives(q, stretch))
        value = stretch.mask.bit_count() + 2 * numbers
        if value and (best is None or value > best[0]):
            best = (value, stretch)
    return best[1] if best else None


@lru_cache(maxsize=1024)  # the expert's report is indexed once, so it is compared by identity
def _case(asked: Asked, move: Move, reference: ReportIndex) -> _Case:
    known = frozenset[str]().union(*reference.keys)
    foreign = frozenset(key for key in move.target.keys if not known.intersection(key.split("|")))
    return _Case(asked, move, reference, foreign, _closest(move.target, reference))


def _has_enough(case: _Case, found: frozenset[str], report: ReportIndex, stretch: Stretch) -> bool:
    """True if a passage has enough of the move's words and its numbers."""
    keys, quantities = case.move.target.keys, case.move.target.quantities
    least = _ENOUGH_OF_EXAMPLE if case.move.example else _ENOUGH
    if not case.foreign and not quantities:
        least = 1.0  # the expert uses each of these words: only all together may mean something else
    if len(found) < least * len(keys) or len(found & case.foreign) < _HALF * len(case.foreign):
        return False
    return all(report.gives(q, stretch) for q in _telling(quantities, case.reference, case.ours))


def _excused(case: _Case, found: frozenset[str], report: ReportIndex, stretch: Stretch) -> bool:
    """True if a passage with the move's words repeats the expert, or corrects or denies the move."""
    quantities, ours = case.move.target.quantities, case.ours
    if ours is not None and (quantities or not case.foreign):
        given = all(case.reference.gives(q, ours) for q in quantities)
        if given and _of_same_matter(case, report.words(stretch), found, ours):
            return True
        if quantities and _gives_true_figures(report, stretch, quantities, case.reference, ours):
            return True
    return not case.asked.by_mention and (
        _denies(case, found, report, stretch) or _defended(case.asked, report, stretch)
    )


def _denies(case: _Case, found: frozenset[str], report: ReportIndex, stretch: Stretch) -> bool:
    """True if the passage denies a word of the move and affirms it nowhere."""
    keys = frozenset(case.move.target.keys) - found - denied(case.asked.words)
    return any(report.only_denied(key, stretch) for key in keys)


def _telling(
    quantities: tuple[Quantity, ...], reference: ReportIndex, ours: Stretch | None
) -> tuple[Quantity, ...]:
    """Return the move's numbers that the expert does not give; all if there are none."""
    if ours is None:
        return quantities
    return tuple(q for q in quantities if not reference.gives(q, ours)) or quantities


def _of_same_matter(case: _Case, words: frozenset[str], found: frozenset[str], ours: Stretch) -> bool:
    """True if the passage paraphrases the expert's sentence with the same words of the move."""
    expert = case.reference.words(ours)
    own = case.reference.own_words(ours.first)
    further = own - frozenset(part for key in case.move.target.keys for part in key.split("|"))
    covered = all(expert.intersection(key.split("|")) for key in found)
    return covered and bool(further) and len(further & words) >= _SAME_MATTER * len(further)


def _gives_true_figures(
    report: ReportIndex,
    stretch: Stretch,
    wrong: tuple[Quantity, ...],
    reference: ReportIndex,
    ours: Stretch,
) -> bool:
    """True if the passage also has most of the expert's figures: it reports the wrong one to correct it."""
    true = [
        q
        for q in reference.offered(ours)
        if not any(same(q, bad) for bad in wrong) and not _KIND.fullmatch(q.text)
    ]
    return bool(true) and sum(report.gives(q, stretch) for q in true) > _HALF * len(true)


def _defended(asked: Asked, report: ReportIndex, stretch: Stretch) -> bool:
    said = report.said(stretch)
    around = report.said(Stretch(stretch.first, min(stretch.last + 1, len(report.sentences) - 1), 0))
    firm = certainty.asks_for_firmness(asked.words)
    return (
        (firm and (certainty.is_hedged(around) or certainty.denies(around)))
        or (certainty.is_conditional(said) and not certainty.is_conditional(asked.words))
        or (certainty.is_corrected(around) and not certainty.is_corrected(asked.words))
    )


def _person(report: ReportIndex, own: Sequence[bool], reference: ReportIndex) -> tuple[str, Stretch] | None:
    """Find a person's name, after a rank or near a pronoun, that is not in the expert's report."""
    known = " ".join(reference.written)
    for number, sentence in enumerate(report.written):
        if own[number]:
            continue
        names = [match["name"] for match in _RANK.finditer(sentence)]
        if _OF_A_PERSON.search(sentence.lower()):
            names += [match["name"] for match in _PAIR.finditer(sentence)]
        for name in names:
            if not any(part in known for part in name.split()):
                return f"names {name}", Stretch(number, number, 0)
    return None
