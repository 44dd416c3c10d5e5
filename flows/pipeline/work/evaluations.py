"""Build the evaluations of a run, with their scenarios, from composed points."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from flows.adapters.config.compose import Point
from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.pipeline.work.kinds import kind_of
from flows.pipeline.work.run_context import Evaluation
from flows.schema.condition import condition_of, judge_of, members_of
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind, JudgeMode, JudgeSettings, Settings, Writer


def build_evaluations(project: Path, points: Sequence[Point]) -> list[Evaluation]:
    """Build the evaluations of `points`; each scenario is loaded once.

    Each member of a panel is an evaluation of its own, once, before the panel's.

    Raises:
        Problems: invalid scenarios, or points that can't be run together.
    """
    loaded: dict[Path, Scenario] = {}
    problems: list[StaffbenchError] = []
    requested: list[Evaluation] = []
    for point in points:
        settings = point.settings
        benchmark = settings.benchmark
        kind = kind_of(benchmark)
        scenarios: list[Scenario] = []
        for scenario_id in kind.scenario_ids(project, benchmark, benchmark.scenarios):
            folder = project / benchmark.data / scenario_id
            if folder not in loaded:
                loaded[folder] = kind.load(project, benchmark, scenario_id)
                problems += no_items(folder, loaded[folder], benchmark.name)
            scenarios.append(loaded[folder])
            problems += _missing_folder(project, settings, scenario_id)
            controls = loaded[folder].controls
            if settings.model.writer is Writer.control and settings.model.label not in controls:
                expected = f"one of {', '.join(controls)}" if controls else "a scenario with controls"
                where = f"model={settings.model.label}"
                problems.append(ConfigError(where, f"{scenario_id} has no such control", expected))
        requested.append(evaluation_of(settings, point.changed, tuple(scenarios)))
    problems += _clashes(requested)
    problems += [fault for evaluation in requested for fault in _clashes(evaluation.voters)]
    if problems:
        raise Problems.of("run", problems)
    found = {_name(evaluation): evaluation for evaluation in requested}
    evaluations: list[Evaluation] = []
    for evaluation in requested:
        members = [voter for voter in evaluation.voters if _name(voter) not in found]
        found |= {_name(voter): voter for voter in members}
        evaluations += [*members, evaluation]
    return evaluations


def no_items(folder: Path, scenario: Scenario, benchmark: str) -> list[StaffbenchError]:
    """Return an error for a scenario whose rubric is still empty."""
    if scenario.items:
        return []
    remedy = f"run staffbench rubric import {benchmark}/{scenario.scenario_id} FILE"
    return [ScenarioError(folder / "rubric.yaml", "no item", "what a brief should say", remedy)]


def evaluation_of(
    settings: Settings, changed: AbstractSet[str], scenarios: tuple[Scenario, ...]
) -> Evaluation:
    """Build the evaluation of one condition under one judge; a panel's members become its voters.

    Args:
        settings: the point.
        changed: its sections with overridden values, which are marked in its labels.
        scenarios: the scenarios to write on or grade.

    Raises:
        ConfigError: the judge or a panel member would grade briefs of its own model, or does not grade as a
            task says.
    """
    for scenario in scenarios:
        _check_mode(settings.judge, scenario)
    voters = tuple(
        evaluation_of(member, differs, scenarios) for member, differs in members_of(settings, changed)
    )
    return Evaluation(
        settings,
        condition_of(settings, changed),
        judge_of(settings, changed),
        scenarios,
        _is_self_judged(settings) or any(voter.self_judged for voter in voters),
        kind_of(settings.benchmark),
        voters,
        frozenset(changed),
    )


def _check_mode(judge: JudgeSettings, scenario: Scenario) -> None:
    """Refuse a remote judge that is not asked for what a task's judge settings call `mode`."""
    said = None if scenario.task is None else scenario.task.judge.get("mode")
    if said is None or judge.kind is not JudgeKind.remote:
        return
    where = f"{scenario.scenario_id}: the task's judge mode"
    if said != JudgeMode.all_items.value:
        raise ConfigError(
            where, repr(said), "all_items, the only one that is known", "remove it from the task to go on"
        )
    if judge.mode is JudgeMode.failed_only:
        raise ConfigError(
            where,
            f"all_items, and judge.mode is {judge.mode.value}",
            "every criterion decided, with a reason",
            "set judge.mode=all_items or per_item",
        )


def _missing_folder(project: Path, settings: Settings, scenario_id: str) -> list[StaffbenchError]:
    """Check that external briefs have a folder for this scenario."""
    if settings.model.writer is not Writer.files:
        return []
    given = project / (settings.model.folder or "")
    folder = given / scenario_id
    if folder.is_dir():
        return []
    if given.is_file():
        if settings.seeds == 1 and settings.benchmark.scenarios == [scenario_id]:
            return []
        return [ConfigError("model.folder", f"{given} is one file", "one scenario and seeds=1")]
    expected = f"a folder of {kind_of(settings.benchmark).brief}s for each scenario"
    return [ConfigError("model.folder", f"no folder {folder}", expected, "set model.folder=...")]


def _is_self_judged(settings: Settings) -> bool:
    model, judge = settings.model, settings.judge
    both = model.writer is Writer.remote and judge.kind is JudgeKind.remote
    same = both and model.name == judge.name
    if same and not judge.allow_self:
        raise ConfigError(
            "judge",
            f"{judge.name} would grade its own briefs",
            "another model",
            "set judge.allow_self=true to allow it; every table will mark it",
        )
    return same


def _clashes(evaluations: Sequence[Evaluation]) -> list[StaffbenchError]:
    """Report evaluations that would write the same files."""
    seen: set[tuple[str, ...]] = set()
    problems: list[StaffbenchError] = []
    for evaluation in evaluations:
        name = tuple(part.casefold() for part in _name(evaluation))  # some file systems ignore case
        if name in seen:
            problems.append(
                ConfigError(evaluation.name, "twice in one run", "each condition, and each member, once")
            )
        seen.add(name)
    return problems


def _name(evaluation: Evaluation) -> tuple[str, str, str]:
    return evaluation.condition.label, evaluation.judge.label, evaluation.settings.scoring.name
