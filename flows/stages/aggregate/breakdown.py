"""Pooled verdict counts of a condition by step, tier, severity, scenario or failure mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from flows.common.errors import ScenarioError
from flows.schema.scenario import Item, classes
from flows.schema.verdict import FailureMode, Verdict


@dataclass(frozen=True, slots=True)
class Count:
    """Verdicts of one group of items, pooled over briefs.

    Attributes:
        group: the step, tier, severity, scenario or failure mode.
        kind: `requirement` or `error`; the two are never pooled.
        n: graded verdicts.
        passed: graded verdicts that passed; by mode, those that did not fail in this mode.
        ungraded: items without a verdict.
    """

    group: str
    kind: str
    n: int
    passed: int
    ungraded: int

    @property
    def failed(self) -> int:
        """Graded verdicts that failed; by mode, in this mode."""
        return self.n - self.passed

    @property
    def rate(self) -> float | None:
        """Share passed; None if nothing was graded."""
        return self.passed / self.n if self.n else None


UNSTATED = "unstated"
"""Group of requirements that failed without the judge being asked for a mode."""

UNCLASSED = "none"
"""Group of items that have no step, tier or severity."""

Grouping = Literal["step", "tier", "severity", "scenario", "mode"]

_MODES = [*(mode.value for mode in FailureMode), UNSTATED]


def breakdown(
    items_by_scenario: Mapping[str, Sequence[Item]], verdicts: Iterable[Verdict], by: Grouping
) -> list[Count]:
    """Count passes by a property of the items, or failures by mode, pooled over all verdicts.

    By mode, each group holds every item that can fail in that mode: wrong moves for `committed`,
    requirements for the others. `failed` counts those that did. A pooled rate weights scenarios by their
    items and does not estimate a score.

    Args:
        items_by_scenario: rubrics by scenario id.
        verdicts: verdicts of one judge on any number of briefs.
        by: `step`, `tier`, `severity`, `scenario` or `mode`.

    Returns:
        One row per group and kind in the rubrics, in the order of `classes`, requirements first; `n`
        is 0 without verdicts. Items that lack the class are the last group.

    Raises:
        ScenarioError: a verdict on an unknown item.
    """
    return breakdowns(items_by_scenario, verdicts, [by])[by]


def breakdowns(
    items_by_scenario: Mapping[str, Sequence[Item]],
    verdicts: Iterable[Verdict],
    groupings: Sequence[Grouping],
) -> dict[Grouping, list[Count]]:
    """Compute `breakdown` by several properties in one pass over the verdicts.

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
            mode = verdict.mode.value if verdict.mode else UNSTATED
            tally.failed[mode] = tally.failed.get(mode, 0) + 1
    return {by: _pooled(items_by_scenario, tallies, by) for by in groupings}


@dataclass(slots=True)
class _Tally:
    """Verdicts on one item."""

    passed: int = 0
    ungraded: int = 0
    failed: dict[str, int] = field(default_factory=dict[str, int])  # by mode


def _pooled(
    items_by_scenario: Mapping[str, Sequence[Item]],
    tallies: Mapping[tuple[str, str], _Tally],
    by: Grouping,
) -> list[Count]:
    graded: dict[tuple[str, str], int] = {}
    passed: dict[tuple[str, str], int] = {}
    ungraded: dict[tuple[str, str], int] = {}
    failed: dict[tuple[str, str], int] = {}  # by mode and kind
    for scenario_id, items in items_by_scenario.items():
        for item in items:
            kind = "error" if item.is_error else "requirement"
            key = (scenario_id if by == "scenario" else _group(item, by), kind)
            tally = tallies[scenario_id, item.item_id]
            graded[key] = graded.get(key, 0) + tally.passed + sum(tally.failed.values())
            passed[key] = passed.get(key, 0) + tally.passed
            ungraded[key] = ungraded.get(key, 0) + tally.ungraded
            for mode, number in tally.failed.items():
                failed[mode, kind] = failed.get((mode, kind), 0) + number
    if by == "mode":
        return [
            Count(mode, key[1], graded[key], graded[key] - failed.get((mode, key[1]), 0), ungraded[key])
            for key in sorted(graded, key=lambda key: key[1], reverse=True)
            for mode in _MODES
            if (mode == FailureMode.committed.value) == (key[1] == "error") or (mode, key[1]) in failed
        ]
    if by == "scenario":
        groups = list(items_by_scenario)
    else:
        groups = [*classes(chain.from_iterable(items_by_scenario.values()), by), UNCLASSED]
    return [
        Count(group, kind, graded[group, kind], passed[group, kind], ungraded[group, kind])
        for kind in ("requirement", "error")
        for group in groups
        if (group, kind) in graded
    ]


def _group(item: Item, by: Grouping) -> str:
    """Return an item's group; one for all items if the verdict decides it."""
    match by:
        case "step" | "tier" | "severity":
            value = getattr(item, by)
            return UNCLASSED if value is None else str(value)
        case _:
            return ""
