"""Determine an attempt's benchmark from our verifier's judgment or other evidence.

Other verifiers don't record it: their tasks are those of MissionReport's release.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flows.adapters.harbor_jobs.report import BRIEF, REPORT, named_file
from flows.adapters.harbor_jobs.tree import Tree, as_list, as_text
from flows.schema.harbor import RELEASED, Origin, Trial
from flows.schema.settings import ProtocolName

_JUDGMENT = "verifier/judgment.json"
_OURS = "staffbench"  # field of a judgment that only our verifier writes: its version
# Validated, as the names become folders and rows, and a job may be untrusted.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Judgment:
    """Our verifier's record of one attempt, except verdicts."""

    origin: Origin | None  # None if not recorded or from another verifier
    scenario_id: str | None  # our name of the task; None as above
    stand_in: bool  # True if the offline judge graded
    judge_names: tuple[str, ...]  # the providers' names of the judge models; may be empty
    file: str  # name of the file to submit


def read_judgment(tree: Tree, folders: Sequence[Path]) -> Judgment:
    """Read our verifier's record of the last graded step, in the folders of a trial or of its steps."""
    file = named_file(tree, folders)
    for folder in reversed(folders):
        path = tree.file(folder, _JUDGMENT)
        fields = tree.mapping(path)
        if path is None or as_text(fields.get(_OURS)) is None:
            continue
        origin = _origin(tree, path, fields, file)
        if origin is not None:
            file = BRIEF if origin.protocol is ProtocolName.ma_bench else REPORT
        names = (as_text(name) for name in as_list(fields.get("judge_names")))
        return Judgment(
            origin=origin,
            scenario_id=_plain(tree, path, fields, "scenario_id"),
            stand_in=fields.get("stand_in") is True,
            judge_names=tuple(name for name in names if name),
            file=file,
        )
    return Judgment(None, None, stand_in=False, judge_names=(), file=file)


def attribute(tree: Tree, trials: Sequence[Trial], judgments: Mapping[str, Judgment]) -> list[Trial]:
    """Set the origin and the judge of every attempt, and give its task our name.

    An ungraded attempt gets the origin of the others at its task, or else of the whole job. `judgments` are
    by name of the trial.
    """
    found: list[Trial] = []
    names: dict[tuple[Origin, str], set[str]] = defaultdict(set)
    for trial in trials:
        judgment = judgments[trial.name]
        origin = judgment.origin or _inferred(tree, trial, trials, judgments)
        found.append(
            replace(trial, origin=origin, stand_in=judgment.stand_in, judge_names=judgment.judge_names)
        )
        if judgment.scenario_id is not None:
            names[origin, trial.task_name].add(judgment.scenario_id)
    unique = {key: next(iter(ids)) for key, ids in names.items() if len(ids) == 1}
    return [replace(trial, task=unique.get((trial.origin, trial.task_name), trial.task)) for trial in found]


def _inferred(tree: Tree, trial: Trial, trials: Sequence[Trial], judgments: Mapping[str, Judgment]) -> Origin:
    if trial.reward is None and not trial.criteria:  # not graded by another verifier
        alike = [other for other in trials if other.task_name == trial.task_name]
        for others in (alike, trials):
            known = {origin for other in others if (origin := judgments[other.name].origin) is not None}
            if len(known) == 1:
                return known.pop()
    if judgments[trial.name].file != BRIEF:
        return RELEASED
    protocol = ProtocolName.ma_bench
    tree.note(trial.name, f"no verifier says what it is of; taken for {protocol.value} by its {BRIEF}")
    return Origin(protocol.value, protocol)


def _origin(tree: Tree, path: Path, fields: Mapping[str, Any], file: str) -> Origin | None:
    benchmark = _plain(tree, path, fields, "benchmark")
    if benchmark is None:
        return None  # it failed before recording it
    said = fields.get("protocol")
    protocol = next((each for each in ProtocolName if each.value == said), None)
    if protocol is None:
        protocol = ProtocolName.ma_bench if file == BRIEF else ProtocolName.mission_report
    cap = fields.get("word_cap")
    return Origin(
        benchmark=benchmark,
        protocol=protocol,
        word_cap=cap if isinstance(cap, int) and not isinstance(cap, bool) and cap >= 0 else None,
        scoring=as_text(fields.get("scoring")),
    )


def _plain(tree: Tree, path: Path, fields: Mapping[str, Any], key: str) -> str | None:
    """Return a safe name; None, with a note if it is unsafe."""
    name = as_text(fields.get(key))
    if name is not None and not _PLAIN.fullmatch(name):
        tree.note(path, f"{key} {name[:60]!r} is no plain name; taken for none")
        return None
    return name
