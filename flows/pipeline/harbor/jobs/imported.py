"""Import one part of a job: measure its reports, grade them again if asked, and write the tables."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from flows.common.errors import ConfigError
from flows.pipeline.harbor.jobs.kept import kept_attempts
from flows.pipeline.harbor.jobs.parts import Part
from flows.pipeline.harbor.jobs.regrade import regrade
from flows.pipeline.harbor.jobs.rubric import scenario_here
from flows.pipeline.harbor.jobs.tables import write_system
from flows.pipeline.work.stores import context_of
from flows.schema.scenario import Scenario


def import_part(
    project: Path, results: Path, overrides: Sequence[str], part: Part, job: Path, *, judged: bool
) -> tuple[list[Path], bool]:
    """Write the tables of every system of a part.

    Args:
        project: folder of the project.
        results: the results folder.
        overrides: Hydra overrides.
        part: the part of the job.
        job: folder of the job.
        judged: True to grade the kept submissions with the judge of `overrides`.

    Returns:
        The written files, and whether every attempt has a score by every judge.

    Raises:
        ConfigError: `judged`, and the job's benchmark or a task is not here.
        StaffbenchError: the judge can't be used, or a table can't be written.
    """
    return asyncio.run(_import(project, results, overrides, part, job, judged=judged))


async def _import(
    project: Path, results: Path, overrides: Sequence[str], part: Part, job: Path, *, judged: bool
) -> tuple[list[Path], bool]:
    scenarios: dict[str, Scenario] = {}
    point = None
    for task in {trial.task for trial in part.job.trials}:
        point, scenario = scenario_here(project, overrides, part.origin, task)
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
