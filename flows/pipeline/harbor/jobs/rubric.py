"""Criteria of a task from this project's rubric, for jobs whose verifier wrote none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.harbor_jobs import Origin
from flows.common.errors import StaffbenchError
from flows.pipeline.harbor.overrides import layered
from flows.pipeline.work.evaluations import kind_of
from flows.schema.harbor import CriterionVerdict
from flows.schema.scenario import Scenario


def scenario_here(
    project: Path, overrides: Sequence[str], origin: Origin, task: str
) -> tuple[Point | None, Scenario | None]:
    """Return the settings of the job's benchmark here, and the scenario; None for what there is not.

    Args:
        project: folder of the project.
        overrides: Hydra overrides.
        origin: benchmark and weights; without weights, those of `overrides` apply.
        task: id of the scenario.
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


def rubric_here(
    project: Path, overrides: Sequence[str], origin: Origin, task: str
) -> dict[str, CriterionVerdict]:
    """Return the items of a scenario with points and no verdict; empty if the project does not have it.

    Args:
        project: folder of the project.
        overrides: Hydra overrides.
        origin: benchmark and weights; without weights, those of `overrides` apply.
        task: id of the scenario.
    """
    point, scenario = scenario_here(project, overrides, origin, task)
    if point is None or scenario is None:
        return {}  # the import reports the missing bound
    items, settings = scenario.items, point.settings
    points = {
        item.item_id: settings.scoring.weights.get(item.severity) if item.severity else item.points
        for item in items
    }
    return {
        item.item_id: CriterionVerdict(
            criterion_id=item.item_id,
            met=None,
            points=points[item.item_id],
            is_penalty=item.is_error,
            text=item.requirement,
            reason="",
            file="",
            detail="no verdict",
        )
        for item in items
    }
