"""Agreement of judges, and of raters, with experts' labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from flows.pipeline.results.graded import Graded
from flows.common.errors import ScenarioError
from flows.schema.scenario import Item, Scenario
from flows.schema.verdict import Agreement, ExpertLabel
from flows.stages.agreement import LabelledVerdict, compare_verdicts, measure_agreement

_Place = tuple[str, str, int, str]
"""Condition, scenario, seed, item."""


def labels_agreement(
    labels: Sequence[ExpertLabel], graded: Sequence[Graded], scenarios: Mapping[str, Scenario]
) -> list[tuple[str, Agreement]]:
    """Compare each judge with each rater on the briefs that it graded, then the raters with one another.

    Args:
        labels: of any number of raters.
        graded: all graded conditions; imported jobs are ignored.
        scenarios: by id.

    Returns:
        A judge or rater and its agreement with a rater, sorted by name.

    Raises:
        ScenarioError: labels on briefs or items without a verdict.
    """
    items = {(name, item.item_id): item for name, scenario in scenarios.items() for item in scenario.items}
    verdicts: dict[str, dict[_Place, bool | None]] = {}
    for entry in graded:
        if not entry.is_foreign:
            passed_by_place = verdicts.setdefault(entry.judge, {})
            passed_by_place |= {(entry.condition, *place): passed for place, passed in entry.passed.items()}
    known = {place for passed_by_place in verdicts.values() for place in passed_by_place}
    unknown = sorted({_place(label) for label in labels} - known)
    if unknown:
        first = " ".join(map(str, unknown[0]))
        raise ScenarioError(
            "labels",
            f"no verdict on {first}" + (f", nor on {len(unknown) - 1} others" if len(unknown) > 1 else ""),
            "labels of briefs and items with a verdict in results/",
        )
    raters: dict[str, list[ExpertLabel]] = {}
    for label in labels:
        raters.setdefault(label.rater, []).append(label)
    found: list[tuple[str, Agreement]] = []
    for judge, passed in sorted(verdicts.items()):
        for rater, rated in sorted(raters.items()):
            pairs = [
                LabelledVerdict(_item(items, label), label.passed, passed[_place(label)])
                for label in rated
                if _place(label) in passed
            ]
            if pairs:
                found.append((judge, measure_agreement(f"labels of {rater}", pairs)))
    for first, second in combinations(sorted(raters), 2):
        other = {_place(label): label.passed for label in raters[second]}
        both = [
            (_item(items, label), label.passed, other[_place(label)])
            for label in raters[first]
            if _place(label) in other
        ]
        if both:
            found.append((first, compare_verdicts(f"labels of {second}", both)))
    return found


def _place(label: ExpertLabel) -> _Place:
    return label.condition, label.scenario_id, label.seed, label.item_id


def _item(items: Mapping[tuple[str, str], Item], label: ExpertLabel) -> Item:
    return items[label.scenario_id, label.item_id]
