"""The flow that a Prefect work pool runs (`prefect.yaml`): `staffbench run`, with parameters."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.adapters.config.compose import compose_points
from flows.adapters.scenario_files import find_project
from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.evaluate.run import run_points


@flow(name="staffbench", flow_run_name="staffbench {overrides}")
def deployed(overrides: list[str], sweep: bool = False) -> None:
    """Run what `overrides` name in the folder that the deployment was made in.

    Args:
        overrides: as on the command line: `["model=strong", "word_cap=500"]`.
        sweep: True where a list of values is meant as a sweep (`-m`).

    Raises:
        StaffbenchError: the run did not end with a verdict on every item.
    """
    project = find_project(Path.cwd())
    points = compose_points(project, overrides, multirun=sweep)
    code = run_points(project, points, server=None, screen=Screen())
    if code:
        raise StaffbenchError(
            "run", f"ended with exit code {code}", remedy="see its log; the same run resumes"
        )
