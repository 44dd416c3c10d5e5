"""Find why a passage with the words of a criterion does not say what the expert says."""

from __future__ import annotations

import re
from dataclasses import replace

from flows.schema.verdict import FailureMode
from flows.stages.offline import certainty, scales
from flows.stages.offline.asked_numbers import Group
from flows.stages.offline.quantities import Quantity, same
from flows.stages.offline.report_index import ReportIndex, Stretch, says_not
from flows.stages.offline.support import Support, given_group
from flows.stages.offline.swaps import swapped

_ON_THE_MATTER = 0.3  # share of a criterion's words
_SMALL = 20  # smaller numbers are common and may mean something else
_LACK = re.compile(
    r"\b(?:unable|fail(?:s|ed|ure)?|short(?:fall|age)?|falls? short|lacks?|lacking|insufficient|incapable"
    r"|too (?:few|late|little)|only|zero|missed|misses|missing|un\w{4,}ed)\b"
)


Fault = tuple[FailureMode, str]


def calibrated(bare: Support, reference: ReportIndex) -> Support:
    """Add to `bare` every check that the expert's own passage passes."""
    stretch = bare.stretch
    return replace(
        bare,
        checks=frozenset(name for name, check in _CHECKS.items() if check(bare, reference, stretch) is None),
        heads=all(_headed(group, bare, reference, stretch) for group in bare.numbers),
    )


def fault_of(wanted: Support, report: ReportIndex, stretch: Stretch) -> Fault | None:
    """Return why a passage with enough of the words does not say what is required; None if it does."""
    absent = [group[0] for group in wanted.numbers if not given_group(group, report, stretch)]
    if not absent and wanted.heads:
        absent = [group[0] for group in wanted.numbers if not _headed(group, wanted, report, stretch)]
    if absent:
        names = ", ".join(q.text for alternative in absent for q in alternative)
        known = [q for group in wanted.numbers for alternative in group for q in alternative]
        kinds = {q.dimension for alternative in absent for q in alternative}
        strange = [q for q in report.offered(stretch) if not any(same(k, q) for k in known)]
        mode = FailureMode.incorrect if any(q.dimension in kinds for q in strange) else FailureMode.partial
        return mode, f"without {names}"
    far = _apart(wanted, report)
    if far is not None:
        return FailureMode.partial, f"without {far.text}"
    for name, check in _CHECKS.items():
        if name in wanted.checks and (found := check(wanted, report, stretch)):
            return found
    return None


def _apart(wanted: Support, report: ReportIndex) -> Quantity | None:
    """Return the first number that the expert gives elsewhere and the report does not."""

    def given(quantity: Quantity, words: frozenset[str]) -> bool:
        return any(
            report.near(number) & words and any(same(quantity, q) for q in offered)
            for number, offered in enumerate(report.quantities)
        )

    for alternatives in wanted.apart:
        if not any(all(given(q, words) for q, words in each) for each in alternatives):
            return alternatives[0][0][0]
    return None


def _headed(group: Group, wanted: Support, report: ReportIndex, stretch: Stretch) -> bool:
    """True if the small numbers of an alternative refer to something in the criterion."""
    keys = frozenset(wanted.target.keys) | wanted.words
    return any(all(_of_it(q, keys, report, stretch) for q in alternative) for alternative in group)


def _of_it(quantity: Quantity, keys: frozenset[str], report: ReportIndex, stretch: Stretch) -> bool:
    if quantity.dimension or quantity.value >= _SMALL:
        return report.gives(quantity, stretch)
    for part in report.offered(stretch):
        if part.share and any(same(quantity, q) for q in (part, _whole(part, part.share))):
            return True  # "two of the four wide-body spots": what they count comes later
    return any(words & keys for number, words in report.parts(stretch) if same(quantity, number))


def _whole(part: Quantity, share: float) -> Quantity:
    """Return the four of "two of four"."""
    value = round(100 * part.value / share)
    return replace(part, value=value, face=value, share=None)


def _polarity(wanted: Support, report: ReportIndex, stretch: Stretch) -> Fault | None:
    """Check that what the expert denies is denied, and no word that the expert affirms follows a "not"."""
    for key in sorted(wanted.denied):
        places = _places(key, wanted, report, stretch)
        if not places or not all(_denies(key, report, number) for number in places):
            return FailureMode.incorrect, f"affirms {key}"
    for key in sorted(wanted.affirmed):
        if report.only_refuted(key, stretch):
            return FailureMode.incorrect, f"denies {key}"
    return None


def _places(key: str, wanted: Support, report: ReportIndex, stretch: Stretch) -> list[int]:
    """Return the sentences of a passage where a word must be denied: those with it and with the numbers.

    If another word replaces it, any sentence with enough of the criterion's words may deny it.
    """
    numbers = range(stretch.first, stretch.last + 1)
    places = [n for n in numbers if key in report.keys[n]]
    if not places:
        target = frozenset(wanted.target.keys)
        near = [n for n in numbers if len(target & report.keys[n]) >= _ON_THE_MATTER * len(target)]
        return [n for n in near if _denies(key, report, n)]
    asked = [q for group in wanted.numbers for each in group for q in each]
    with_numbers = [n for n in places if any(report.gives(q, Stretch(n, n, 0)) for q in asked)]
    return with_numbers or places


def _denies(key: str, report: ReportIndex, number: int) -> bool:
    """True if a sentence, or the heading with the word, denies anything."""
    said = report.sentences[number]
    if key in report.keys[number] - report.own_words(number):
        said = f"{report.contexts[number]} . {said}"
    return certainty.denies(said) or says_not(said) or _LACK.search(said) is not None


def _doubt(wanted: Support, report: ReportIndex, stretch: Stretch) -> Fault | None:
    said = report.said(stretch)
    if certainty.asks_for_doubt(wanted.asked.words):
        if not (certainty.is_hedged(said) or certainty.asks_for_doubt(said)):
            return FailureMode.unsupported, "given as certain"
    elif certainty.asks_for_firmness(wanted.asked.words) and certainty.asks_for_doubt(said):
        return FailureMode.incorrect, "given as doubtful"
    return None


def _scale(wanted: Support, report: ReportIndex, stretch: Stretch) -> Fault | None:
    found = scales.contradiction(scales.values(wanted.asked.words), scales.values(report.said(stretch)))
    return (FailureMode.incorrect, f"{found[1]} where {found[0]} is asked for") if found else None


def _swap(wanted: Support, report: ReportIndex, stretch: Stretch) -> Fault | None:
    found = swapped(wanted.counted, report.counted(stretch))
    if not found:
        return None
    return FailureMode.incorrect, f"{found[0].text} and {found[1].text} have changed places"


def _bound(wanted: Support, report: ReportIndex, stretch: Stretch) -> Fault | None:
    known = [q for group in wanted.asked.numbers for each in group for q in each]
    offered = [q for q in report.offered(stretch) if not any(same(k, q) for k in known)]
    for limit, sign in wanted.asked.bounds:
        kind = [q for q in offered if q.dimension == limit.dimension]
        if not any(sign * (q.value - limit.value) >= 0 for q in kind):
            return FailureMode.incorrect if kind else FailureMode.partial, f"without {limit.text} as a bound"
    return None


_CHECKS = {"bound": _bound, "polarity": _polarity, "doubt": _doubt, "scale": _scale, "swap": _swap}
