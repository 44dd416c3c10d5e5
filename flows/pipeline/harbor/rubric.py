"""The rubric of a task of ours as a verifier would have written it, for jobs in which none did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.harbor_jobs import Origin
from flows.common.errors import StaffbenchError
from flows.pipeline.harbor.overrides import layered
from flows.pipeline.work.kinds import kind_of
from flows.schema.harbor import CriterionVerdict


def rubric_here(
    project: Path, overrides: Sequence[str], origin: Origin, task: str
) -> dict[str, CriterionVerdict]:
    """The items of a scenario with their points and no verdict; none where it is not in this project.

    Args:
        project: the project's folder.
        overrides: as for every command.
        origin: names benchmark and weights; weights that it does not name are those of `overrides`.
        task: id of the scenario.
    """
    words = [f"benchmark={origin.benchmark}", *([f"scoring={origin.scoring}"] if origin.scoring else [])]
    try:
        settings = compose_points(project, layered(words, overrides), multirun=False)[0].settings
        benchmark = settings.benchmark
        kind = kind_of(benchmark)
        if benchmark.name != origin.benchmark or task not in kind.scenario_ids(project, benchmark, None):
            return {}
        items = kind.load(project, benchmark, task).items
    except StaffbenchError:
        return {}  # the import says then what is not known
    points = {
        item.item_id: settings.scoring.weights.get(item.severity.value) if item.severity else item.points
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
