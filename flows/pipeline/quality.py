"""How far a judge agrees with labels: those of the controls, and of the judge pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.adapters.files import CONTROLS
from flows.adapters.objects import ObjectStore
from flows.adapters.pairs import load_pairs
from flows.pipeline.batch import items_digest
from flows.schema.completion import canonical_json, sha256_text
from flows.schema.leaderboard import JudgeNote
from flows.schema.scenario import Scenario
from flows.schema.verdict import Agreement, Verdict
from flows.stages.agreement import LabelledVerdict, measure_agreement
from flows.stages.offline import OFFLINE_VERSION, grade_offline

LABELLED_CONTROLS = "labelled controls"


def judge_note(
    judge: str,
    *,
    is_stand_in: bool,
    graded: Sequence[tuple[str, Sequence[Verdict]]],
    scenarios: Mapping[str, Scenario],
    objects: ObjectStore,
) -> JudgeNote:
    """What must be said of a judge: for the stand-in always, for others where they graded the controls.

    Args:
        judge: its label.
        is_stand_in: True for the offline judge, which costs nothing to measure.
        graded: model and verdicts of each condition that it graded whole.
        scenarios: with their controls.
        objects: where the stand-in's figures are kept.
    """
    if is_stand_in:
        return JudgeNote(judge, is_stand_in, (offline_agreement(scenarios, objects),))
    found = [(model, verdicts) for model, verdicts in graded if model in CONTROLS]
    pairs = [pair for model, verdicts in found for pair in _labelled(scenarios, model, verdicts)]
    return JudgeNote(judge, is_stand_in, (measure_agreement(LABELLED_CONTROLS, pairs),) if pairs else ())


def offline_agreement(scenarios: Mapping[str, Scenario], objects: ObjectStore) -> Agreement:
    """The stand-in's agreement on all controls, measured once for a version and a set of scenarios."""
    controls = [
        [name, items_digest(scenario.items), control.name, sha256_text(control.text), dict(control.labels)]
        for name, scenario in sorted(scenarios.items())
        for control in scenario.controls.values()
    ]
    key = sha256_text(canonical_json([OFFLINE_VERSION, controls]))
    stored: Any = objects.recall("agreement", key)
    if stored is not None:
        fields: dict[str, Any] = {**stored, "groups": tuple(tuple(group) for group in stored["groups"])}
        return Agreement(**fields)
    pairs: list[LabelledVerdict] = []
    for scenario in scenarios.values():
        items = {item.item_id: item for item in scenario.items}
        for control in scenario.controls.values():
            pairs += [
                LabelledVerdict(items[grade.item_id], control.labels[grade.item_id], grade.passed)
                for grade in grade_offline(scenario.items, control.text)
            ]
    measured = measure_agreement(LABELLED_CONTROLS, pairs)
    objects.remember("agreement", key, asdict(measured))
    return measured


def _labelled(
    scenarios: Mapping[str, Scenario], model: str, verdicts: Sequence[Verdict]
) -> list[LabelledVerdict]:
    """Each item once: the repeats of a control are the same brief."""
    pairs: list[LabelledVerdict] = []
    for scenario in scenarios.values():
        control = scenario.controls.get(model)
        if control is None:
            continue
        items = {item.item_id: item for item in scenario.items}
        pairs += [
            LabelledVerdict(items[v.item_id], control.labels[v.item_id], v.passed)
            for v in verdicts
            if v.scenario_id == scenario.scenario_id and v.seed == 1
        ]
    return pairs


def pairs_agreement(folder: Path) -> list[Agreement]:
    """The stand-in on the labelled pairs, the tuned and the held-out part apart.

    Raises:
        ScenarioError: the pairs can't be read.
    """
    parts: dict[str, list[LabelledVerdict]] = {}
    for part, item, label, brief in load_pairs(folder):
        grade = grade_offline([item], brief)[0]
        parts.setdefault(part, []).append(LabelledVerdict(item, label, grade.passed))
    return [measure_agreement(f"judge pairs, {part}", pairs) for part, pairs in sorted(parts.items())]
