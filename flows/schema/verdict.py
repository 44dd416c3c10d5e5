"""Verdicts, and the scores and agreements computed from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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
    """One item of one brief by one judge.

    Attributes:
        scenario_id, seed: the brief.
        item_id: the item.
        status: whether it was graded.
        passed: None unless graded. For a wrong move, True means that the brief did not make it.
        mode: how it failed; None if it passed, was not graded, or the judge was not asked.
        reason: the judge's explanation, or why there is no verdict; may be empty.
    """

    scenario_id: str
    seed: int
    item_id: str
    status: VerdictStatus
    passed: bool | None
    mode: FailureMode | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.status is VerdictStatus.graded) != (self.passed is not None):
            raise ValueError(f"{self.item_id}: status {self.status} with passed={self.passed}")


@dataclass(frozen=True, slots=True)
class BriefScore:
    """The score of one judge's verdicts on one brief, under one set of weights.

    Items on which the judge gives no verdict by its rules are left out of all but `n_items`.

    Attributes:
        scenario_id, seed: the brief.
        score: severity-weighted, unclamped, over the graded items; None if too few were graded.
        score_clamped: `score` within [0, 1]; None if `score` is.
        score_low, score_high: the score if every missing verdict were a fail, or a pass; both equal
            `score` if none is missing.
        correct: share of graded items passed; None if `score` is.
        passed: share of graded positive items passed; None if `score` is.
        wrong: number of wrong moves made, among those graded; None if `score` is, or none was graded.
        n_items, n_graded: counts of items.
        n_refused, n_unparsed, n_error: ungraded items by reason.
    """

    scenario_id: str
    seed: int
    score: float | None
    score_clamped: float | None
    score_low: float
    score_high: float
    correct: float | None
    passed: float | None
    wrong: int | None
    n_items: int
    n_graded: int
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
    """A confidence interval, or the range of too few values for one.

    Attributes:
        low, high: its ends.
        method: name and parameters of the method, as printed.
        level: its coverage; None for a range.
    """

    low: float
    high: float
    method: str
    level: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A condition's mean under one judge: over seeds within scenarios, then over scenarios.

    Attributes:
        score: mean over scenarios with a scored brief, clamped if the scoring says so; None if there is
            none, or the share of scored briefs is below the scoring's floor. So are the other means.
        interval: over scenarios; None if `score` is, or fewer than two have a scored brief.
        score_low, score_high: the mean over all scenarios and briefs if every missing verdict were a
            fail, or a pass.
        score_clamped: the same mean with each brief clamped to [0, 1].
        correct, passed, wrong: means, as `score`.
        n_scenarios: scenarios with a scored brief.
        n_scenarios_all: scenarios asked for.
        n_briefs: scored briefs.
        n_briefs_all: briefs asked for.
        n_ungraded: items whose verdict is missing, over all briefs asked for.
        n_partial: scored briefs with missing verdicts that could change their score.
    """

    score: float | None
    interval: Interval | None
    score_low: float | None
    score_high: float | None
    score_clamped: float | None
    correct: float | None
    passed: float | None
    wrong: float | None
    n_scenarios: int
    n_scenarios_all: int
    n_briefs: int
    n_briefs_all: int
    n_ungraded: int
    n_partial: int = 0


@dataclass(frozen=True, slots=True)
class ExpertLabel:
    """An expert's label of one item of one brief.

    Attributes:
        rater: name of the expert.
        condition, scenario_id, seed: the brief.
        item_id: the item.
        passed: as in a verdict: for a wrong move, True means that the brief did not make it.
        where: file and row that it was read from, for messages.
    """

    rater: str
    condition: str
    scenario_id: str
    seed: int
    item_id: str
    passed: bool
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a judge's verdicts with labels or with another judge's verdicts.

    Margins are half of a 95% interval, clustered by scenario; None where there are too few clusters.

    Attributes:
        labels: what was compared, as printed (`labelled controls`, `judge pairs`, a judge), or the group.
        n: verdicts compared.
        n_ungraded: items without a verdict from either side; not in `n`.
        accuracy: share that agree; None if n is 0.
        kappa: Cohen's kappa; None if n is 0 or a side never varies.
        accuracy_margin, kappa_margin: margins of both.
        within: the kappa within each brief, pooled; None as `kappa`, or if no brief varies.
        within_margin: its margin.
        baselines: name and kappa of raters without a judge on the same labels, by name; a rater that never
            varies has 0. Empty if neither side is labels.
        groups: the same by `tier`, `severity` and `polarity`: `tier=1`.
    """

    labels: str
    n: int
    n_ungraded: int
    accuracy: float | None
    kappa: float | None
    accuracy_margin: float | None = None
    kappa_margin: float | None = None
    within: float | None = None
    within_margin: float | None = None
    baselines: tuple[tuple[str, float], ...] = ()
    groups: tuple[Agreement, ...] = ()

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
    """Agreement among a judge's repeats of the same questions.

    Attributes:
        n_repeats: number of repeats.
        n: items of briefs on which every repeat has a verdict.
        n_ungraded: items without a verdict in some repeat; not in `n`.
        unanimous: share of `n` on which all repeats agree; None if n is 0.
        pairs: each repeat compared with each later one.
    """

    n_repeats: int
    n: int
    n_ungraded: int
    unanimous: float | None
    pairs: tuple[Agreement, ...]


@dataclass(frozen=True, slots=True)
class PlaceEffect:
    """What an item's place in the rubric does to a judge's verdict.

    Attributes:
        change: change in the share of passes from the first place to the last, of items compared with
            themselves across repeats; mean over scenarios.
        interval: over scenarios, or their range; None for one scenario.
        n: verdicts of items that were shown at different places.
    """

    change: float
    interval: Interval | None
    n: int
