"""The rule for statements: a report has to say as much of the criterion as the expert's report does."""

from __future__ import annotations

from dataclasses import dataclass

from flows.schema.verdict import FailureMode
from flows.stages.offline.criteria import Asked
from flows.stages.offline.faults import calibrated, fault_of
from flows.stages.offline.report_index import ReportIndex, Stretch
from flows.stages.offline.support import LENGTH_PRICE, LONGEST, Support, bare_support, given_group, share_of

_ENOUGH = 0.6  # of what the expert's report has of the criterion's words
_ENOUGH_WITH_NUMBERS = 0.45


@dataclass(frozen=True, slots=True)
class Finding:
    """The stretch of a report that decides.

    Attributes:
        mode: how it failed; None where it passes.
        why: what decided.
        stretch: None for a report without a sentence.
        share: of the expert's words, above 1 where it has more of the criterion's.
    """

    mode: FailureMode | None
    why: str
    stretch: Stretch | None
    share: float


def support(asked: Asked, reference: ReportIndex, whole: ReportIndex) -> Support | None:
    """What a report is measured by; None where the expert's report has nothing of the criterion.

    Args:
        asked: the criterion.
        reference: the part of the expert's report that is compared.
        whole: all of it, which says how rare a word is.
    """
    bare = bare_support(asked, reference, whole)
    return None if bare is None else calibrated(bare, reference)


def find(wanted: Support, report: ReportIndex) -> Finding:
    """The stretch of a report that says what is asked, or the one that comes closest.

    It passes where any stretch of up to three sentences has enough of the words, gives the numbers
    and contradicts nothing.
    """
    closest = Finding(FailureMode.omission, "nothing to compare", None, 0.0)
    least = _ENOUGH_WITH_NUMBERS if wanted.numbers else _ENOUGH
    best = (-1, -1.0)
    shares: dict[int, float] = {}
    for stretch in report.stretches(wanted.target, longest=LONGEST):
        if stretch.mask not in shares:
            shares[stretch.mask] = (
                share_of(stretch.mask, wanted.weights) / wanted.share if wanted.share else 1.0
            )
        share = shares[stretch.mask]
        enough = share >= least
        fault = fault_of(wanted, report, stretch) if enough else None
        why = f"{share:.0%} of what the expert has of it"
        if enough and fault is None:
            return Finding(None, why, stretch, share)
        numbers = sum(given_group(group, report, stretch) for group in wanted.numbers) if enough else 0
        value = (int(enough) + numbers, share - LENGTH_PRICE * (stretch.last - stretch.first))
        if value > best:
            best = value
            mode = fault[0] if fault else FailureMode.omission
            detail = fault[1] if fault else _missing(wanted, stretch)
            closest = Finding(mode, f"{why}, {detail}", stretch, share)
    return closest


def _missing(wanted: Support, stretch: Stretch) -> str:
    absent = [key for bit, key in enumerate(wanted.target.keys) if not stretch.mask >> bit & 1]
    return f"without {', '.join(absent) or 'more'}"
