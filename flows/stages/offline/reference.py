"""The offline judge for reports: a criterion by its own words and by the expert's report, without a model.

A criterion has no ground truth and no pass condition. The expert's report stands in for both: it meets every
required criterion and commits no penalty. So the judge finds what of the expert's report bears a criterion
out, and asks a report for as much: for the words that the criterion and the expert share, for the numbers
that both give, and for the denials, doubts and ratings of the expert's own sentences. No check is asked of a
report that the expert's report fails itself, so the expert's report passes all by construction.

What it can judge: whether a fact with its figures, dates and names is there, in words near the criterion's or
the expert's; whether a figure is another one; whether a report opens with what should come first; whether a
named heading or a limit of words is kept; whether a sentence has the words of an error that the expert's
report does not make.

What it can't: it does not reason. A paraphrase in other words counts as missing, a right figure beside the
right words counts as said whatever the sentence makes of it, and an error that is worded freely ("passes
judgment on people") is seen only in words near the criterion's. A limit of pages is taken for 500 words a
page. Names of persons are seen behind a rank or beside a pronoun. A report that pastes the expert's sentences
passes. It is a stand-in for tests, demonstrations and the ranking of like reports, and no measure of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from flows.schema.scenario import Item
from flows.schema.verdict import FailureMode
from flows.stages.offline.criteria import Asked, Kind, Place, read_criterion
from flows.stages.offline.forms import WORDS_A_PAGE, missing_headings, word_count
from flows.stages.offline.penalties import as_the_expert, committed
from flows.stages.offline.regions import opening
from flows.stages.offline.report_index import ReportIndex
from flows.stages.offline.result import ItemGrade
from flows.stages.offline.statements import Support, find, support

REFERENCE_VERSION = "2"
"""Raised whenever a rule, a table or a threshold changes, for verdicts may change with it."""

REFERENCE_TUNED_ON = frozenset({"sb-war-02", "sb-aar-01", "sb-psr-01"})
"""Tasks whose criteria its rules were tuned on: agreement on their controls is reported apart."""

_HALF = 0.5
_SAYS_SOMETHING = 0.1  # share of the expert's words below which a text is no report on the matter


@dataclass(frozen=True, slots=True)
class _Pair:
    """A report beside the expert's.

    Attributes:
        text, reference: as they are graded and compared.
        report, expert: both, read.
        own: for each sentence of the report, whether it says what the expert says.
    """

    text: str
    reference: str
    report: ReportIndex
    expert: ReportIndex
    own: Sequence[bool]

    def shares(self, least: float) -> bool:
        """True where the report has at least such a share of the words of the expert's."""
        expert = frozenset[str]().union(*self.expert.keys)
        words = frozenset[str]().union(*self.report.keys)
        return bool(self.expert.sentences) and len(words & expert) >= least * len(expert)


def grade_against_reference(items: Sequence[Item], text: str, reference: str) -> list[ItemGrade]:
    """A grade for every criterion, in item order. Each depends on its words, the text and the reference.

    Text is compared and never obeyed. A text without a word meets no required criterion, not even one
    that asks to leave something out, and commits no penalty. The reference itself passes all, unless it
    has no word.

    Args:
        items: the criteria of one task; of each only `requirement` and `is_error` are looked at.
        text: the report as it is graded, any Unicode.
        reference: the expert's report.
    """
    report, expert = ReportIndex(text), _index(reference)
    if not report.sentences:
        return [
            _grade(item, None if item.is_error else FailureMode.omission, "a report without a word")
            for item in items
        ]
    pair = _Pair(text, reference, report, expert, as_the_expert(report, expert))
    grades: list[ItemGrade] = []
    for item in items:
        asked = read_criterion(item.requirement, is_error=item.is_error)
        if item.is_error:
            mode, why = _error(asked, pair)
        elif asked.kind is Kind.statement:
            mode, why = _statement(asked, pair)
        elif not pair.shares(_SAYS_SOMETHING):
            mode, why = FailureMode.omission, "too little of a report to be judged by its form"
        else:
            mode, why = _form(asked, pair)
        grades.append(_grade(item, mode, why))
    return grades


def _grade(item: Item, mode: FailureMode | None, why: str) -> ItemGrade:
    return ItemGrade(item.item_id, passed=mode is None, mode=mode, reason=why)


@lru_cache(maxsize=64)
def _index(text: str) -> ReportIndex:
    return ReportIndex(text)


@lru_cache(maxsize=8192)
def _support(asked: Asked, reference: str) -> tuple[Support | None, Place]:
    """What of the reference bears a criterion out, and where a report has to say it.

    A place is asked for only where the expert's report keeps to it.
    """
    whole = _index(reference)
    anywhere = support(asked, whole, whole)
    if asked.place is Place.anywhere:
        return anywhere, Place.anywhere
    first = ReportIndex(opening(reference, asked.place, asked.heading))
    there = support(asked, first, whole)
    if there is None or anywhere is None or there.share < _HALF * anywhere.share:
        return anywhere, Place.anywhere
    return there, asked.place


def _statement(asked: Asked, pair: _Pair) -> tuple[FailureMode | None, str]:
    wanted, place = _support(asked, pair.reference)
    if wanted is None:
        why = "no word of it in the expert's report; judged by what both say in all"
        return (None if pair.shares(_HALF) else FailureMode.omission), why
    anywhere = place is Place.anywhere
    part = pair.report if anywhere else ReportIndex(opening(pair.text, place, asked.heading))
    finding = find(wanted, part)
    where = "" if anywhere else "at the beginning: "
    quote = f'; closest: "{part.quoted(finding.stretch)}"' if finding.stretch else ""
    return finding.mode, f"{where}{finding.why}{quote}"


def _error(asked: Asked, pair: _Pair) -> tuple[FailureMode | None, str]:
    found = committed(asked, pair.report, pair.expert, pair.own)
    if found is None:
        return None, "nothing like the error is said"
    return FailureMode.committed, f'{found[0]}: "{pair.report.quoted(found[1])}"'


def _form(asked: Asked, pair: _Pair) -> tuple[FailureMode | None, str]:
    """An absence, a limit of length or the headings, of a text that reports on the matter at all."""
    if asked.kind is Kind.absence:
        mode, why = _error(asked, pair)
        return (FailureMode.incorrect if mode else None), why
    if asked.kind is Kind.length:
        limit = asked.limit * (WORDS_A_PAGE if asked.unit == "pages" else 1)
        limit = max(limit, word_count(pair.reference))  # the expert keeps it, however words are counted
        words = word_count(pair.text)
        return (None if words <= limit else FailureMode.incorrect), f"{words} words, limit {limit}"
    missing = missing_headings(pair.text, pair.reference)
    return (FailureMode.partial if missing else None), f"headings missing: {'; '.join(missing) or 'none'}"
