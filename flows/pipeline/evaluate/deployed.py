"""The flow of a Prefect deployment (`prefect.yaml`), and of a retry: `staffbench run` with parameters."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed
from pydantic import Field

from flows.adapters.config.compose import compose_points
from flows.adapters.scenario_files import find_project
from flows.adapters.screen import Screen
from flows.common.errors import BudgetReached, StaffbenchError, Stopped
from flows.pipeline.evaluate.flow import run_points
from flows.pipeline.orchestration.records import RecordFolder
from flows.pipeline.orchestration.server import configure

Override = Annotated[str, Field(pattern=r"^[+~]*[A-Za-z_][\w./@-]*=|^~", examples=["model=strong"])]


def _name() -> str:
    return " ".join(["staffbench", *flow_run.parameters["overrides"]])


class _Screen(Screen):
    """Remembers the first fault that it shows, for the state of the flow run."""

    has_live_line = False  # Prefect logs to the terminal
    first = ""

    def error(self, text: str, style: str | None = None) -> None:
        self.first = self.first or " ".join(text.split())
        super().error(text, style)


@flow(name="staffbench", flow_run_name=_name)
def deployed(overrides: list[Override], sweep: bool = False) -> State[Any]:
    """Run `overrides` in the folder of the deployment, from what earlier runs stored.

    Args:
        overrides: as on the command line: `["model=strong", "word_cap=500"]`.
        sweep: True to read lists of values as a sweep (`-m`).

    Returns:
        Completed with a verdict on every item, Cancelled where a budget or a person stopped it, else Failed.
    """
    project = find_project(Path.cwd())
    configure(project, project / "results")

    screen = _Screen()

    def run() -> int:
        points = compose_points(project, overrides, multirun=sweep)
        return run_points(project, points, server=None, screen=screen, asked=(overrides, sweep))

    try:
        if _is_in_a_loop():  # within `prefect flow-run retry`
            with ThreadPoolExecutor(1) as pool:
                code = pool.submit(copy_context().run, run).result()
        else:
            code = run()
    except StaffbenchError as error:
        return Failed(message=str(error))  # Prefect would print a traceback
    if code in (BudgetReached.exit_code, Stopped.exit_code):
        return Cancelled(message="stopped before everything was done; a retry goes on")
    if code:
        return Failed(
            message=f"{screen.first or f'ended with exit code {code}: see its log'}; a retry goes on"
        )
    return Completed(message="every item has a verdict")


def _is_in_a_loop() -> bool:
    with suppress(RuntimeError):
        return asyncio.get_running_loop().is_running()
    return False


# Where a run by command keeps its finished stages. The decorator takes only storage that the server knows.
_RECORDS = Path(os.environ.get("PREFECT_LOCAL_STORAGE_PATH", "results/.cache/prefect"))
deployed.result_storage = RecordFolder(basepath=str(_RECORDS.expanduser().absolute()))
