"""The offline judge for reports: grades criteria by their words and the expert's report, without a model.

A criterion has no ground truth and no pass condition. The expert's report replaces both: it meets every
required criterion and commits no penalty. So the judge finds the passage of the expert's report that supports
a criterion and requires the same of a report: the words and numbers that criterion and expert share, and the
denials, doubts and ratings of the expert. Checks that the expert's report fails are not applied, so it passes
all criteria by construction.

What it can judge: whether a fact with its figures, dates and names is there, in words close to the
criterion's or the expert's; whether a figure differs; whether a report opens with what should come first;
whether it keeps headings or a word limit; whether a sentence has the words of an error that the expert's
report does not make.

Limits: it does not reason. A paraphrase in other words counts as missing, a right figure next to the right
words counts in any sentence, and a freely worded error ("passes judgment on people") is only found in words
close to the criterion's. A page limit counts as 500 words per page. Persons' names are only found after a
rank or near a pronoun. A report that pastes the expert's sentences passes. It is a stand-in for tests,
demonstrations and ranking similar reports, not a measure of a model.
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
"""Tasks whose criteria its rules were tuned on: agreement on their controls is reported separately."""

_HALF = 0.5
_SAYS_SOMETHING = 0.1  # share of the expert's words below which a text is not a report on the subject


@dataclass(frozen=True, slots=True)
class _Pair:
    """A report and the expert's report.

    Attributes:
        text, reference: their texts.
        report, expert: their indexes.
        own: for each sentence of the report, whether the expert says it.
    """

    text: str
    reference: str
    report: ReportIndex
    expert: ReportIndex
    own: Sequence[bool]

    def shares(self, least: float) -> bool:
        """True if the report has at least this share of the expert's words."""
        expert = frozenset[str]().union(*self.expert.keys)
        words = frozenset[str]().union(*self.report.keys)
        return bool(self.expert.sentences) and len(words & expert) >= least * len(expert)


def grade_against_reference(items: Sequence[Item], text: str, reference: str) -> list[ItemGrade]:
    """Grade every criterion, in order. Each grade depends only on its words, the text and the reference.

    Instructions in the text have no effect. An empty text meets no required criterion, not even an absence,
    and commits no penalty. The reference itself passes all criteria, unless it is empty.

    Args:
        items: the criteria of one task; only `requirement` and `is_error` are used.
        text: the report as graded, any Unicode.
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
    """Return the support for a criterion in the reference, and where a report must say it.

    A place is only required if the expert's report has it there.
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
    """Grade an absence, a length limit or headings of a text that is on the subject."""
    if asked.kind is Kind.absence:
        mode, why = _error(asked, pair)
        return (FailureMode.incorrect if mode else None), why
    if asked.kind is Kind.length:
        limit = asked.limit * (WORDS_A_PAGE if asked.unit == "pages" else 1)
        limit = max(limit, word_count(pair.reference))  # the expert keeps it, in any way of counting
        words = word_count(pair.text)
        return (None if words <= limit else FailureMode.incorrect), f"{words} words, limit {limit}"
    missing = missing_headings(pair.text, pair.reference)
    return (FailureMode.partial if missing else None), f"headings missing: {'; '.join(missing) or 'none'}"
