"""Around the flow of a run: its workers and client, Prefect's server, Ctrl-C, and what follows its end."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from prefect import Flow
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.exceptions import CancelledRun, FailedRun

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.screen import Screen
from flows.adapters.tracking import is_foreign
from flows.common.errors import ConfigError, StaffbenchError, Stopped
from flows.pipeline.evaluate.crew import Crew
from flows.pipeline.evaluate.job import JOB, Job
from flows.pipeline.evaluate.run_page import kept_up_to_date
from flows.pipeline.evaluate.showing import exit_code, prefect_command, show_hint, show_results
from flows.pipeline.orchestration.cached_tasks import TaskRuns
from flows.pipeline.orchestration.lost import PrefectError, watched
from flows.pipeline.orchestration.records import records
from flows.pipeline.orchestration.server import Server
from flows.pipeline.work.stores import Stores, check_calls
from flows.schema.settings import Engine, Settings

Asked = tuple[Sequence[str], bool]
"""The overrides of a command, and whether they are a sweep."""


def open_crew(
    settings: Settings,
    server: Server | None,
    screen: Screen,
    stack: ExitStack,
    flow: str,
) -> Crew | None:
    """Start or find the workers of a cluster; None if this process does the work.

    Workers import the module `flow`, which has the flow.
    """
    if settings.runner.engine is not Engine.dask or not TaskRuns.enabled:  # one brief needs no cluster
        return None
    if settings.runner.scheduler is not None and server is not None and server.is_embedded:
        raise ConfigError(
            "runner.scheduler",
            "this command would start a Prefect server that its workers can't reach",
            "PREFECT_API_URL, the address of one that all of them reach",
            "start one with make cluster, or with make prefect",
        )
    return Crew(settings, screen, stack, flow)


def open_client(
    stores: Stores, points: Sequence[Settings], crew: Crew | None, stack: ExitStack
) -> ThreadedClient | None:
    """Return a client if a point calls a model; `stack` closes its store."""
    if not check_calls(points):
        return None
    store = stores.completions()
    stack.callback(store.close)
    first = points[0]
    return (
        crew.client(store, first) if crew else ThreadedClient(store, first.runner, first.budget, first.retry)
    )


def run_flow(flow: Flow[Any, Any], asked: Asked, server: Server | None, project: Path) -> int:
    """Run `flow` on the job in `JOB`, show its results, and return the exit code.

    `server` is Prefect's, starting or running; None without one, or inside a deployment.
    """
    job = JOB.get()
    if server is not None:
        _await(server, job.screen, project)
    with kept_up_to_date(job.page, job.screen):
        lost = _run(job, flow, asked, server)
    show_results(job)
    return _ended(job, lost)


def _await(server: Server, screen: Screen, project: Path) -> None:
    if server.is_embedded:
        screen.say(
            "Prefect's server takes some seconds to start; to keep one running: "
            f"{prefect_command(project)}, with PREFECT_API_URL set to http://127.0.0.1:4200/api."
        )
    server.wait()


def _run(job: Job, flow: Flow[Any, Any], asked: Asked, server: Server | None) -> PrefectError | None:
    """Run the flow; return the loss of its server if the leaderboard was made before."""
    lost: PrefectError | None = None
    try:
        with job.screen.progress(job.progress):
            asyncio.run(_until_stopped(job, flow, asked, server))
    except PrefectError as error:
        if job.finished.board is None:
            raise
        lost = error  # reported after the results are shown and logged
    if server is not None:
        # The server writes its events while we show and log.
        server.release(job.finished.flow_run_id, job.finished.task_runs)
    return lost


async def _until_stopped(job: Job, flow: Flow[Any, Any], asked: Asked, server: Server | None) -> None:
    """Run the flow, which fills in `job.finished`; unexpected errors are raised."""
    client, fault = job.context.client, None
    job.signals.begin()
    try:
        try:
            async with watched(server, lambda: bool(job.finished.flow_run_id)):
                await _enter(flow, list(asked[0]), asked[1])
        except Exception as error:  # noqa: BLE001 -- re-raised once the calls in flight are stored
            fault = error
        if client is not None:
            await client.aclose()
    except asyncio.CancelledError:
        # A second Ctrl-C does not wait for calls in flight.
        raise Stopped(
            "run", "stopped", remedy="Calls in flight were abandoned; the same command resumes."
        ) from None
    if fault is not None:
        raise fault


async def _enter(flow: Flow[Any, Any], overrides: list[str], sweep: bool) -> None:
    flow.result_storage = records()  # the decorator takes only storage that the server knows
    if not TaskRuns.enabled or FlowRunContext.get() is not None:  # the latter of a deployment
        await flow.fn(overrides, sweep)
        return
    # Prefect's overloads do not declare a coroutine.
    ended = cast("Awaitable[State[Any]]", flow(overrides, sweep, return_state=True))
    result: Any = await (await ended).aresult(raise_on_failure=False)
    if isinstance(result, BaseException) and not isinstance(result, FailedRun | CancelledRun):
        raise result


def _ended(job: Job, lost: PrefectError | None) -> int:
    """Wait for MLflow and return the exit code."""
    screen = job.screen
    if job.tracker is not None and job.finished.outcomes:
        try:
            _, notes = job.tracker.finish()
        except StaffbenchError as error:
            screen.fault(str(error))
            return error.exit_code
        for note in notes:
            screen.note(note)
        if not is_foreign():
            show_hint(job, "MLflow's page on these runs", "ui")
    if lost is not None:
        screen.fault(str(lost))
        return lost.exit_code
    return exit_code(job.finished, job.context.results, screen)
