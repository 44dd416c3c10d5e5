"""Agreement of judges, and of raters, with experts' labels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from flows.adapters.config.messages import nearest
from flows.adapters.labels import SheetBrief, labels_csv
from flows.adapters.tracking import read_human_labels
from flows.common.errors import Problems, ScenarioError, StaffbenchError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.pipeline.results.graded import Graded, items_of
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.schema.verdict import Agreement, ExpertLabel
from flows.stages.agreement import (
    LabelledVerdict,
    Repeated,
    compare_verdicts,
    measure_agreement,
    window_overlap,
)
from flows.stages.label_sample import Brief

_Place = tuple[str, str, int, str]
"""Condition, scenario, seed, item."""
_PARTS = ("condition", "scenario", "seed", "item")


def stored_briefs(graded: Sequence[Graded]) -> list[Brief]:
    """Return every brief with a text once, whichever judges graded it; imported jobs are left out."""
    found: dict[tuple[str, str, int], Brief] = {}
    for entry in graded:
        for (name, seed), text in entry.texts.items():
            if not entry.is_foreign and text and text.strip():
                found[entry.condition, name, seed] = Brief(entry.condition, name, seed, text)
    return [found[place] for place in sorted(found)]


def by_code(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], sample: str
) -> dict[str, SheetBrief]:
    """Return what the codes of a sample stand for."""
    items = {name: {item.item_id: item for item in scenario.items} for name, scenario in scenarios.items()}
    return {
        brief.code(sample): SheetBrief(
            brief.condition, brief.scenario_id, brief.seed, items[brief.scenario_id]
        )
        for brief in stored_briefs(graded)
        if brief.scenario_id in items
    }


def check_labels(labels: Sequence[ExpertLabel], graded: Sequence[Graded]) -> None:
    """Refuse labels on briefs or items that no judge graded.

    Raises:
        StaffbenchError: all of them, by row.
    """
    if problems := label_faults(labels, graded):
        raise Problems.one_or_all("labels", problems)


def label_faults(labels: Sequence[ExpertLabel], graded: Sequence[Graded]) -> list[StaffbenchError]:
    """Return an error for each label on a brief or item that no judge graded."""
    known = _known(labels, graded)
    unknown = [label for label in labels if _place(label) not in known]
    below: defaultdict[tuple[object, ...], set[str]] = defaultdict(set)  # what a verdict's place goes on with
    for entry in graded if unknown else ():
        if not entry.is_foreign:
            below[()].add(entry.condition)
    for place in known if unknown else ():
        for depth in (1, 2, 3):
            below[place[:depth]].add(str(place[depth]))
    return [_fault(label, below) for label in unknown]


def _known(labels: Sequence[ExpertLabel], graded: Sequence[Graded]) -> set[_Place]:
    """Return all items of graded briefs of the conditions that labels name."""
    conditions = {label.condition for label in labels}
    return {
        (entry.condition, *place)
        for entry in graded
        if entry.condition in conditions and not entry.is_foreign
        for place in entry.passed
    }


def _fault(label: ExpertLabel, below: Mapping[tuple[object, ...], set[str]]) -> ScenarioError:
    """Name the first part of a label's place that no verdict has, and what is like it."""
    place = _place(label)
    depth = next(d for d, part in enumerate(place) if str(part) not in below[place[:d]])
    inside = f" in {' '.join(map(str, place[:depth]))}" if depth else ""
    found = f"no {_PARTS[depth]} {str(place[depth])!r} with a verdict{inside}"
    there = sorted(below[place[:depth]])
    return ScenarioError(label.where or "labels", found, nearest(str(place[depth]), there) if there else "")


def labels_agreement(
    labels: Sequence[ExpertLabel], graded: Sequence[Graded], scenarios: Mapping[str, Scenario]
) -> list[tuple[str, Agreement]]:
    """Compare each judge with each rater on the briefs that it graded, then the raters with one another.

    Imported jobs are ignored.

    Returns:
        A judge or rater and its agreement with a rater, sorted by name.

    Raises:
        StaffbenchError: labels on briefs or items without a verdict, each by its row.
    """
    check_labels(labels, graded)
    items = items_of(scenarios.values())
    verdicts: dict[str, dict[_Place, bool | None]] = {}
    texts: dict[tuple[str, str, int], str | None] = {}
    for entry in graded:
        if not entry.is_foreign:
            texts |= {(entry.condition, *brief): text for brief, text in entry.texts.items()}
            passed_by_place = verdicts.setdefault(entry.judge, {})
            passed_by_place |= {(entry.condition, *place): passed for place, passed in entry.passed.items()}
    raters: dict[str, list[ExpertLabel]] = {}
    for label in labels:
        raters.setdefault(label.rater, []).append(label)
    overlaps = _overlaps(labels, texts, scenarios)
    found: list[tuple[str, Agreement]] = []
    for judge, passed in sorted(verdicts.items()):
        for rater, rated in sorted(raters.items()):
            pairs = [
                LabelledVerdict(
                    items[label.scenario_id, label.item_id],
                    label.passed,
                    passed[place],
                    label.scenario_id,
                    _brief(label),
                    overlaps[place],
                )
                for label in rated
                if (place := _place(label)) in passed
            ]
            if pairs:
                found.append((judge, measure_agreement(f"labels of {rater}", pairs)))
    for first, second in combinations(sorted(raters), 2):
        other = {_place(label): label.passed for label in raters[second]}
        both = [
            Repeated(
                items[label.scenario_id, label.item_id],
                (label.passed, other[place]),
                label.scenario_id,
                _brief(label),
            )
            for label in raters[first]
            if (place := _place(label)) in other
        ]
        if both:
            found.append((first, compare_verdicts(f"labels of {second}", both)))
    return found


def mlflow_labels(
    results: Path, settings: Settings, graded: Sequence[Graded]
) -> tuple[list[ExpertLabel], list[str]]:
    """Read what people said of items on MLflow's pages, and keep it as a file of labels.

    What they said of anything else, or of a condition that was removed, is left out and counted.

    Returns:
        The labels, and what to say of them.

    Raises:
        StaffbenchError: MLflow's store can't be read, or the file can't be written.
    """
    name = settings.benchmark.name
    found, notes = read_human_labels(results, settings.tracking.experiment, name)
    said = [ExpertLabel(**vars(label)) for label in found]
    known = _known(said, graded)
    labels = [label for label in said if _place(label) in known]
    if others := len(said) - len(labels):
        notes.append(f"assessments left out because they name no item of a graded brief: {others}")
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
