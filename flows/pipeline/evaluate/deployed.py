"""The flow of a Prefect deployment (`prefect.yaml`): `staffbench run` with parameters."""

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
    """Run `overrides` in the folder of the deployment.

    Args:
        overrides: as on the command line: `["model=strong", "word_cap=500"]`.
        sweep: True to read lists of values as a sweep (`-m`).

    Raises:
        StaffbenchError: the run did not finish with a verdict on every item.
    """
    project = find_project(Path.cwd())
    points = compose_points(project, overrides, multirun=sweep)
    code = run_points(project, points, server=None, screen=Screen())
    if code:
        raise StaffbenchError(
            "run", f"ended with exit code {code}", remedy="see its log; the same run resumes"
        )
