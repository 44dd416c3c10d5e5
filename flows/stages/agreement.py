"""Agreement of a judge's verdicts with labels, with another judge's and with its own repeats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from flows.schema.scenario import Item, classes
from flows.schema.verdict import Agreement, SelfAgreement

STAGE_VERSION = "1"


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """One item of one brief, graded by a label and by a judge.

    Both are as in a verdict: for a wrong move, True means that the brief did not make it.

    Attributes:
        item: the item, whose tier and severity determine its groups.
        label: the label, given before any judge saw the brief.
        verdict: the judge's verdict; None if it has none.
    """

    item: Item
    label: bool
    verdict: bool | None


def measure_agreement(labels: str, pairs: Sequence[LabelledVerdict]) -> Agreement:
    """Compute accuracy and Cohen's kappa, overall and by tier, severity and polarity.

    An item without a verdict counts only in `n_ungraded`. Groups are in the order tier, severity,
    polarity, each in the order of its enum
    (`polarity=positive` before `polarity=negative`). A group without labelled items is left out; one
    with items but no verdicts is kept, with n 0.

    Args:
        labels: name of the labels, as printed.
        pairs: in any order.
    """
    groups: list[tuple[str, int, float | None, float | None]] = []
    for name, belongs in _groups([pair.item for pair in pairs]):
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
    """Compare two judges on the same items. Accuracy is the share that agree; neither is the reference.

    Args:
        name: name of the other judge, as printed.
        pairs: an item of a brief and both verdicts, as in `Verdict.passed`; None if a judge has none, which
            counts only in `n_ungraded`.
    """
    labelled = [
        LabelledVerdict(item, first is True, None if first is None else second)
        for item, first, second in pairs
    ]
    return measure_agreement(name, labelled)


def measure_self_agreement(asked: Sequence[tuple[Item, Sequence[bool | None]]]) -> SelfAgreement | None:
    """Compute the agreement among a judge's repeats; None if nothing was asked more than once.

    Args:
        asked: an item of a brief and its verdict in each repeat; the same number for each item.

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


def _groups(items: Sequence[Item]) -> list[tuple[str, Callable[[Item], bool]]]:
    """Return each group's name and membership test, in printed order."""

    def of_tier(tier: str) -> Callable[[Item], bool]:
        return lambda item: str(item.tier) == tier

    def of_severity(severity: str) -> Callable[[Item], bool]:
        return lambda item: item.severity == severity

    return [
        *((f"tier={tier}", of_tier(tier)) for tier in classes(items, "tier")),
        *((f"severity={severity}", of_severity(severity)) for severity in classes(items, "severity")),
        ("polarity=positive", lambda item: not item.is_error),
        ("polarity=negative", lambda item: item.is_error),
    ]


@dataclass(frozen=True, slots=True)
class _Counts:
    """The two-by-two table of labels and verdicts, without ungraded items."""

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

        None if a side never varies: chance explains every agreement, and 0 (or 0/0 if both are
        constant) would look like a finding about the judge.
        """
        a, b, c, d = self.both_passed, self.only_label, self.only_verdict, self.both_failed
        if 0 in (a + b, c + d, a + c, b + d):
            return None
        return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
