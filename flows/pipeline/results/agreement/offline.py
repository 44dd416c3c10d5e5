"""Agreement of the offline judge with labelled controls and pairs."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.adapters.objects import ObjectStore
from flows.adapters.pairs import load_pairs
from flows.adapters.scenario_files import CONTROLS
from flows.common.digests import canonical_json, sha256_text
from flows.pipeline.inputs.scenarios import CONTROL_REPORTS
from flows.pipeline.work.digests import rubric_digest
from flows.schema.rows import from_row
from flows.schema.scenario import Control, Scenario
from flows.schema.verdict import Agreement
from flows.stages import agreement as stage
from flows.stages.agreement import LabelledVerdict, measure_agreement, window_overlap
from flows.stages.offline import OFFLINE_VERSION, TUNED_ON, grade_offline
from flows.stages.offline.reference import REFERENCE_TUNED_ON, REFERENCE_VERSION

LABELLED_CONTROLS = "labelled controls"
OFFLINE = "offline"
"""Name of our offline judge, here and in a judgment of our verifier."""

_LABELLED = frozenset({*CONTROLS, *CONTROL_REPORTS})


def offline_agreements(scenarios: Mapping[str, Scenario], objects: ObjectStore) -> tuple[Agreement, ...]:
    """Measure the offline judge on the controls, separately for those that it was tuned on."""
    tuned = TUNED_ON | REFERENCE_TUNED_ON
    parts = (
        ("held out", {name: found for name, found in scenarios.items() if name not in tuned}),
        ("tuned on", {name: found for name, found in scenarios.items() if name in tuned}),
    )
    return tuple(
        _offline_agreement(f"{LABELLED_CONTROLS} {how}", part, objects)
        for how, part in parts
        if any(labelled_controls(scenario) for scenario in part.values())
    )


def labelled_controls(scenario: Scenario) -> list[Control]:
    """Return the controls that measure a judge. The expert's report, which judges compare with, is none."""
    return [control for name, control in scenario.controls.items() if name in _LABELLED]


def _offline_agreement(labels: str, scenarios: Mapping[str, Scenario], objects: ObjectStore) -> Agreement:
    controls = [
        [name, rubric_digest(scenario), control.name, sha256_text(control.text), dict(control.labels)]
        for name, scenario in sorted(scenarios.items())
        for control in labelled_controls(scenario)
    ]
    key = sha256_text(
        canonical_json([OFFLINE_VERSION, REFERENCE_VERSION, stage.STAGE_VERSION, labels, controls])
    )
    stored: Any = objects.recall("agreement", key)
    if stored is not None:
        return from_row(Agreement, stored)
    pairs: list[LabelledVerdict] = []
    for scenario in scenarios.values():
        for control in labelled_controls(scenario):
            grades = grade_offline(scenario.items, control.text, scenario.reference)
            pairs += beside_labels(scenario, control, {each.item_id: each.passed for each in grades})
    measured = measure_agreement(labels, pairs)
    objects.remember("agreement", key, asdict(measured))
    return measured


def beside_labels(
    scenario: Scenario, control: Control, passed: Mapping[str, bool | None]
) -> list[LabelledVerdict]:
    """Return each item of a control with its label and verdict."""
    overlaps = window_overlap(scenario.items, control.text)
    return [
        LabelledVerdict(
            item,
            control.labels[item.item_id],
            passed[item.item_id],
            scenario.scenario_id,
            control.name,
            overlap,
        )
        for item, overlap in zip(scenario.items, overlaps, strict=True)
    ]


def pairs_agreement(folder: Path) -> list[Agreement]:
    """Measure the offline judge on the labelled pairs, separately for the tuned and held-out parts.

    Raises:
        ScenarioError: the pairs can't be read.
    """
    parts: dict[str, list[LabelledVerdict]] = {}
    for part, item, label, brief in load_pairs(folder):
        grade = grade_offline([item], brief)[0]
        overlap = window_overlap([item], brief)[0]
        name = sha256_text(brief)
        parts.setdefault(part, []).append(LabelledVerdict(item, label, grade.passed, name, name, overlap))
    return [measure_agreement(f"judge pairs, {part}", pairs) for part, pairs in sorted(parts.items())]
