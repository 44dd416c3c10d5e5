"""`staffbench harbor export`: write scenarios as Harbor tasks that our judge code grades in the sandbox."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.screen import Screen
from flows.adapters.task_trees.tests_folder import Grading
from flows.adapters.task_trees.write import check_target, write_folder
from flows.adapters.task_trees.write_text import Install, install_of
from flows.common.errors import ConfigError, Problems, StaffbenchError
from flows.pipeline.harbor.brief_task import brief_task
from flows.pipeline.harbor.judge_file import named_judge
from flows.pipeline.harbor.overrides import axis_of, layered
from flows.pipeline.harbor.tasks import ExportedTask, report_task
from flows.pipeline.work.evaluations import kind_of

_GRADING_AXES = ("judge_prompt", "scoring", "word_cap", "judge")
_GRADING_KEYS = (*_GRADING_AXES, "runner", "budget", "retry")
_HARBOR_AXES = {
    "model": "choose it with the agent: harbor run ... -a AGENT -m MODEL",
    "effort": "use Harbor's --effort",
    "harness": "Harbor is the harness",
    "tracking": "Harbor's runs are not logged; import their attempts with staffbench harbor import",
}
"""Axes that Harbor decides, and where to choose them instead."""


def export(
    project: Path,
    overrides: Sequence[str],
    folder: Path,
    *,
    install: str | None,
    screen: Screen,
    keep_verifier: bool = False,
) -> int:
    """Write the chosen scenarios as `export_tasks` does, and say how to run them; return 0."""
    from flows.pipeline.evaluate.showing import display_path  # slow import

    export_tasks(project, overrides, folder, install=install, screen=screen, keep_verifier=keep_verifier)
    shown = display_path(folder)
    screen.note(f"Written: {shown}. To run them: harbor run -p {shlex.quote(shown)} -a AGENT -m MODEL")
    return 0


def export_tasks(
    project: Path,
    overrides: Sequence[str],
    folder: Path,
    *,
    install: str | None,
    screen: Screen,
    keep_verifier: bool = False,
) -> list[ExportedTask]:
    """Write the chosen scenarios as task trees, `FOLDER/<scenario>/`; on an error, none is written.

    `overrides` say how the verifier grades: judge, judge_prompt, scoring, word_cap; for briefs also the
    prompt. `install` is what the sandboxes install as staffbench, see `install_of`. With `keep_verifier` a
    report task's own verifier stays.

    Returns:
        The written tasks.

    Raises:
        ConfigError: overrides are invalid, or of an axis that Harbor decides.
        Problems: lists invalid scenarios.
        StoreError: `folder` is a link or not empty, or can't be written.
    """
    check_target(folder)
    refuse_harbor_axes(overrides)
    point = compose_points(project, overrides, multirun=False)[0]
    if keep_verifier:
        _check_kept(point, overrides, install)
    tasks = _tasks(project, point, overrides, install_of(install), keep_verifier=keep_verifier)
    files = {f"{task.scenario_id}/{name}": file for task in tasks for name, file in task.files.items()}
    rows = [("task", "oracle", "files", "bytes")]
    rows += [
        (
            task.scenario_id,
            task.oracle or "none",
            str(len(task.files)),
            f"{sum(file.size for file in task.files.values()):,}",
        )
        for task in tasks
    ]
    write_folder(folder, files)
    screen.table(f"{point.settings.benchmark.name}: exported for Harbor", rows, words=2)
    for task in tasks:
        for note in task.notes:
            screen.note(f"{task.scenario_id}: {note}")
    if keep_verifier:
        return tasks
    judges = sorted({task.judge for task in tasks})
    screen.note(
        f"Judged there by {', '.join(judges)}, unless STAFFBENCH_JUDGE names a judge in the verifier's "
        "environment, as for judge=..., with overrides after it."
    )
    if not install and not kind_of(point.settings.benchmark).has_tasks:
        screen.note(
            "The sandboxes install no staffbench, without which their verifier leaves no reward: "
            "--install WHEEL, or what pip should install."
        )
    return tasks


def _check_kept(point: Point, overrides: Sequence[str], install: str | None) -> None:
    """Refuse what has no effect on a verifier of others.

    Raises:
        ConfigError: there is such an override, or the benchmark has no verifier of its own.
    """
    if not kind_of(point.settings.benchmark).has_tasks:
        raise ConfigError(
            "--keep-verifier", "scenarios of briefs have no verifier of their own", "benchmark=mission_report"
        )
    grading = [override for override in overrides if axis_of(override) in _GRADING_KEYS]
    for word in (*grading, *(["--install"] if install else [])):
        raise ConfigError(word, "no effect with --keep-verifier: the task's own verifier grades")


def refuse_harbor_axes(overrides: Sequence[str]) -> None:
    """Refuse overrides that would have no effect.

    Raises:
        ConfigError: an override of an axis that Harbor decides.
    """
    for override in overrides:
        remedy = _HARBOR_AXES.get(axis_of(override))
        if remedy is not None:
            raise ConfigError(override, "decided by Harbor's own arguments", remedy=remedy)


def grading_overrides(point: Point, overrides: Sequence[str]) -> tuple[str, ...]:
    """Return overrides that reproduce the grading elsewhere: options by name, weights by value."""
    benchmark = point.settings.benchmark
    base = [f"benchmark={benchmark.protocol.value}", f"benchmark.name={benchmark.name}"]
    base += [f"{axis}={point.choices[axis]}" for axis in _GRADING_AXES]
    chosen = [override for override in overrides if axis_of(override) in _GRADING_KEYS]
    weights = ",".join(f"{key}:{value!r}" for key, value in point.settings.scoring.weights.items())
    by_value = [f"scoring.weights={{{weights}}}"] if weights else []
    return tuple(layered(layered(base, chosen), by_value))


def _tasks(
    project: Path, point: Point, overrides: Sequence[str], install: Install, *, keep_verifier: bool
) -> list[ExportedTask]:
    settings = point.settings
    benchmark = settings.benchmark
    chosen = any(axis_of(override) == "judge" for override in overrides)
    kind = kind_of(benchmark)
    tasks: list[ExportedTask] = []
    problems: list[StaffbenchError] = []
    for name in kind.scenario_ids(project, benchmark, benchmark.scenarios):
        folder = project / benchmark.data / name
        try:
            scenario = kind.load(project, benchmark, name)
            if scenario.task is None:
                grading = Grading(name, grading_overrides(point, overrides))
                tasks.append(brief_task(folder, scenario, settings, grading, install))
                continue
            # The task names its judge; the stand-in is used only where somebody asks for it.
            named = [] if chosen or keep_verifier else named_judge(project, scenario.task.judge)
            words = [*overrides, *named]
            own = compose_points(project, words, multirun=False)[0] if named else point
            grading = None if keep_verifier else Grading(name, grading_overrides(own, words))
            tasks.append(report_task(folder, scenario, own, grading, install))
        except StaffbenchError as error:
            problems.append(error)
    if problems:
        raise Problems.of("harbor export", problems)
    return tasks
