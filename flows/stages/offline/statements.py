"""The rule for statements: a report must cover as much of the criterion as the expert's report."""

from __future__ import annotations

from dataclasses import dataclass

from flows.schema.verdict import FailureMode
from flows.stages.offline.criteria import Asked
from flows.stages.offline.faults import calibrated, fault_of
from flows.stages.offline.report_index import ReportIndex, Stretch
from flows.stages.offline.support import LENGTH_PRICE, LONGEST, Support, bare_support, given_group, share_of

_ENOUGH = 0.6  # share of the criterion's words that the expert's report has
_ENOUGH_WITH_NUMBERS = 0.45


@dataclass(frozen=True, slots=True)
class Finding:
    """The deciding passage of a report.

    Attributes:
        mode: how it failed; None if it passes.
        why: the reason.
        stretch: None for a report without a sentence.
        share: share of the expert's words; above 1 if it has more of the criterion's.
    """

    mode: FailureMode | None
    why: str
    stretch: Stretch | None
    share: float


def support(asked: Asked, reference: ReportIndex, whole: ReportIndex) -> Support | None:
    """Return what a report is measured by; None if the expert's report has nothing of the criterion.

    Args:
        asked: the criterion.
        reference: the part of the expert's report that is compared.
        whole: all of it, for word frequencies.
    """
    bare = bare_support(asked, reference, whole)
    return None if bare is None else calibrated(bare, reference)


def find(wanted: Support, report: ReportIndex) -> Finding:
    """Find the passage of a report that says what is required, or the closest one.

    It passes if any passage of up to three sentences has enough words, gives the numbers and contradicts
    nothing.
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
