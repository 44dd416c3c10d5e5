"""Which benchmark an attempt is of: what the judgment of our own verifier says, or whatever else can tell.

The judgments of other verifiers say nothing of it: their tasks are those of MissionReport's release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flows.adapters.harbor_jobs.report import BRIEF, named_file
from flows.adapters.harbor_jobs.tree import Tree, as_list, as_text
from flows.schema.harbor import Trial
from flows.schema.settings import ProtocolName

_JUDGMENT = "verifier/judgment.json"
_OURS = "staffbench"
"""Field of a judgment that only our verifier writes: its version."""
# A benchmark becomes a folder and a scenario a row's name, and a job may come from a stranger.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Origin:
    """What an attempt was graded as. Attempts of two origins are never pooled.

    Attributes:
        benchmark: names the folder of results.
        protocol: what its scenarios are; reports are clamped, briefs are not.
        word_cap: how many words of a brief were graded; None for all of them, and for reports.
        scoring: name of the weights; None where the verifier was not ours.
    """

    benchmark: str
    protocol: ProtocolName
    word_cap: int | None
    scoring: str | None


@dataclass(frozen=True, slots=True)
class Judgment:
    """What our verifier says of one attempt, its verdicts aside.

    Attributes:
        origin: None where it does not say, or the verifier was not ours.
        scenario_id: our name of the task; None as above.
        stand_in: True where the offline judge graded.
        judge_names: what providers call the models that graded; empty as above.
        file: name of the file that the agent was to hand in.
    """

    origin: Origin | None
    scenario_id: str | None
    stand_in: bool
    judge_names: tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where one attempt belongs, whether its own judgment says it or not.

    Attributes:
        origin: what it was graded as.
        stand_in, judge_names: as for a judgment.
    """

    origin: Origin
    stand_in: bool
    judge_names: tuple[str, ...]


def read_judgment(tree: Tree, folders: Sequence[Path]) -> Judgment:
    """What our verifier left for the last step that it graded.

    Args:
        tree: the job.
        folders: the trial's, or its steps', in order.
    """
    file = named_file(tree, folders)
    for folder in reversed(folders):
        path = tree.file(folder, _JUDGMENT)
        fields = tree.mapping(path)
        if path is None or as_text(fields.get(_OURS)) is None:
            continue
        origin = _origin(tree, path, fields, file)
        if origin is not None:
            file = named_file(tree, folders, origin.protocol)
        names = (as_text(name) for name in as_list(fields.get("judge_names")))
        return Judgment(
            origin=origin,
            scenario_id=_plain(tree, path, fields, "scenario_id"),
            stand_in=fields.get("stand_in") is True,
            judge_names=tuple(name for name in names if name),
            file=file,
        )
    return Judgment(None, None, stand_in=False, judge_names=(), file=file)


def attribute(
    tree: Tree, trials: Sequence[Trial], judgments: Mapping[str, Judgment]
) -> tuple[list[Trial], dict[str, Attribution]]:
    """Say of every attempt where it belongs, and call its task by our name of it.

    An attempt that nobody graded belongs where the others at its task do, or else the whole job.

    Args:
        tree: the job.
        trials: in any order.
        judgments: by name of the trial.

    Returns:
        The trials in the same order; attributions by name of the trial.
    """
    origins = {trial.name: _belongs(tree, trial, trials, judgments) for trial in trials}
    names: dict[tuple[Origin, str], set[str]] = {}
    for trial in trials:
        scenario_id = judgments[trial.name].scenario_id
        if scenario_id is not None:
            names.setdefault((origins[trial.name], trial.task_name), set()).add(scenario_id)
    renamed: list[Trial] = []
    for trial in trials:
        found = names.get((origins[trial.name], trial.task_name), set())
        renamed.append(replace(trial, task=next(iter(found))) if len(found) == 1 else trial)
    return renamed, {
        name: Attribution(origin, judgments[name].stand_in, judgments[name].judge_names)
        for name, origin in origins.items()
    }


def _belongs(tree: Tree, trial: Trial, trials: Sequence[Trial], judgments: Mapping[str, Judgment]) -> Origin:
    judgment = judgments[trial.name]
    if judgment.origin is not None:
        return judgment.origin
    protocol = ProtocolName.ma_bench if judgment.file == BRIEF else ProtocolName.mission_report
    if trial.reward is None and not trial.criteria:  # no other verifier graded it
        alike = [other for other in trials if other.task_name == trial.task_name]
        for others in (alike, trials):
            known = {judgments[other.name].origin for other in others} - {None}
            if len(known) == 1:
                return next(origin for origin in known if origin is not None)
    if protocol is ProtocolName.ma_bench:
        tree.note(trial.name, f"no verifier says what it is of; taken for {protocol.value} by its {BRIEF}")
    return Origin(protocol.value, protocol, None, None)


def _origin(tree: Tree, path: Path, fields: Mapping[str, Any], file: str) -> Origin | None:
    benchmark = _plain(tree, path, fields, "benchmark")
    if benchmark is None:
        return None  # it failed before it knew
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
    """A name that can't lead anywhere; None, with a note where there is another one."""
    name = as_text(fields.get(key))
    if name is not None and not _PLAIN.fullmatch(name):
        tree.note(path, f"{key} {name[:60]!r} is no plain name; taken for none")
        return None
    return name
