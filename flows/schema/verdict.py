"""Verdicts, and the scores and agreements computed from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from flows.common.text import number


class VerdictStatus(StrEnum):
    """Whether an item was graded and, if not, why. Only `graded` ones have `passed`."""

    graded = "graded"
    refused = "refused"  # the writer or the judge was stopped by a content filter
    unparsed = "unparsed"  # the judge never gave a valid reply
    error = "error"  # no reply from the writer or the judge after all attempts
    abstained = "abstained"  # the judge gives no verdict on such items, by its rules

    @property
    def is_missing(self) -> bool:
        """True if a verdict was asked for and is missing.

        Missing verdicts lower the coverage and widen the bounds. An item that its judge does not grade by
        design is neither graded nor missing, and not part of the score.
        """
        return self in _MISSING


_MISSING = frozenset({VerdictStatus.refused, VerdictStatus.unparsed, VerdictStatus.error})


class FailureMode(StrEnum):
    """How an item failed. `committed` is for wrong moves, the others for requirements."""

    omission = "omission"
    partial = "partial"
    incorrect = "incorrect"
    unsupported = "unsupported"
    committed = "committed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One item of one brief by one judge."""

    scenario_id: str
    seed: int
    item_id: str
    status: VerdictStatus  # whether it was graded
    passed: bool | None  # None unless graded. For a wrong move, True means that the brief did not make it.
    # How it failed; None if it passed, was not graded, or the judge was not asked.
    mode: FailureMode | None = None
    reason: str = ""  # the judge's explanation, or why there is no verdict; may be empty

    def __post_init__(self) -> None:
        if (self.status is VerdictStatus.graded) != (self.passed is not None):
            raise ValueError(f"{self.item_id}: status {self.status} with passed={self.passed}")


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """The verdict of one call, or by the rules of the offline judge, on one item; without the brief."""

    item_id: str
    status: VerdictStatus  # whether it was graded
    passed: bool | None  # None unless graded. For a wrong move, True means that the brief did not make it.
    # How it failed; None if it passed, was not graded, or the judge was not asked.
    mode: FailureMode | None = None
    reason: str = ""  # the judge's explanation, or why there is no verdict; may be empty


@dataclass(frozen=True, slots=True)
class BriefScore:
    """The score of one judge's verdicts on one brief, under one set of weights.

    Items on which the judge gives no verdict by its rules are left out of all but `n_items`.
    """

    scenario_id: str
    seed: int
    score: float | None  # severity-weighted, unclamped, over the graded items; None if too few were graded
    score_clamped: float | None  # `score` within [0, 1]; None if `score` is
    # The score if every missing verdict were a fail, or a pass; both equal `score` if none is missing.
    score_low: float
    score_high: float
    correct: float | None  # share of graded items passed; None if `score` is
    passed: float | None  # share of graded positive items passed; None if `score` is
    # Number of wrong moves made, among those graded; None if `score` is, or none was graded: a rubric without
    # wrong moves, or a judge that abstains, says nothing on them.
    wrong: int | None
    n_items: int
    n_graded: int
    # Ungraded items by reason.
    n_refused: int
    n_unparsed: int
    n_error: int

    @property
    def n_missing(self) -> int:
        """Items whose verdict is missing."""
        return self.n_refused + self.n_unparsed + self.n_error

    @property
    def is_partial(self) -> bool:
        """True if the score leaves out missing verdicts that could change it."""
        return self.score is not None and self.score_low < self.score_high

    @property
    def n_abstained(self) -> int:
        """Items on which the judge gives no verdict by its rules."""
        return self.n_items - self.n_graded - self.n_missing


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the range of too few values for one."""

    low: float
    high: float
    method: str  # name and parameters of the method, as printed
    level: float | None = None  # its coverage; None for a range

    @property
    def text(self) -> str:
        """The ends, and what it is if it is no interval."""
        ends = f"{number(self.low)} to {number(self.high)}"
        return ends if self.level is not None else f"{ends} (range)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A condition's mean under one judge: over seeds within scenarios, then over scenarios."""

    # Mean over scenarios with a scored brief, clamped if the scoring says so; None if there is none, or the
    # share of scored briefs is below the scoring's floor. So are the other means.
    score: float | None
    interval: Interval | None  # over scenarios; None if `score` is, or fewer than two have a scored brief
    # The mean over all scenarios and briefs if every missing verdict were a fail, or a pass.
    score_low: float | None
    score_high: float | None
    score_clamped: float | None  # the same mean with each brief clamped to [0, 1]
    # Means, as `score`; of `wrong` over the scenarios that have it.
    correct: float | None
    passed: float | None
    wrong: float | None
    n_scenarios: int  # scenarios with a scored brief
    n_scenarios_all: int  # scenarios asked for
    n_briefs: int  # scored briefs
    n_briefs_all: int  # briefs asked for
    n_ungraded: int  # items whose verdict is missing, over all briefs asked for
    n_partial: int = 0  # scored briefs with missing verdicts that could change their score


@dataclass(frozen=True, slots=True)
class Count:
    """Verdicts of one group of items, pooled over briefs."""

    group: str  # the step, tier, severity, scenario or failure mode
    kind: str  # `requirement` or `error`; the two are never pooled
    n: int  # graded verdicts
    passed: int  # graded verdicts that passed; by mode, those that did not fail in this mode
    ungraded: int  # items without a verdict

    @property
    def failed(self) -> int:
        """Graded verdicts that failed; by mode, in this mode."""
        return self.n - self.passed

    @property
    def rate(self) -> float | None:
        """Share passed; None if nothing was graded."""
        return self.passed / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class ExpertLabel:
    """An expert's label of one item of one brief."""

    rater: str  # name of the expert
    condition: str
    scenario_id: str
    seed: int
    item_id: str
    passed: bool  # as in a verdict: for a wrong move, True means that the brief did not make it
    where: str = field(default="", compare=False)  # file and row that it was read from, for messages


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a judge's verdicts with labels or with another judge's verdicts.

    Margins are half of a 95% interval, clustered by scenario; None where there are too few clusters.
    """

    labels: str  # what was compared, as printed (`labelled controls`, `judge pairs`, a judge), or the group
    n: int  # verdicts compared
    n_ungraded: int  # items without a verdict from either side; not in `n`
    accuracy: float | None  # share that agree; None if n is 0
    kappa: float | None  # Cohen's kappa; None if n is 0 or a side never varies
    accuracy_margin: float | None = None
    kappa_margin: float | None = None
    within: float | None = None  # the kappa within each brief, pooled; None as `kappa`, or if no brief varies
    within_margin: float | None = None
    # Name and kappa of raters without a judge on the same labels, by name; a rater that never varies has 0.
    # Empty if neither side is labels.
    baselines: tuple[tuple[str, float], ...] = ()
    groups: tuple[Agreement, ...] = ()  # the same by `tier`, `severity` and `polarity`: `tier=1`

    @property
    def no_better_than(self) -> tuple[str, float] | None:
        """The best baseline, if the kappa is not above it; None if it is, or nothing can be compared."""
        best = max(self.baselines, key=lambda baseline: baseline[1], default=None)
        if best is None or not self.n:
            return None
        # Without a kappa the verdicts never vary, or the labels: then no baseline has one above 0.
        return best if (best[1] > 0 if self.kappa is None else self.kappa <= best[1]) else None


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """Agreement among a judge's repeats of the same questions."""

    n_repeats: int
    n: int  # items of briefs on which every repeat has a verdict
    n_ungraded: int  # items without a verdict in some repeat; not in `n`
    unanimous: float | None  # share of `n` on which all repeats agree; None if n is 0
    pairs: tuple[Agreement, ...]  # each repeat compared with each later one


@dataclass(frozen=True, slots=True)
class PlaceEffect:
    """What an item's place in the rubric does to a judge's verdict."""

    # Change in the share of passes from the first place to the last, of items compared with themselves across
    # repeats; mean over scenarios.
    change: float
    interval: Interval | None  # over scenarios, or their range; None for one scenario
    n: int  # verdicts of items that were shown at different places
