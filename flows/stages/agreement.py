"""How far a judge's verdicts agree with labels, with another judge's, and with its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from flows.schema.scenario import Item, Severity, Tier
from flows.schema.verdict import Agreement, SelfAgreement

STAGE_VERSION = "1"


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """One item of one brief, graded twice: by its label and by a judge.

    Both answers are in the sense of a verdict: for a wrong move, True means that the brief did not
    make it.

    Attributes:
        item: what was graded; its tier and severity place it in the groups.
        label: what was written down before any judge saw the brief.
        verdict: what the judge said; None where it left the item without a verdict.
    """

    item: Item
    label: bool
    verdict: bool | None


def measure_agreement(labels: str, pairs: Sequence[LabelledVerdict]) -> Agreement:
    """Accuracy and Cohen's kappa, overall and by tier, severity and polarity.

    An item without a verdict counts in `n_ungraded` alone: it neither agrees nor disagrees.
    Groups come in the order tier, severity, polarity, each in the order of its enumeration
    (`polarity=positive` before `polarity=negative`). A group with no labelled item is left out; one
    whose items all lack a verdict is kept, with n 0.

    Args:
        labels: what was compared with, as printed.
        pairs: in any order; the result does not depend on it.
    """
    groups: list[tuple[str, int, float | None, float | None]] = []
    for name, belongs in _groups():
        members = [pair for pair in pairs if belongs(pair.item)]
        if members:
            counts = _Counts.of(members)
            groups.append((name, counts.n, counts.accuracy, counts.kappa))
    overall = _Counts.of(pairs)
    return Agreement(
        labels=labels,
        n=overall.n,
        n_ungraded=len(pairs) - overall.n,
        accuracy=overall.accuracy,
        kappa=overall.kappa,
        groups=tuple(groups),
    )


def compare_verdicts(name: str, pairs: Sequence[tuple[Item, bool | None, bool | None]]) -> Agreement:
    """Two graders on the same items. Neither is taken to be right: accuracy is the share that agrees.

    Args:
        name: of the other grader, as printed.
        pairs: an item of a brief and both verdicts, in the sense of `Verdict.passed`; None where a
            grader has none, which counts in `n_ungraded` alone.
    """
    labelled = [
        LabelledVerdict(item, first is True, None if first is None else second)
        for item, first, second in pairs
    ]
    return measure_agreement(name, labelled)


def measure_self_agreement(asked: Sequence[tuple[Item, Sequence[bool | None]]]) -> SelfAgreement | None:
    """How far the repeats of one judge agree; None where nothing was asked more than once.

    Args:
        asked: an item of a brief and its verdict at each repeat, as many for each item.

    Raises:
        ValueError: items with different numbers of repeats.
    """
    numbers = {len(verdicts) for _, verdicts in asked}
    if len(numbers) > 1:
        raise ValueError(f"items with {sorted(numbers)} repeats")
    n_repeats = max(numbers, default=0)
    if n_repeats < 2:  # noqa: PLR2004 -- it takes two to agree
        return None
    whole = [verdicts for _, verdicts in asked if None not in verdicts]
    same = sum(len(set(verdicts)) == 1 for verdicts in whole)
    pairs = [
        compare_verdicts(
            f"repeat {first + 1} against repeat {second + 1}",
            [(item, verdicts[first], verdicts[second]) for item, verdicts in asked],
        )
        for first, second in combinations(range(n_repeats), 2)
    ]
    return SelfAgreement(
        n_repeats=n_repeats,
        n=len(whole),
        n_ungraded=len(asked) - len(whole),
        unanimous=same / len(whole) if whole else None,
        pairs=tuple(pairs),
    )


def _groups() -> list[tuple[str, Callable[[Item], bool]]]:
    """Name and membership of every group, in printed order."""

    def of_tier(tier: Tier) -> Callable[[Item], bool]:
        return lambda item: item.tier is tier

    def of_severity(severity: Severity) -> Callable[[Item], bool]:
        return lambda item: item.severity is severity

    return [
        *((f"tier={tier.value}", of_tier(tier)) for tier in Tier),
        *((f"severity={severity.value}", of_severity(severity)) for severity in Severity),
        ("polarity=positive", lambda item: not item.is_error),
        ("polarity=negative", lambda item: item.is_error),
    ]


@dataclass(frozen=True, slots=True)
class _Counts:
    """The two-by-two table of label against verdict, ungraded items left out."""

    both_passed: int
    only_label: int
    only_verdict: int
    both_failed: int

    @classmethod
    def of(cls, pairs: Sequence[LabelledVerdict]) -> _Counts:
        cells = [(pair.label, pair.verdict) for pair in pairs if pair.verdict is not None]
        return cls(
            both_passed=cells.count((True, True)),
            only_label=cells.count((True, False)),
            only_verdict=cells.count((False, True)),
            both_failed=cells.count((False, False)),
        )

    @property
    def n(self) -> int:
        return self.both_passed + self.only_label + self.only_verdict + self.both_failed

    @property
    def accuracy(self) -> float | None:
        return (self.both_passed + self.both_failed) / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa, (p_o - p_e) / (1 - p_e).

        Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and
        Psychological Measurement 20(1), 1960, pp. 37-46. With p_o = (a + d) / n and
        p_e = ((a + b)(a + c) + (c + d)(b + d)) / n^2 it is, for two categories and free of rounding
        until the last division, 2(ad - bc) / ((a + b)(b + d) + (a + c)(c + d)).

        None where a side never varies: chance alone then explains every agreement, and the number
        (0, or 0/0 where both are constant) would read as a finding about the judge.
        """
        a, b, c, d = self.both_passed, self.only_label, self.only_verdict, self.both_failed
        if 0 in (a + b, c + d, a + c, b + d):
            return None
        return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
