"""Agreement of judges, and of raters, with experts' labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from flows.adapters.labels import labels_csv
from flows.adapters.tracking import read_human_labels
from flows.common.files import write_whole
from flows.common.text import plural
from flows.pipeline.results.graded import Graded
from flows.common.errors import ScenarioError
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import Settings
from flows.schema.verdict import Agreement, ExpertLabel
from flows.stages.agreement import LabelledVerdict, Repeated, compare_verdicts, measure_agreement, window_overlap

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
    texts: dict[tuple[str, str, int], str | None] = {}
    for entry in graded:
        if not entry.is_foreign:
            texts |= {(entry.condition, *brief): text for brief, text in entry.texts.items()}
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
    overlaps = _overlaps(labels, texts, scenarios)
    found: list[tuple[str, Agreement]] = []
    for judge, passed in sorted(verdicts.items()):
        for rater, rated in sorted(raters.items()):
            pairs = [
                LabelledVerdict(
                    _item(items, label),
                    label.passed,
                    passed[_place(label)],
                    label.scenario_id,
                    _brief(label),
                    overlaps[_place(label)],
                )
                for label in rated
                if _place(label) in passed
            ]
            if pairs:
                found.append((judge, measure_agreement(f"labels of {rater}", pairs)))
    for first, second in combinations(sorted(raters), 2):
        other = {_place(label): label.passed for label in raters[second]}
        both = [
            Repeated(
                _item(items, label), (label.passed, other[_place(label)]), label.scenario_id, _brief(label)
            )
            for label in raters[first]
            if _place(label) in other
        ]
        if both:
            found.append((first, compare_verdicts(f"labels of {second}", both)))
    return found


def mlflow_labels(results: Path, settings: Settings) -> tuple[list[ExpertLabel], list[str]]:
    """Read what people said of items on MLflow's pages, and keep it as a file of labels.

    Returns:
        The labels, and what to say of them.

    Raises:
        StaffbenchError: MLflow's store can't be read, or the file can't be written.
    """
    name = settings.benchmark.name
    found, notes = read_human_labels(results, settings.tracking.experiment, name)
    labels = [ExpertLabel(**vars(label)) for label in found]
    path = results / name / "labels" / "mlflow.csv"
    if labels:
        write_whole(path, labels_csv(labels))
        notes.append(f"{plural(len(labels), 'label')}, kept in {results.name}/{name}/labels/{path.name}")
    return labels, [f"MLflow: {note}" for note in notes or ["nobody has labelled an item of this benchmark"]]


def _place(label: ExpertLabel) -> _Place:
    return label.condition, label.scenario_id, label.seed, label.item_id


def _brief(label: ExpertLabel) -> str:
    return f"{label.condition}/{label.seed}"


def _overlaps(
    labels: Sequence[ExpertLabel],
    texts: Mapping[tuple[str, str, int], str | None],
    scenarios: Mapping[str, Scenario],
) -> dict[_Place, float | None]:
    """Return the overlap of each labelled item with its brief; None for a brief without a text."""
    found: dict[_Place, float | None] = {}
    for condition, name, seed in {_place(label)[:3] for label in labels}:
        items, text = scenarios[name].items, texts.get((condition, name, seed))
        values = [None] * len(items) if text is None else window_overlap(items, text)
        found |= {(condition, name, seed, item.item_id): v for item, v in zip(items, values, strict=True)}
    return found


def _item(items: Mapping[tuple[str, str], Item], label: ExpertLabel) -> Item:
    return items[label.scenario_id, label.item_id]
