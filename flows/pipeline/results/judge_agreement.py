"""Agreement of judges with labelled controls and pairs, with other judges, and with themselves."""

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

OFFLINE = "offline"
"""Name of our offline judge, here and in a judgment of our verifier."""


def judge_note(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], objects: ObjectStore
) -> JudgeNote:
    """Build the leaderboard's note on a judge.

    The offline judge's agreement with the labelled controls is always known; another judge's only if it
    graded them (`controls_agreement`).

    Args:
        graded: everything that the judge graded; not empty, and of one label.
        scenarios: with their controls.
        objects: cache of the offline judge's agreement.
    """
    judge: Mapping[str, Any] = graded[0].about["judge"]
    # Imported jobs have no such count.
    missed: list[int | None] = [entry.about.get("n_canary_missed") for entry in graded]
    known = [count for count in missed if count is not None]
    # The stand-in of a sandbox without staffbench is another one, which nobody measured.
    if judge["is_stand_in"] and judge["name"] == OFFLINE:
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
    """Measure how far a judge agrees with the labelled controls that it graded.

    A verdict counts if the graded text equals a control's current text, whoever submitted it. A control that
    was cut by the word cap, or rewritten since, is another text: its labels may no longer hold. Each item of
    a control counts once, from the first condition and seed with that text.

    Args:
        graded: everything that one judge graded; imported jobs are ignored.
        scenarios: with their controls.

    Returns:
        One agreement per judge digest; if there are several, each is named, including one that graded no
        control (n 0). Empty if no control was graded.
    """
    controls = {
        (name, control.text): control
        for name, scenario in scenarios.items()
        for control in labelled_controls(scenario)
    }
    items = _items(scenarios)
    found = [
        measure_agreement(
            LABELLED_CONTROLS + suffix,
            [
                LabelledVerdict(items[v.scenario_id, v.item_id], control.labels[v.item_id], v.passed)
                for _, text, verdicts in _each_brief_once(entries)
                for v in verdicts
                if (control := controls.get((v.scenario_id, text))) is not None
            ],
        )
        for (_, suffix), entries in sorted(_by_digest(graded).items())
    ]
    return tuple(found) if any(agreement.n + agreement.n_ungraded for agreement in found) else ()


def judges_agreement(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario]
) -> list[tuple[str, Agreement]]:
    """Compare each pair of judges on the briefs that both graded; equal briefs of a scenario count once.

    Returns:
        The first judge of a pair and its agreement with the second, sorted by name. A label with several
        judge digests counts as several judges, each named with its digest.
    """
    items = _items(scenarios)
    by_judge = {
        judge + suffix: {entry.condition: entry for entry in entries}
        for (judge, suffix), entries in _by_digest(graded).items()
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
    """Measure how far the repeats of one judge agree; None without repeats.

    Also None if the repeats are of several judge digests, since one figure can't cover them.

    Args:
        graded: everything that the judge graded; equal briefs of a scenario count once.
        scenarios: by id.
    """
    items = _items(scenarios)
    repeated = [entry for entry in graded if entry.repeats]
    if len(_by_digest(repeated)) > 1:
        return None
    answers: list[tuple[Item, list[bool | None]]] = []
    for entry, _, verdicts in _each_brief_once(repeated):
        repeats = entry.passed_at_each_repeat
        answers += [
            (items[v.scenario_id, v.item_id], repeats[v.scenario_id, v.seed, v.item_id]) for v in verdicts
        ]
    return measure_self_agreement(answers)


def _items(scenarios: Mapping[str, Scenario]) -> dict[tuple[str, str], Item]:
    return {(name, item.item_id): item for name, scenario in scenarios.items() for item in scenario.items}


def _by_digest(graded: Sequence[Graded]) -> dict[tuple[str, str], list[Graded]]:
    """Group the entries of our judges by label and a suffix that makes it unique.

    A label has several digests if its prompt or preset was edited. The suffix is then ` (judge digest ...)`,
    as on the pages; else it is empty.
    """
    digests: dict[str, dict[str, list[Graded]]] = {}
    for entry in graded:
        if not entry.is_foreign:
            by_digest = digests.setdefault(entry.judge, {})
            by_digest.setdefault(str(entry.about["judge"]["digest"]), []).append(entry)
    return {
        (judge, f" (judge digest {digest[:_SHOWN_DIGITS]})" if len(by_digest) > 1 else ""): entries
        for judge, by_digest in digests.items()
        for digest, entries in by_digest.items()
    }


def _each_brief_once(graded: Sequence[Graded]) -> Iterator[tuple[Graded, str, list[Verdict]]]:
    """Yield each brief with a text and its verdicts; of equal briefs of a scenario, only the first."""
    seen: set[tuple[str, str]] = set()
    for entry in graded:
        verdicts = entry.by_brief
        for (scenario_id, seed), text in entry.texts.items():
            if text is not None and (scenario_id, text) not in seen:
                seen.add((scenario_id, text))
                yield entry, text, verdicts[scenario_id, seed]


def offline_agreements(scenarios: Mapping[str, Scenario], objects: ObjectStore) -> tuple[Agreement, ...]:
    """Measure the offline judge on the controls, separately for those that it was tuned on."""
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
    """Return the controls that measure a judge. The expert's report, which judges compare with, is none."""
    return [control for name, control in scenario.controls.items() if name in _LABELLED]


def _offline_agreement(labels: str, scenarios: Mapping[str, Scenario], objects: ObjectStore) -> Agreement:
    """Measure the offline judge once per version and set of scenarios."""
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
    """Measure the offline judge on the labelled pairs, separately for the tuned and held-out parts.

    Raises:
        ScenarioError: the pairs can't be read.
    """
    parts: dict[str, list[LabelledVerdict]] = {}
    for part, item, label, brief in load_pairs(folder):
        grade = grade_offline([item], brief)[0]
        parts.setdefault(part, []).append(LabelledVerdict(item, label, grade.passed))
    return [measure_agreement(f"judge pairs, {part}", pairs) for part, pairs in sorted(parts.items())]
