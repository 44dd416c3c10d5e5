"""What one run works on: its points, scenarios and packets, and what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import Point
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ConfigError, Problems, StaffbenchError
from flows.pipeline.inputs.scenarios import load, names_of
from flows.pipeline.native.renders import Renders
from flows.schema.completion import Message
from flows.schema.condition import Condition, Judge, condition_of, judge_of, members_of
from flows.schema.document import Packet
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import JudgeKind, PromptSettings, ProtocolName, Settings, Writer
from flows.stages.generate import build_messages
from flows.stages.offline import OFFLINE_VERSION
from flows.stages.offline.reference import REFERENCE_VERSION


@dataclass(frozen=True)
class Evaluation:
    """One condition under one judge, on its scenarios.

    Attributes:
        settings: the point.
        condition, judge: its names.
        scenarios: in the order of their ids.
        self_judged: True where the judge, or a member of the panel, is the writer.
        voters: the same condition under each member of a panel; empty for any other judge.
    """

    settings: Settings
    condition: Condition
    judge: Judge
    scenarios: tuple[Scenario, ...]
    self_judged: bool
    voters: tuple[Evaluation, ...] = ()

    @property
    def name(self) -> str:
        """As shown on screens."""
        return f"{self.condition.label} · {self.judge.label}"


@dataclass
class RunContext:
    """The evaluations of one run and what they share.

    Attributes:
        project: folder of the project.
        results: folder that everything is written to.
        evaluations: in the order given.
        client: pays for completions; None where every model and judge is local.
        objects: what the stages made.
        reports: files of reports; nothing lies there where briefs are text alone.
        renders: their pages.
        packets: by scenario folder; filled in by the packet stage.
    """

    project: Path
    results: Path
    evaluations: Sequence[Evaluation]
    client: ThreadedClient | None
    objects: ObjectStore
    reports: ReportStore
    renders: Renders
    packets: dict[Path, Packet] = field(default_factory=dict[Path, Packet])
    stopping: bool = False
    _messages: dict[tuple[str, PromptSettings], tuple[Message, ...]] = field(
        default_factory=dict[tuple[str, PromptSettings], tuple[Message, ...]]
    )

    def messages(self, scenario: Scenario, packet: Packet, prompt: PromptSettings) -> tuple[Message, ...]:
        """The prompt of a scenario: rendered once, since every model and seed is sent the same one."""
        key = (packet.digest, prompt)
        if key not in self._messages:
            self._messages[key] = build_messages(scenario.assignment, packet, prompt)
        return self._messages[key]

    def stop(self) -> None:
        """Send nothing more; what is under way ends and is stored."""
        self.stopping = True
        if self.client is not None:
            self.client.stop()

    def folder(self, evaluation: Evaluation, scenario: Scenario) -> Path:
        """The scenario's folder."""
        return self.project / evaluation.settings.benchmark.data / scenario.scenario_id


def build_evaluations(project: Path, points: Sequence[Point]) -> list[Evaluation]:
    """The evaluations that `points` ask for, scenarios loaded once.

    A panel comes after its members, each of which is an evaluation of its own, once.

    Raises:
        Problems: faults of scenarios, or points that can't be run together.
    """
    loaded: dict[Path, Scenario] = {}
    problems: list[StaffbenchError] = []
    asked: list[Evaluation] = []
    for point in points:
        settings = point.settings
        benchmark = settings.benchmark
        scenarios: list[Scenario] = []
        for scenario_id in names_of(project, benchmark, benchmark.scenarios):
            folder = project / benchmark.data / scenario_id
            if folder not in loaded:
                loaded[folder] = load(project, benchmark, scenario_id)
            scenarios.append(loaded[folder])
            problems += _no_folder(project, settings, scenario_id)
            controls = loaded[folder].controls
            if settings.model.writer is Writer.control and settings.model.label not in controls:
                expected = f"one of {', '.join(controls)}" if controls else "a scenario with controls"
                where = f"model={settings.model.label}"
                problems.append(ConfigError(where, f"{scenario_id} has no such control", expected))
        asked.append(evaluation_of(settings, point.changed, tuple(scenarios)))
    problems += _clashes(asked)
    problems += [fault for evaluation in asked for fault in _clashes(evaluation.voters)]
    if problems:
        raise Problems.of("run", problems)
    found = {_name(evaluation): evaluation for evaluation in asked}
    evaluations: list[Evaluation] = []
    for evaluation in asked:
        members = [voter for voter in evaluation.voters if _name(voter) not in found]
        found |= {_name(voter): voter for voter in members}
        evaluations += [*members, evaluation]
    return evaluations


def evaluation_of(
    settings: Settings, changed: AbstractSet[str], scenarios: tuple[Scenario, ...]
) -> Evaluation:
    """One condition under one judge; of a panel with an evaluation for each member as its voters.

    Args:
        settings: the point.
        changed: sections of it with overridden values, which tell its names from those of its options.
        scenarios: what is written on or graded.

    Raises:
        ConfigError: the judge, or a member of the panel, would grade briefs of its own model.
    """
    voters = tuple(
        evaluation_of(member, differs, scenarios) for member, differs in members_of(settings, changed)
    )
    return Evaluation(
        settings,
        condition_of(settings, changed),
        judge_of(settings, changed),
        scenarios,
        _is_self_judged(settings) or any(voter.self_judged for voter in voters),
        voters,
    )


def _no_folder(project: Path, settings: Settings, scenario_id: str) -> list[StaffbenchError]:
    """Before anything runs: that whoever wrote elsewhere has a folder for this scenario."""
    if settings.model.writer is not Writer.files:
        return []
    folder = project / (settings.model.folder or "") / scenario_id
    if folder.is_dir():
        return []
    what = "reports" if settings.benchmark.protocol is ProtocolName.mission_report else "briefs"
    expected = f"a folder of {what} for each scenario"
    return [ConfigError("model.folder", f"no folder {folder}", expected, "set model.folder=...")]


@lru_cache(maxsize=1024)
def items_digest(items: tuple[Item, ...]) -> str:
    """sha256 over everything of a rubric that a verdict or a score rests on, an expert's report aside."""
    return sha256_text(canonical_json([_identity(item) for item in items]))


def _identity(item: Item) -> list[str | int | float]:
    if item.step is None or item.tier is None or item.severity is None:
        return [item.item_id, item.points or 0.0, item.requirement]
    return [
        item.item_id,
        item.step.value,
        item.tier.value,
        item.severity.value,
        item.requirement,
        item.ground_truth,
        item.pass_condition,
        item.fail_condition,
    ]


def rubric_digest(scenario: Scenario) -> str:
    """`items_digest`; of a task with the expert's report, which its verdicts rest on as well."""
    digest = items_digest(scenario.items)
    return (
        digest if scenario.reference is None else sha256_text(f"{digest} {sha256_text(scenario.reference)}")
    )


def rubric_digests(scenarios: Sequence[Scenario]) -> Mapping[str, str]:
    """`rubric_digest` by scenario."""
    return {scenario.scenario_id: rubric_digest(scenario) for scenario in scenarios}


def written_from(evaluation: Evaluation, packets: Iterable[Packet]) -> dict[str, Any]:
    """What the briefs of a condition follow from, the texts of controls and files aside.

    Args:
        evaluation: of the condition.
        packets: those of its scenarios, and any others.

    Returns:
        `documents` and `assignments`: sha256 by scenario, of those that the writer reads: a control, or
        a brief that lies in a file, is the same whatever they say. `prompt`: sha256 of the prompt with
        its texts; None where no model is asked.
    """
    settings = evaluation.settings
    is_asked = settings.model.writer is Writer.remote
    reads = is_asked or settings.model.writer is Writer.extractive
    digests = {packet.scenario_id: packet.digest for packet in packets}
    return {
        "documents": {
            one.scenario_id: digests[one.scenario_id]
            for one in evaluation.scenarios
            if reads and one.scenario_id in digests
        },
        "assignments": {
            one.scenario_id: sha256_text(one.assignment)
            for one in evaluation.scenarios
            if is_asked or (reads and one.task is not None)  # the baseline of briefs reads documents alone
        },
        "prompt": sha256_text(canonical_json(asdict(settings.prompt))) if is_asked else None,
    }


def rule_versions(scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Versions of the offline judge's rules that its verdicts on these scenarios rest on.

    As in the judge stage's key: rules beside an expert's report read texts as the others do.
    """
    versions = {"offline": OFFLINE_VERSION}
    if any(scenario.reference is not None for scenario in scenarios):
        versions["reference"] = REFERENCE_VERSION
    return versions


def judge_versions(evaluation: Evaluation) -> dict[str, str]:
    """`rule_versions` where the judge, or a member of the panel, is the offline one; else empty.

    They are no part of the judge's digest, so that its label and what is stored under it stay.
    """
    kinds = {one.settings.judge.kind for one in (evaluation, *evaluation.voters)}
    return rule_versions(evaluation.scenarios) if JudgeKind.offline in kinds else {}


def _is_self_judged(settings: Settings) -> bool:
    model, judge = settings.model, settings.judge
    both = model.writer is Writer.remote and judge.kind is JudgeKind.remote
    same = both and model.name == judge.name
    if same and not judge.allow_self:
        raise ConfigError(
            "judge",
            f"{judge.name} would grade its own briefs",
            "another model",
            "set judge.allow_self=true to do so all the same; every table will say it",
        )
    return same


def _clashes(evaluations: Sequence[Evaluation]) -> list[StaffbenchError]:
    """Two evaluations of a run that would write the same files."""
    seen: set[tuple[str, ...]] = set()
    problems: list[StaffbenchError] = []
    for evaluation in evaluations:
        name = tuple(part.casefold() for part in _name(evaluation))  # some disks take capitals for small ones
        if name in seen:
            problems.append(
                ConfigError(evaluation.name, "twice in one run", "each condition, and each member, once")
            )
        seen.add(name)
    return problems


def _name(evaluation: Evaluation) -> tuple[str, str, str]:
    return evaluation.condition.label, evaluation.judge.label, evaluation.settings.scoring.name
