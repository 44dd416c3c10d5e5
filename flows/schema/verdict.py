"""One item of one brief by one judge, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class VerdictStatus(StrEnum):
    """Whether an item was graded and, if not, why. Only `graded` has a `passed`."""

    graded = "graded"
    refused = "refused"  # the writer or the judge was stopped by a content filter
    unparsed = "unparsed"  # the judge answered, but never validly
    error = "error"  # no reply from the writer or the judge after every attempt


class FailureMode(StrEnum):
    """How an item was failed. `committed` belongs to wrong moves, the others to requirements."""

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
        mode: how it failed; None where it passed, was not graded, or the judge was not asked.
        reason: the judge's words, or why there is no verdict; may be empty.
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
    """What one judge's verdicts on one brief come to, under one set of weights.

    Attributes:
        scenario_id, seed: the brief.
        score: severity-weighted, unclamped; None unless every item was graded.
        score_clamped: `score` within [0, 1]; None where `score` is.
        score_low, score_high: the score if every ungraded item had failed, or passed; both equal
            `score` where all were graded.
        correct: share of all items passed; None unless every item was graded.
        passed: share of positive items passed; None unless every item was graded.
        wrong: number of wrong moves made; None unless every item was graded.
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


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made.

    Attributes:
        low, high: its ends.
        method: name of the method with its numbers, as printed.
    """

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A condition's mean under one judge: seeds within scenarios, then scenarios.

    Attributes:
        score: mean over scenarios that have a scored brief, of briefs as the scoring counts them:
            clamped or not; None where there is none.
        interval: over scenarios; None where fewer than two have a scored brief.
        score_low, score_high: the mean over all scenarios and briefs if every ungraded item had
            failed, or passed.
        score_clamped: the same mean with each brief clamped to [0, 1].
        correct, passed, wrong: means, as `score`.
        n_scenarios: scenarios with a scored brief.
        n_scenarios_all: scenarios asked for.
        n_briefs: scored briefs.
        n_briefs_all: briefs asked for.
        n_ungraded: items without a verdict, over all briefs asked for.
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


@dataclass(frozen=True, slots=True)
class ExpertLabel:
    """What a person decided on one item of one brief.

    Attributes:
        rater: who.
        condition, scenario_id, seed: the brief, as its results are filed.
        item_id: the item.
        passed: in the sense of a verdict: for a wrong move, True means that the brief did not make it.
    """

    rater: str
    condition: str
    scenario_id: str
    seed: int
    item_id: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge's verdicts agree with labels, or with another judge's.

    Attributes:
        labels: what was compared with, as printed (`labelled controls`, `judge pairs`, a judge).
        n: verdicts compared.
        n_ungraded: items that the judge, or the other one, left without a verdict; not in `n`.
        accuracy: share that agree; None where n is 0.
        kappa: Cohen's kappa; None where n is 0 or either side never varies.
        groups: the same by `tier`, `severity` and `polarity`: `tier=1` to (n, accuracy, kappa).
    """

    labels: str
    n: int
    n_ungraded: int
    accuracy: float | None
    kappa: float | None
    groups: tuple[tuple[str, int, float | None, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """How far a judge agrees with itself, asked the same question several times.

    Attributes:
        n_repeats: how often it was asked.
        n: items of briefs on which every repeat has a verdict.
        n_ungraded: those on which one or more have none; not in `n`.
        unanimous: share of `n` on which all repeats agree; None where n is 0.
        pairs: each repeat against each later one.
    """

    n_repeats: int
    n: int
    n_ungraded: int
    unanimous: float | None
    pairs: tuple[Agreement, ...]
