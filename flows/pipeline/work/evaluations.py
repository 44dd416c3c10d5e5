"""Build the evaluations of a run, with their scenarios, from composed points; the kinds of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.common.text import plural
from flows.pipeline.inputs.brief_table import find_table, read_brief_table
from flows.pipeline.work.briefs import Briefs
from flows.pipeline.work.reports import Reports
from flows.pipeline.work.run_context import BenchmarkKind, Evaluation
from flows.schema.condition import condition_of, judge_of, members_of
from flows.schema.scenario import Scenario
from flows.schema.settings import (
    BenchmarkSettings,
    JudgeKind,
    JudgeMode,
    JudgeSettings,
    ProtocolName,
    ScoringSettings,
    Settings,
    Writer,
)
from flows.stages.score import item_points

if TYPE_CHECKING:
    from flows.adapters.config.compose import Point  # slow import

KINDS: Mapping[ProtocolName, BenchmarkKind] = {kind.name: kind for kind in (Briefs(), Reports())}


def kind_of(benchmark: BenchmarkSettings) -> BenchmarkKind:
    """Return the implementation of the benchmark's protocol."""
    return KINDS[benchmark.protocol]


def build_evaluations(project: Path, points: Sequence[Point]) -> list[Evaluation]:
    """Build the evaluations of `points`; each scenario is loaded once.

    Each member of a panel is an evaluation of its own, once, before the panel's.

    Raises:
        ConfigError: the points differ in what a run has once, such as its store and limits.
        Problems: invalid scenarios, or points that can't be run together.
    """
    for name in ("results", "store", "runner", "budget", "tracking", "scoring", "benchmark", "retry"):
        first = getattr(points[0].settings, name)
        if any(getattr(point.settings, name) != first for point in points):
            raise ConfigError(
                name, "differs within one sweep", "one value for all its conditions", "run them separately"
            )
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
                problems += _without_points(loaded[folder], settings.scoring)
            scenarios.append(loaded[folder])
        if settings.model.writer is Writer.control:
            problems += _without_control(settings.model.label, scenarios)
        if settings.model.writer is Writer.files:
            problems += _missing_briefs(project, settings, [scenario.scenario_id for scenario in scenarios])
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


def _without_control(label: str, scenarios: Sequence[Scenario]) -> Iterator[ConfigError]:
    """Yield an error for the scenarios without that control; those with equal others are named together."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for scenario in scenarios:
        if label not in scenario.controls:
            lacking.setdefault(tuple(scenario.controls), []).append(scenario.scenario_id)
    for controls, (first, *more) in lacking.items():
        others = f"{first} and {plural(len(more), 'other')} have" if more else f"{first} has"
        expected = f"one of {', '.join(controls)}" if controls else "a scenario with controls"
        yield ConfigError(f"model={label}", f"{others} no such control", expected)


def no_items(folder: Path, scenario: Scenario, benchmark: str) -> list[StaffbenchError]:
    """Return an error for a scenario whose rubric is still empty."""
    if scenario.items:
        return []
    fill = f"run staffbench rubric import {benchmark}/{scenario.scenario_id} FILE"
    remedy = f"{fill}; until then, name the others: benchmark.scenarios=[...]"
    return [ScenarioError(folder / "rubric.yaml", "no item", "what a brief should say", remedy)]


def _without_points(scenario: Scenario, scoring: ScoringSettings) -> list[StaffbenchError]:
    """Return why the rubric can't be scored: known now, and not after every call has been paid for."""
    try:
        item_points(scenario.items, scoring)
    except StaffbenchError as error:
        return [error]
    return []


def evaluation_of(
    settings: Settings, changed: AbstractSet[str], scenarios: tuple[Scenario, ...]
) -> Evaluation:
    """Build the evaluation of one condition under one judge; a panel's members become its voters.

    `changed` are the sections with overridden values, which its labels mark.

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


def _missing_briefs(project: Path, settings: Settings, wanted: Sequence[str]) -> list[StaffbenchError]:
    """Check that there is something to grade of each scenario; all rows of a table are checked."""
    kind = kind_of(settings.benchmark)
    given = project / (settings.model.folder or "")
    if table := find_table(given):
        known = kind.scenario_ids(project, settings.benchmark, None)
        try:
            listed = read_brief_table(table, known, suffixes=kind.suffixes)
        except StaffbenchError as error:
            return [error]
        without = [name for name in wanted if not any(scenario == name for scenario, _ in listed)]
        chosen = "choose others by benchmark.scenarios=[...]"
        return [ConfigError(table, f"no row of {name}", f"a {kind.brief}", chosen) for name in without]
    if given.is_file():
        if settings.seeds == 1 and settings.benchmark.scenarios == [*wanted] and len(wanted) == 1:
            return []
        return [ConfigError("model.folder", f"{given} is one file", "one scenario and seeds=1")]
    expected = f"a folder of {kind.brief}s for each scenario"
    missing = [given / name for name in wanted if not (given / name).is_dir()]
    return [
        ConfigError("model.folder", f"no folder {folder}", expected, "set model.folder=...")
        for folder in missing
    ]


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
