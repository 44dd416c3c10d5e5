"""How far a judge agrees: with the labels of controls and pairs, with other judges, with itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

from flows.adapters.scenario_files import CONTROLS
from flows.adapters.objects import ObjectStore
from flows.adapters.pairs import load_pairs
from flows.pipeline.work.digests import rubric_digest
from flows.pipeline.results.graded import Graded
from flows.pipeline.inputs.scenarios import CONTROL_REPORTS
from flows.common.digests import canonical_json, sha256_text
from flows.schema.leaderboard import JudgeNote
from flows.schema.scenario import Control, Item, Scenario
from flows.schema.verdict import Agreement, SelfAgreement, Verdict
from flows.stages.agreement import (
    LabelledVerdict,
    compare_verdicts,
    measure_agreement,
    measure_self_agreement,
)
from flows.stages.offline import OFFLINE_VERSION, TUNED_ON, grade_offline
from flows.stages.offline.reference import REFERENCE_TUNED_ON, REFERENCE_VERSION

LABELLED_CONTROLS = "labelled controls"

_LABELLED = frozenset({*CONTROLS, *CONTROL_REPORTS})
_SHOWN_DIGITS = 16


def judge_note(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], objects: ObjectStore
) -> JudgeNote:
    """What must be said of a judge.

    The stand-in's agreement with the labelled controls is always known; another judge's is where it
    graded them (`controls_agreement`).

    Args:
        graded: everything that the judge graded; not empty, and of one label.
        scenarios: with their controls.
        objects: where the stand-in's figures are kept.
    """
    judge: Mapping[str, Any] = graded[0].about["judge"]
    # An imported job knows of none.
    missed: list[int | None] = [entry.about.get("n_canary_missed") for entry in graded]
    known = [count for count in missed if count is not None]
    if judge["is_stand_in"]:
        agreements = offline_agreements(scenarios, objects)
    else:
        agreements = controls_agreement(graded, scenarios)
    return JudgeNote(
        judge_id=str(judge["label"]),
        is_stand_in=bool(judge["is_stand_in"]),
        agreements=agreements,
        members=tuple(judge["members"]),
        n_canary_missed=sum(known) if len(known) == len(missed) else None,
        self_agreement=self_agreement(graded, scenarios),
    )


def controls_agreement(graded: Sequence[Graded], scenarios: Mapping[str, Scenario]) -> tuple[Agreement, ...]:
    """How far a judge agrees with the labelled controls, by what it graded of them.

    Labels are of a text. So a verdict counts where the graded text is a control's as it is now, whoever
    handed it in. A control that the word cap cut is another text: some of its labels hold no longer, and
    nobody knows which. So is a control that was rewritten since. Under a cap that removes nothing the
    text is the same. Each item of a control counts once, however many conditions and seeds handed it in:
    by the first of them in the order given.

    Args:
        graded: everything that one judge graded; what another harness graded is left out.
        scenarios: with their controls.

    Returns:
        One for each judge digest; where there are several, each is named, also one that graded no
        control (n 0). Empty where none did.
    """
    controls = {
        (name, control.text): control
        for name, scenario in scenarios.items()
        for control in labelled_controls(scenario)
    }
    items = _items(scenarios)
    found = [
        measure_agreement(
            LABELLED_CONTROLS + told,
            [
                LabelledVerdict(items[v.scenario_id, v.item_id], control.labels[v.item_id], v.passed)
                for _, text, verdicts in _each_brief_once(entries)
                for v in verdicts
                if (control := controls.get((v.scenario_id, text))) is not None
            ],
        )
        for (_, told), entries in sorted(_by_digest(graded).items())
    ]
    return tuple(found) if any(one.n + one.n_ungraded for one in found) else ()


def judges_agreement(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario]
) -> list[tuple[str, Agreement]]:
    """Each pair of judges on the briefs that both graded; equal briefs of a scenario count once.

    Returns:
        The first judge of a pair, and its agreement with the second, in the order of their names. A name
        that stands for several judge digests is several judges, each named with its digest.
    """
    items = _items(scenarios)
    by_judge = {
        judge + told: {entry.condition: entry for entry in entries}
        for (judge, told), entries in _by_digest(graded).items()
    }
    found: list[tuple[str, Agreement]] = []
    for first, second in combinations(sorted(by_judge), 2):
        shared = [name for name in by_judge[first] if name in by_judge[second]]
        pairs: list[tuple[Item, bool | None, bool | None]] = []
        for entry, _, verdicts in _each_brief_once([by_judge[first][name] for name in shared]):
            other = by_judge[second][entry.condition].passed
            pairs += [
                (items[v.scenario_id, v.item_id], v.passed, other[v.scenario_id, v.seed, v.item_id])
                for v in verdicts
            ]
        if pairs:
            found.append((first, compare_verdicts(second, pairs)))
    return found


def self_agreement(graded: Sequence[Graded], scenarios: Mapping[str, Scenario]) -> SelfAgreement | None:
    """How far the repeats of one judge agree; None where it was asked once.

    None too where those that were asked again are of several judge digests: no one figure is of all.

    Args:
        graded: everything that the judge graded; equal briefs of a scenario count once.
        scenarios: by id.
    """
    items = _items(scenarios)
    repeated = [entry for entry in graded if entry.repeats]
    if len(_by_digest(repeated)) > 1:
        return None
    asked: list[tuple[Item, list[bool | None]]] = []
    for entry, _, verdicts in _each_brief_once(repeated):
        repeats = entry.passed_at_each_repeat
        asked += [
            (items[v.scenario_id, v.item_id], repeats[v.scenario_id, v.seed, v.item_id]) for v in verdicts
        ]
    return measure_self_agreement(asked)


def _items(scenarios: Mapping[str, Scenario]) -> dict[tuple[str, str], Item]:
    return {(name, item.item_id): item for name, scenario in scenarios.items() for item in scenario.items}


def _by_digest(graded: Sequence[Graded]) -> dict[tuple[str, str], list[Graded]]:
    """What each judge of ours graded, by its label and what tells it from others of that label.

    A label whose prompt or preset was edited stands for several judges, which only their digests tell
    apart: then that is ` (judge digest ...)`, with the digits that the pages print; else it is empty.
    """
    digests: dict[str, dict[str, list[Graded]]] = {}
    for entry in graded:
        if not entry.is_foreign:
            own = digests.setdefault(entry.judge, {})
            own.setdefault(str(entry.about["judge"]["digest"]), []).append(entry)
    return {
        (judge, f" (judge digest {digest[:_SHOWN_DIGITS]})" if len(own) > 1 else ""): entries
        for judge, own in digests.items()
        for digest, entries in own.items()
    }


def _each_brief_once(graded: Sequence[Graded]) -> Iterator[tuple[Graded, str, list[Verdict]]]:
    """Each brief that has a text, with its verdicts; of equal briefs of a scenario, the first."""
    seen: set[tuple[str, str]] = set()
    for entry in graded:
        verdicts = entry.by_brief
        for (scenario_id, seed), text in entry.texts.items():
            if text is not None and (scenario_id, text) not in seen:
                seen.add((scenario_id, text))
                yield entry, text, verdicts[scenario_id, seed]


def offline_agreements(scenarios: Mapping[str, Scenario], objects: ObjectStore) -> tuple[Agreement, ...]:
    """The stand-in's agreement on the controls, those that it was tuned on apart from the others."""
    tuned = TUNED_ON | REFERENCE_TUNED_ON
    parts = (
        ("held out", {name: found for name, found in scenarios.items() if name not in tuned}),
        ("tuned on", {name: found for name, found in scenarios.items() if name in tuned}),
    )
    return tuple(
        _offline_agreement(f"{LABELLED_CONTROLS} {how} ({', '.join(part)})", part, objects)
        for how, part in parts
        if any(labelled_controls(scenario) for scenario in part.values())
    )


def labelled_controls(scenario: Scenario) -> list[Control]:
    """The controls that measure a judge. Not an expert's report: whoever compares with it passes that."""
    return [control for name, control in scenario.controls.items() if name in _LABELLED]


def _offline_agreement(labels: str, scenarios: Mapping[str, Scenario], objects: ObjectStore) -> Agreement:
    """Measured once for a version and a set of scenarios."""
    controls = [
        [name, rubric_digest(scenario), control.name, sha256_text(control.text), dict(control.labels)]
        for name, scenario in sorted(scenarios.items())
        for control in labelled_controls(scenario)
    ]
    key = sha256_text(canonical_json([OFFLINE_VERSION, REFERENCE_VERSION, labels, controls]))
    stored: Any = objects.recall("agreement", key)
    if stored is not None:
        fields: dict[str, Any] = {**stored, "groups": tuple(tuple(group) for group in stored["groups"])}
        return Agreement(**fields)
    pairs: list[LabelledVerdict] = []
    for scenario in scenarios.values():
        items = {item.item_id: item for item in scenario.items}
        for control in labelled_controls(scenario):
            pairs += [
                LabelledVerdict(items[grade.item_id], control.labels[grade.item_id], grade.passed)
                for grade in grade_offline(scenario.items, control.text, scenario.reference)
            ]
    measured = measure_agreement(labels, pairs)
    objects.remember("agreement", key, asdict(measured))
    return measured


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
