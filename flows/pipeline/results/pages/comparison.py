"""Two graded conditions side by side, on the scenarios that both were graded on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from flows.common.errors import StaffbenchError
from flows.common.text import number
from flows.pipeline.results.graded import Graded, scored
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.aggregate import Difference, mean_difference


@dataclass(frozen=True)
class ItemCounts:
    """One item under both conditions.

    Attributes:
        scenario_id: its scenario.
        item: the item.
        passed, graded: numbers of verdicts of the first and the second condition; a verdict that is missing
            counts in neither.
    """

    scenario_id: str
    item: Item
    passed: tuple[int, int]
    graded: tuple[int, int]

    @property
    def gap(self) -> float | None:
        """First share of passes minus the second; None if one has no verdict."""
        if 0 in self.graded:
            return None
        return self.passed[0] / self.graded[0] - self.passed[1] / self.graded[1]

    def shown(self, side: int) -> str:
        """Passes of graded verdicts, such as `2/3`; a dash without any."""
        return f"{self.passed[side]}/{self.graded[side]}" if self.graded[side] else "-"


@dataclass(frozen=True)
class Comparison:
    """The comparison of two conditions.

    Attributes:
        entries: the conditions.
        difference: first minus second, paired by scenario.
        scenarios: id and mean score of each, over the scored briefs; None without any.
        items: of the common scenarios, in the order of their rubrics.
    """

    entries: tuple[Graded, Graded]
    difference: Difference
    scenarios: tuple[tuple[str, float | None, float | None], ...]
    items: tuple[ItemCounts, ...]


def compare_entries(
    entries: tuple[Graded, Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> Comparison:
    """Compare two conditions.

    Args:
        entries: the conditions.
        scenarios: by id.
        scoring: the weights.

    Raises:
        StaffbenchError: they share no scenario, or only one of them was scored by another harness.
    """
    if entries[0].is_foreign != entries[1].is_foreign:
        raise StaffbenchError(
            " and ".join(entry.condition for entry in entries),
            "one has the rewards of Harbor's verifier, the other scores by this project's weights",
            "two of the same kind",
        )
    common = [name for name in entries[0].about["scenarios"] if name in entries[1].about["scenarios"]]
    if not common:
        raise StaffbenchError(
            " and ".join(entry.condition for entry in entries), "no scenario that both were graded on"
        )
    means = [scenario_means(entry, scenarios, scoring) for entry in entries]
    return Comparison(
        entries,
        mean_difference(means[0], means[1], common, scoring),
        tuple((name, means[0].get(name), means[1].get(name)) for name in common),
        tuple(_items(entries, common, scenarios)),
    )


def scenario_means(
    entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> dict[str, float]:
    """Return the mean score of each scenario over its scored briefs, as it is averaged; without any, none."""
    is_clamped = scoring.clamped
    if entry.is_foreign:
        is_clamped = bool(entry.about["harbor"].get("clamped", True))
    found: dict[str, list[float]] = {}
    for score in scored(entry, scenarios, scoring).scores:
        value = score.score_clamped if is_clamped else score.score
        if value is not None:
            found.setdefault(score.scenario_id, []).append(value)
    return {name: math.fsum(values) / len(values) for name, values in found.items()}


def _items(
    entries: tuple[Graded, Graded], common: list[str], scenarios: Mapping[str, Scenario]
) -> list[ItemCounts]:
    counts: list[dict[tuple[str, str], list[bool]]] = [{}, {}]
    for side, entry in enumerate(entries):
        for verdict in entry.verdicts:
            if verdict.passed is not None:
                counts[side].setdefault((verdict.scenario_id, verdict.item_id), []).append(verdict.passed)
    found: list[ItemCounts] = []
    for name in common:
        for item in scenarios[name].items if name in scenarios else ():
            verdicts = [side.get((name, item.item_id), []) for side in counts]
            passed, graded = (sum(verdicts[0]), sum(verdicts[1])), (len(verdicts[0]), len(verdicts[1]))
            found.append(ItemCounts(name, item, passed, graded))
    return found


def difference_text(found: Difference, level: float) -> str:
    """Format a difference with its interval and what it is based on."""
    of = f"{found.n_scenarios} of {found.n_scenarios_all} scenarios"
    if found.difference is None:
        return f"unknown: no scenario has a score under both ({of})"
    text = f"{found.difference:+.3f}"
    if found.interval is None:
        return f"{text}, without an interval: {of}"
    low, high = found.interval.low, found.interval.high
    if found.interval.level is None:
        return f"{text}, from {number(low)} to {number(high)}. Paired by scenario, {of}; {found.interval.method}"
    text += f", {100 * level:g}% interval {number(low)} to {number(high)}"
    sides = "it excludes 0" if low > 0 or high < 0 else "it includes 0"
    return f"{text}: {sides}. Paired by scenario, {of}; {found.interval.method}"
