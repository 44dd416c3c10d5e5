"""Pooled verdict counts of a condition by step, tier, severity, scenario or failure mode."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from flows.common.errors import ScenarioError
from flows.schema.scenario import Item, classes
from flows.schema.verdict import Count, FailureMode, Verdict

UNSTATED = "unstated"
"""Group of requirements that failed without the judge being asked for a mode."""

UNCLASSED = "none"
"""Group of items that have no step, tier or severity."""

Grouping = Literal["step", "tier", "severity", "scenario", "mode"]

_KINDS = ("requirement", "error")
_MODES = [*(mode.value for mode in FailureMode), UNSTATED]


def breakdowns(
    items_by_scenario: Mapping[str, Sequence[Item]],
    verdicts: Iterable[Verdict],
    groupings: Sequence[Grouping],
) -> dict[Grouping, list[Count]]:
    """Count passes by properties of the items, or failures by mode, pooled over all verdicts.

    By mode, each group holds every item that can fail in that mode: wrong moves for `committed`,
    requirements for the others. `failed` counts those that did. A pooled rate weights scenarios by their
    items and does not estimate a score.

    Returns:
        One row per group and kind in the rubrics, in the order of `classes`, requirements first; `n`
        is 0 without verdicts. Items that lack the class are the last group.

    Raises:
        ScenarioError: a verdict on an unknown item.
    """
    tallies = {
        (scenario_id, item.item_id): _Tally()
        for scenario_id, items in items_by_scenario.items()
        for item in items
    }
    for verdict in verdicts:
        tally = tallies.get((verdict.scenario_id, verdict.item_id))
        if tally is None:
            where = f"{verdict.scenario_id}/{verdict.seed}"
            raise ScenarioError(where, f"a verdict on {verdict.item_id}", "an item of its rubric")
        if verdict.passed is None:
            tally.ungraded += 1
        elif verdict.passed:
            tally.passed += 1
        else:
            tally.failed[verdict.mode.value if verdict.mode else UNSTATED] += 1
    return {by: _pooled(items_by_scenario, tallies, by) for by in groupings}


@dataclass(slots=True)
class _Tally:
    """Verdicts on one item, or on a group of items."""

    passed: int = 0
    ungraded: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])  # by mode


def _pooled(
    items_by_scenario: Mapping[str, Sequence[Item]],
    tallies: Mapping[tuple[str, str], _Tally],
    by: Grouping,
) -> list[Count]:
    sums: dict[tuple[str, str], _Tally] = {}
    for scenario_id, items in items_by_scenario.items():
        for item in items:
            if by == "scenario":
                group = scenario_id
            elif by == "mode":
                group = ""  # one for all items: the verdict decides
            else:
                value = getattr(item, by)
                group = UNCLASSED if value is None else str(value)
            own = tallies[scenario_id, item.item_id]
            total = sums.setdefault((group, "error" if item.is_error else "requirement"), _Tally())
            total.passed += own.passed
            total.ungraded += own.ungraded
            if own.failed:
                total.failed.update(own.failed)

    def row(group: str, kind: str, total: _Tally, mode: str = "") -> Count:
        n = total.passed + total.failed.total()
        return Count(group, kind, n, n - total.failed[mode] if mode else total.passed, total.ungraded)

    if by == "mode":
        return [
            row(mode, kind, total, mode)
            for kind in _KINDS
            if (total := sums.get(("", kind))) is not None
            for mode in _MODES
            if (mode == FailureMode.committed.value) == (kind == "error") or total.failed[mode]
        ]
    groups = list(items_by_scenario)
    if by != "scenario":
        groups = [*classes(chain.from_iterable(items_by_scenario.values()), by), UNCLASSED]
    return [
        row(group, kind, total)
        for kind in _KINDS
        for group in groups
        if (total := sums.get((group, kind))) is not None
    ]
