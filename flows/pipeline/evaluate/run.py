"""`staffbench run`: run the flow on composed points and show the leaderboard."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import Point
from flows.adapters.screen import Progress, Screen
from flows.adapters.tables import forget_pandas
from flows.adapters.tracking import Tracker, is_foreign
from flows.common.errors import ConfigError, StaffbenchError, Stopped
from flows.pipeline.evaluate.run_page import RunPage, kept_up_to_date
from flows.pipeline.evaluate.showing import command_hint, exit_code, prefect_command, show_hint, show_results
from flows.pipeline.orchestration.lost import PrefectError, watched
from flows.pipeline.orchestration.server import Server
from flows.pipeline.work.evaluations import build_evaluations
from flows.pipeline.work.stores import Stores, check_calls
from flows.readers.guarded import stop_reading
from flows.schema.settings import Engine, Settings

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

    from flows.pipeline.evaluate.crew import Crew
    from flows.pipeline.evaluate.job import Job


def run_points(
    project: Path,
    points: Sequence[Point],
    *,
    server: Server | None,
    screen: Screen,
    watch: bool = False,
    asked: tuple[Sequence[str], bool] = ((), False),
) -> int:
    """Run every point and show the leaderboard.

    Args:
        project: folder of the project.
        points: what to run.
        server: Prefect's server, starting or running; None inside a deployment, which has its own.
        screen: output.
        watch: True to write a page that follows the run.
        asked: the overrides, and whether they are a sweep: shown by Prefect, which retries by them.

    Returns:
        Exit code: 0, `INCOMPLETE`, or that of the error that stopped the run.

    Raises:
        StaffbenchError: the points can't be run, or not together; no model was called.
    """
    # Prefect is imported while its server starts.
    from flows.pipeline.evaluate.chain import in_process
    from flows.pipeline.evaluate.job import Job, Signals, counts, expected, title_of

    forget_pandas()
    settings = points[0].settings
    results = project / settings.results
    evaluations = build_evaluations(project, points)
    title, params = title_of(evaluations)
    with ExitStack() as stack:
        stack.callback(stop_reading, stopped=False)  # for the next run of this process
        tracking, tracker = settings.tracking, None
        if tracking.enabled:
            tracker = Tracker(results, tracking.experiment, tracking.wait_s)
            stack.callback(tracker.close)
        stores = Stores.of(project, settings)
        crew = _crew(settings, server, screen, stack)
        client = _client(stores, [evaluation.settings for evaluation in evaluations], crew, stack)
        context = stores.context(project, evaluations, client)
        progress = Progress(expected(context), (lambda: counts(context)) if client else None)
        page = results / settings.benchmark.name / "run.html"
        job = Job(
            context,
            title,
            screen,
            progress,
            Signals(context, screen),
            crew.open if crew else in_process,
            tracker,
            RunPage(page, params["command"], command_hint("report", project, settings), progress, evaluations)
            if watch
            else None,
        )
        gc.freeze()  # exclude objects of the imports from collection
        if tracker is not None:
            tracker.start(title, params)  # not earlier: it would slow down the start of Prefect's server
        if server is not None:
            _await(server, screen, project)
        with kept_up_to_date(job.page, screen):
            lost = _run(job, asked, server)
        show_results(job)
        return _ended(job, lost)


def _crew(settings: Settings, server: Server | None, screen: Screen, stack: ExitStack) -> Crew | None:
    """Start or find the workers of a cluster; None if this process does the work."""
    from flows.pipeline.orchestration.cached_tasks import TaskRuns

    if settings.runner.engine is not Engine.dask or not TaskRuns.enabled:  # one brief needs no cluster
        return None
    if settings.runner.scheduler is not None and server is not None and server.is_embedded:
        raise ConfigError(
            "runner.scheduler",
            "this command would start a Prefect server that its workers can't reach",
            "PREFECT_API_URL, the address of one that all of them reach",
            "start one with make cluster, or with make prefect",
        )
    from flows.pipeline.evaluate.crew import Crew

    return Crew(settings, screen, stack)


def _client(
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


def _await(server: Server, screen: Screen, project: Path) -> None:
    if server.is_embedded:
        screen.say(
            "Prefect's server takes some seconds to start; to keep one running: "
            f"{prefect_command(project)}, with PREFECT_API_URL set to http://127.0.0.1:4200/api."
        )
    server.wait()


def _run(job: Job, asked: tuple[Sequence[str], bool], server: Server | None) -> PrefectError | None:
    """Run the flow; return the loss of its server if the leaderboard was made before."""
    from flows.pipeline.evaluate.job import JOB

    JOB.set(job)
    lost: PrefectError | None = None
    try:
        with job.screen.progress(job.progress):
            asyncio.run(_until_stopped(job, asked, server))
    except PrefectError as error:
        if job.finished.board is None:
            raise
        lost = error  # reported after the results are shown and logged
    if server is not None:
        # The server writes its events while we show and log.
        server.release(job.finished.flow_run_id, job.finished.task_runs)
    return lost


async def _until_stopped(job: Job, asked: tuple[Sequence[str], bool], server: Server | None) -> None:
    """Run the flow, which fills in `job.finished`; unexpected errors are raised."""
    client, fault = job.context.client, None
    job.signals.begin()
    try:
        try:
            async with watched(server, lambda: bool(job.finished.flow_run_id)):
                await _flow(list(asked[0]), asked[1])
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


async def _flow(overrides: list[str], sweep: bool) -> None:
    from prefect.context import FlowRunContext
    from prefect.exceptions import CancelledRun, FailedRun

    from flows.pipeline.evaluate.flow import evaluate
    from flows.pipeline.orchestration.cached_tasks import TaskRuns
    from flows.pipeline.orchestration.records import records

    evaluate.result_storage = records()  # the decorator takes only storage that the server knows
    if not TaskRuns.enabled or FlowRunContext.get() is not None:  # the latter of a deployment
        await evaluate.fn(overrides, sweep)
        return
    # Prefect's overloads do not declare a coroutine.
    flow = cast("Awaitable[State[Any]]", evaluate(overrides, sweep, return_state=True))
    result: Any = await (await flow).aresult(raise_on_failure=False)
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
