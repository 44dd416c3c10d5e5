"""Two graded conditions, by the names that a user types, side by side on the scenarios of both."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.adapters.config.messages import nearest
from flows.common.errors import ConfigError, StaffbenchError
from flows.common.text import number
from flows.pipeline.results.graded import Graded, scenario_means
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.aggregate import Difference, mean_difference


@dataclass(frozen=True)
class ItemCounts:
    """One item under both conditions."""

    scenario_id: str  # its scenario
    item: Item
    # passed, graded: numbers of verdicts of the first and the second condition; a verdict that is missing
    # counts in neither.
    passed: tuple[int, int]
    graded: tuple[int, int]

    @property
    def differs(self) -> bool:
        """True if both have verdicts, and different shares of passes."""
        return bool(self.gap)

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
    """The comparison of two conditions."""

    entries: tuple[Graded, Graded]
    difference: Difference  # first minus second, paired by scenario
    # Id and mean score of each, over the scored briefs; None without any.
    scenarios: tuple[tuple[str, float | None, float | None], ...]
    items: tuple[ItemCounts, ...]  # of the common scenarios, in the order of their rubrics


def pair(graded: Sequence[Graded], first: str, second: str) -> tuple[Graded, Graded]:
    """Return two entries by name; if a name fits several, the only two that share a judge.

    A name is a model's, a condition's label, or the beginning of a label up to a hyphen, in this order of
    precedence, or one of them with `/judge`.

    Raises:
        ConfigError: a name fits no entry, the names fit several pairs, or both are the same.
    """
    sides = _matching(graded, first), _matching(graded, second)
    every = [(one, two) for one in sides[0] for two in sides[1] if one is not two]
    if not every:
        raise ConfigError(f"{first}, {second}", "no two conditions", f"two of {_names(graded)}")
    pairs = every if len(every) == 1 else [(one, two) for one, two in every if one.judge == two.judge]
    if len(pairs) == 1:
        return pairs[0]
    if not pairs:
        one_each = " and ".join(f"one of {_names(side)}" for side in sides)
        raise ConfigError(f"{first}, {second}", "no judge has graded both", one_each)
    several = [(name, side) for name, side in ((first, sides[0]), (second, sides[1])) if len(side) > 1]
    raise ConfigError(
        ", ".join(name for name, _ in several),
        "several conditions",
        "; ".join(f"one of {_names(side)}" for _, side in several),
    )


def _matching(graded: Sequence[Graded], name: str) -> list[Graded]:
    wanted, _, judge = name.partition("/")
    by_judge = [one for one in graded if judge in ("", one.judge)]
    for found in (
        [one for one in graded if one.model == name],  # which may hold a slash
        [one for one in by_judge if one.condition == wanted],
        [one for one in by_judge if one.model == wanted],
        [one for one in by_judge if one.condition.startswith(f"{wanted}-")],
    ):
        if found:
            return found
    if not graded:
        raise ConfigError(name, "nothing graded here", remedy="staffbench run first, or dvc pull")
    models = sorted({one.model for one in graded})
    expected = wanted if wanted in models else nearest(wanted, models)
    raise ConfigError(name, "no such condition", f"{expected}, or one of {_names(graded)}")


def _names(entries: Sequence[Graded]) -> str:
    return ", ".join(sorted({f"{one.condition}/{one.judge}" for one in entries}))


def compare_entries(
    entries: tuple[Graded, Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> Comparison:
    """Compare two conditions.

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


def _items(
    entries: tuple[Graded, Graded], common: list[str], scenarios: Mapping[str, Scenario]
) -> list[ItemCounts]:
    first, second = map(item_counts, entries)
    found: list[ItemCounts] = []
    for name in common:
        for item in scenarios[name].items if name in scenarios else ():
            sides = first[name, item.item_id], second[name, item.item_id]
            passed, graded = (sides[0][0], sides[1][0]), (sides[0][1], sides[1][1])
            found.append(ItemCounts(name, item, passed, graded))
    return found


def item_counts(entry: Graded) -> defaultdict[tuple[str, str], list[int]]:
    """Return the passed and the graded verdicts on each item, by scenario and item; 0 on others."""
    counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for verdict in entry.verdicts:
        if verdict.passed is not None:
            count = counts[verdict.scenario_id, verdict.item_id]
            count[0] += verdict.passed
            count[1] += 1
    return counts


def difference_text(found: Difference, level: float) -> str:
    """Format a difference with its interval and what it is based on."""
    of = f"{found.n_scenarios} of {found.n_scenarios_all} scenarios"
    if found.difference is None:
        return f"unknown: no scenario has a score under both ({of})"
    text = f"{found.difference:+z.3f}"
    if found.interval is None:
        return f"{text}, without an interval, which one scenario does not have: {of}"
    low, high = found.interval.low, found.interval.high
    if found.interval.level is None:
        return (
            f"{text}, from {number(low)} to {number(high)}. Paired by scenario, {of}; {found.interval.method}"
        )
    text += f", {100 * level:g}% interval {number(low)} to {number(high)}"
    sides = "it excludes 0" if low > 0 or high < 0 else "it includes 0"
    return f"{text}: {sides}. Paired by scenario, {of}; {found.interval.method}"
