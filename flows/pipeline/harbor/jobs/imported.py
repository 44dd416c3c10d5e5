"""`staffbench harbor import`: the attempts of a job as our tables, graded again if asked."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, StaffbenchError
from flows.pipeline.evaluate.showing import command_hint, display_path
from flows.pipeline.harbor.jobs.kept import kept_attempts
from flows.pipeline.harbor.jobs.parts import Part, open_parts
from flows.pipeline.harbor.jobs.regrade import regrade
from flows.pipeline.harbor.jobs.summary import job_folder, show_damage, show_part
from flows.pipeline.harbor.jobs.tables import check_bounds, write_system
from flows.pipeline.harbor.overrides import axis_of, layered
from flows.pipeline.results.stored import results_lock
from flows.pipeline.work.evaluations import kind_of
from flows.pipeline.work.stores import context_of
from flows.schema.harbor import CriterionVerdict, HarborError, Origin
from flows.schema.scenario import Scenario

_IMPORT_AXES = ("results", "benchmark", "scoring")
_JUDGE_AXES = ("judge", "judge_prompt", "runner", "budget", "retry")
_BENCHMARK_FOLDERS = ("briefs", "verdicts", "harbor")
"""Folders that identify the results of a benchmark; one is enough."""


def import_job(project: Path, overrides: Sequence[str], job: Path, screen: Screen) -> int:
    """Import a job's attempts as briefs, verdicts and scores with `harness=harbor`.

    They go to the benchmark that their judgment names, or to mission_report if another verifier graded them.
    Each system of each job is a condition of its own: it is not pooled with other jobs or our own harness.
    Importing the same job again writes the same bytes.

    With `judge=...` that judge grades the kept submissions as well. Its verdicts and scores stand under its
    name beside the verifier's.

    Returns:
        0; 1 if a part of the job was unreadable; 4 if an attempt has no score.

    Raises:
        HarborError: the folder holds no job; an attempt has neither a score nor a lower bound; or the folder
            of the benchmark's results holds something else.
        ConfigError: the folder does not exist, an override has no effect, or the judge can't be asked.
        StoreError: a table can't be written.
    """
    judged = _check_overrides(overrides)
    settings = compose_points(project, overrides, multirun=False)[0].settings
    results = project.absolute() / settings.results
    is_named = any(override.startswith("benchmark=") for override in overrides)
    rubric = partial(_rubric_here, project, overrides)
    folder = job_folder(project, job)
    found, parts = open_parts(folder, every=True, rubric=rubric)
    for part in parts:
        if is_named and part.origin.benchmark != settings.benchmark.name:
            found = f"the job's attempts are of {part.origin.benchmark}"
            raise ConfigError(f"benchmark={settings.benchmark.name}", found, part.origin.benchmark)
        check_bounds(part)
        _check_folder(results / part.origin.benchmark)
    written: list[Path] = []
    unscored = False
    with results_lock(results):
        for part in parts:
            importing = _import(project, results, overrides, part, folder.resolve(), judged=judged)
            paths, is_whole = asyncio.run(importing)
            written += paths
            unscored = unscored or not is_whole
    for part in parts:
        show_part(part, screen)
    screen.note("Written: " + ", ".join(display_path(path) for path in written))
    for name in dict.fromkeys(part.origin.benchmark for part in parts):
        of_part = replace(settings, benchmark=replace(settings.benchmark, name=name))
        screen.note(f"The leaderboard with them: {command_hint('report', project, of_part)}")
    if unscored:
        screen.fault("Some attempts have no score: see those without one in the table above.")
    return show_damage(found, screen) or (4 if unscored else 0)


def _check_overrides(overrides: Sequence[str]) -> bool:
    """Refuse overrides that an import has no use for; return whether a judge is chosen.

    Raises:
        ConfigError: there is such an override.
    """
    axes = {axis_of(override): override for override in overrides}
    judged = "judge" in axes
    for axis, override in axes.items():
        if axis in _IMPORT_AXES or (judged and axis in _JUDGE_AXES):
            continue
        raise ConfigError(
            override,
            "no effect on an import" + ("" if judged or axis not in _JUDGE_AXES else " without judge=..."),
            f"one of {', '.join((*_IMPORT_AXES, 'judge'))}, and with a judge {', '.join(_JUDGE_AXES)}",
        )
    return judged


def _check_folder(folder: Path) -> None:
    """Refuse a folder with other content: its name comes from the job, which may be untrusted."""
    if not folder.exists() or any((folder / name).is_dir() for name in _BENCHMARK_FOLDERS):
        return
    # A clone without pulled results has only this file.
    if not folder.is_dir() or [path.name for path in folder.iterdir()] != [".gitignore"]:
        raise HarborError(
            folder, "not a benchmark's results", "a new folder, or one with results of a benchmark"
        )


async def _import(
    project: Path, results: Path, overrides: Sequence[str], part: Part, job: Path, *, judged: bool
) -> tuple[list[Path], bool]:
    scenarios: dict[str, Scenario] = {}
    point = None
    for task in {trial.task for trial in part.job.trials}:
        here, scenario = _scenario_here(project, overrides, part.origin, task)
        point = point or here  # a task that can't be read has none
        if scenario is not None:
            scenarios[task] = scenario
    if judged and point is None:
        raise ConfigError(
            f"benchmark {part.origin.benchmark}", "not a benchmark of this project", "benchmark=..."
        )
    context = context_of(project, results)
    paths: list[Path] = []
    is_whole = True
    for system in part.systems:
        kept = await kept_attempts(context, part, system, job, scenarios)
        again = await regrade(project, results, point, kept, scenarios) if judged and point else None
        paths += write_system(results, part, system, kept, again)
        scores = [attempt.score for attempt in system.attempts]
        scores += [] if again is None else [score.score for score in again.scores]
        is_whole = is_whole and None not in scores
    return paths, is_whole


def _scenario_here(
    project: Path, overrides: Sequence[str], origin: Origin, task: str
) -> tuple[Point | None, Scenario | None]:
    """Return the settings of the job's benchmark here, and the scenario; None for what there is not.

    Without weights in `origin`, those of `overrides` apply.
    """
    base = [f"benchmark={origin.benchmark}", *([f"scoring={origin.scoring}"] if origin.scoring else [])]
    try:
        point = compose_points(project, layered(base, overrides), multirun=False)[0]
        benchmark = point.settings.benchmark
        kind = kind_of(benchmark)
        if benchmark.name != origin.benchmark or task not in kind.scenario_ids(project, benchmark, None):
            return point, None
        return point, kind.load(project, benchmark, task)
    except StaffbenchError:
        return None, None


def _rubric_here(
    project: Path, overrides: Sequence[str], origin: Origin, task: str
) -> dict[str, CriterionVerdict]:
    """Return the items of a scenario with points and no verdict; empty if the project does not have it."""
    point, scenario = _scenario_here(project, overrides, origin, task)
    if point is None or scenario is None:
        return {}  # the import reports the missing bound
    weights = point.settings.scoring.weights
    return {
        item.item_id: CriterionVerdict(
            criterion_id=item.item_id,
            met=None,
            points=weights.get(item.severity) if item.severity else item.points,
            is_penalty=item.is_error,
            text=item.requirement,
            reason="",
            file="",
            detail="no verdict",
        )
        for item in scenario.items
    }
