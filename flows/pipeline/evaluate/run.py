"""`staffbench run`: run the flow on composed points and show the leaderboard."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flows.adapters.completions.client import Client, check_batches, check_key
from flows.adapters.completions.keys import check_no_secret
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import Point
from flows.adapters.screen import Progress, Screen, calls_text
from flows.adapters.tables import forget_pandas
from flows.adapters.tracking import Tracker
from flows.common.errors import ConfigError, StaffbenchError, Stopped
from flows.pipeline.evaluate.run_page import RunPage, kept_up_to_date
from flows.pipeline.evaluate.showing import (
    command_hint,
    display_path,
    exit_code,
    prefect_command,
    show_board,
    show_brief,
    show_tasks,
)
from flows.pipeline.evaluate.signals import Signals
from flows.pipeline.orchestration.lost import PrefectError, as_lost, has_ended, watch
from flows.pipeline.orchestration.server import Server
from flows.pipeline.work.evaluations import build_evaluations
from flows.pipeline.work.run_context import RunContext
from flows.pipeline.work.stores import Stores
from flows.schema.settings import (
    Engine,
    JudgeKind,
    ModelSettings,
    Settings,
    TrackingSettings,
    Transport,
    Writer,
)

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

    from flows.pipeline.evaluate.crew import Crew
    from flows.pipeline.evaluate.flow import Finished, Job


# Imports leave 300,000 live objects. With default thresholds, garbage collection scans all of them nine times
# in a run and the youngest a thousand times: a tenth of the CPU.
_COLLECT_AFTER = (20_000, 10, 10)


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
    from flows.pipeline.evaluate.chain import in_process
    from flows.pipeline.evaluate.job import build_job, counts, expected, title_of

    forget_pandas()
    gc.set_threshold(*_COLLECT_AFTER)
    settings = points[0].settings
    results = project / settings.results
    evaluations = build_evaluations(project, points)
    check_shared(points)
    folder = results / settings.benchmark.name
    title, params = title_of(evaluations)
    with ExitStack() as stack:
        tracker = _tracker(results, settings.tracking)
        if tracker is not None:
            stack.callback(tracker.close)
        stores = Stores.of(project, settings)
        crew = _crew(settings, server, screen, stack)
        context = RunContext(
            project,
            results,
            evaluations,
            _client(stores, [evaluation.settings for evaluation in evaluations], crew, stack),
            stores.objects(),
            stores.reports(settings.benchmark.name),
            stores.renders(settings.benchmark.name),
        )
        progress = Progress(expected(context), (lambda: counts(context)) if context.client else None)
        page = RunPage(folder / "run.html", title, progress, evaluations) if watch else None
        signals = Signals(context, screen)
        chains = crew.open if crew else in_process
        job = build_job(
            context, progress, tracker, page, screen, title=title, on_start=signals.take, chains=chains
        )
        gc.freeze()  # exclude objects of the imports from collection
        if tracker is not None:
            tracker.start(title, params)  # not earlier: it would slow down the start of Prefect's server
        if server is not None:
            _await(server, screen, project)
        with kept_up_to_date(page, screen):
            lost = _run_flow(job, signals, asked, server, screen=screen)
        _show(context, job.finished, screen)
        return _ended(context, job.finished, lost, tracker, screen)


def _tracker(results: Path, tracking: TrackingSettings) -> Tracker | None:
    return Tracker(results, tracking.experiment, tracking.wait_s) if tracking.enabled else None


def _crew(settings: Settings, server: Server | None, screen: Screen, stack: ExitStack) -> Crew | None:
    """Start or find the workers of a cluster; None if this process does the work."""
    from flows.pipeline.orchestration.cached_tasks import TaskRuns

    if settings.runner.engine is not Engine.dask or not TaskRuns.enabled:  # one brief needs no cluster
        return None
    if settings.runner.scheduler is not None and server is not None and server.is_embedded:
        raise ConfigError(
            "runner.scheduler",
            "its workers would not see the page of a server that lives as long as this command",
            "PREFECT_API_URL, the address of one server for all",
            "start one with make cluster, or with make prefect",
        )
    from flows.pipeline.evaluate.crew import Crew

    return Crew(settings, screen, stack)


def _client(
    stores: Stores, points: Sequence[Settings], crew: Crew | None, stack: ExitStack
) -> ThreadedClient | None:
    """Return a client if a point calls a model; `stack` closes its store."""
    remote = [point for point in points if _called(point)]
    for point in remote:
        check_key(point.model)
        check_key(point.judge)
    for point in remote:
        _check_no_secret(point)
        _check_files(point)
    for point in remote:
        if point.runner.batch:
            check_batches(_called(point), point.runner, point.budget)
    if not remote:
        return None
    store = stores.completions()
    stack.callback(store.close)
    client = Client(store, points[0].runner, points[0].budget, points[0].retry)
    return crew.client(client, store) if crew else ThreadedClient(client)


def _await(server: Server, screen: Screen, project: Path) -> None:
    if server.is_embedded:
        screen.say(
            "Prefect's server takes some seconds to start; to keep one running: "
            f"{prefect_command(project)}, with PREFECT_API_URL set to http://127.0.0.1:4200/api."
        )
    server.wait()


def _run_flow(
    job: Job, signals: Signals, asked: tuple[Sequence[str], bool], server: Server | None, *, screen: Screen
) -> PrefectError | None:
    """Run the flow; return the loss of its server if the leaderboard was made before."""
    from flows.pipeline.evaluate.job import JOB
    from flows.pipeline.orchestration.cached_tasks import TaskRuns

    JOB.set(job)
    TaskRuns.tagged = server is None or not server.is_embedded
    lost: PrefectError | None = None
    try:
        with screen.progress(job.progress):
            asyncio.run(_until_stopped(job.context, signals, asked, server, job.finished))
    except PrefectError as error:
        if job.finished.board is None:
            raise
        lost = error  # reported after the results are shown and logged
    if server is not None:
        # The server writes its events while we show and log.
        server.release(job.finished.flow_run_id, job.finished.task_runs)
    return lost


def _ended(
    context: RunContext,
    finished: Finished,
    lost: PrefectError | None,
    tracker: Tracker | None,
    screen: Screen,
) -> int:
    """Wait for MLflow and return the exit code."""
    if tracker is not None and finished.outcomes:
        try:
            _, notes = tracker.finish()
        except StaffbenchError as error:
            screen.fault(str(error))
            return error.exit_code
        for note in notes:
            screen.note(note)
        _hint(context, finished, "MLflow's page on these runs", "ui", screen)
    if lost is not None:
        screen.fault(str(lost))
        return lost.exit_code
    return exit_code(finished, screen)


def _show(context: RunContext, finished: Finished, screen: Screen) -> None:
    """Show the leaderboard, or the one brief, the paid calls and the paths of the results."""
    from flows.pipeline.evaluate.job import counts
    from flows.pipeline.orchestration.cached_tasks import TaskRuns
    from flows.pipeline.results.leaderboard import board_file

    first = context.evaluations[0]
    folder = context.results / first.condition.benchmark
    if (found := finished.board) is not None:
        board, scoring = found.leaderboard, first.settings.scoring
        if not TaskRuns.enabled and len(context.evaluations) == 1:
            name = (first.condition.label, first.judge.label)
            entry = next(one for one in found.graded if (one.condition, one.judge) == name)
            show_brief(screen, entry, first.scenarios[0], scoring)
        else:
            new = {(e.condition.label, e.judge.label) for e, _ in finished.outcomes}
            show_board(screen, board, new, display_path(folder / board_file(folder, board.scoring)))
            show_tasks(screen, board, found.graded, found.scenarios, scoring)
    if context.client is not None:
        screen.note(calls_text(counts(context)))
    if found is None:
        return
    screen.note(f"Results: {display_path(folder)}/ (tables in briefs/, verdicts/, scores/; settings/)")
    _hint(context, finished, "Pages, with every brief and verdict", "report", screen)


def _hint(context: RunContext, finished: Finished, what: str, command: str, screen: Screen) -> None:
    """Say what to type next, unless the run failed."""
    if not finished.faults:
        settings = context.evaluations[0].settings
        screen.note(f"{what}: {command_hint(command, context.project, settings)}")


async def _until_stopped(
    context: RunContext,
    signals: Signals,
    asked: tuple[Sequence[str], bool],
    server: Server | None,
    finished: Finished,
) -> None:
    """Run the flow and fill in `finished`; unexpected errors are raised."""
    signals.begin()
    fault: Exception | None = None
    try:
        try:
            await _watched(asked, server, finished)
        except Exception as error:  # noqa: BLE001 -- re-raised once the calls in flight are stored
            fault = as_lost(error) or error
        if context.client is not None:
            await context.client.aclose()
    except asyncio.CancelledError:
        # A second Ctrl-C does not wait for calls in flight.
        raise Stopped(
            "run", "stopped", remedy="Calls in flight were abandoned; the same command resumes."
        ) from None
    if fault is not None:
        raise fault


async def _watched(asked: tuple[Sequence[str], bool], server: Server | None, finished: Finished) -> None:
    """Run the flow; end it if only events for a server that has ended are left to send."""
    from prefect.context import FlowRunContext
    from prefect.exceptions import CancelledRun, FailedRun

    from flows.pipeline.evaluate.flow import evaluate
    from flows.pipeline.orchestration.cached_tasks import TaskRuns, records

    def is_done() -> bool:
        return bool(finished.flow_run_id)

    run = asyncio.current_task()
    assert run is not None
    watching = asyncio.create_task(watch(server, run, is_done)) if server is not None else None
    try:
        evaluate.result_storage = records()  # the decorator takes only storage that the server knows
        overrides, sweep = list(asked[0]), asked[1]
        if not TaskRuns.enabled or FlowRunContext.get() is not None:  # the latter of a deployment
            await evaluate.fn(overrides, sweep)
            return
        # Prefect's overloads do not declare a coroutine.
        flow = cast("Awaitable[State[Any]]", evaluate(overrides, sweep, return_state=True))
        result: Any = await (await flow).aresult(raise_on_failure=False)
    except asyncio.CancelledError:
        if server is None or not server.has_ended or not is_done():
            raise
        raise has_ended() from None
    finally:
        if watching is not None:
            watching.cancel()
    if isinstance(result, BaseException) and not isinstance(result, FailedRun | CancelledRun):
        raise result


def _check_no_secret(settings: Settings) -> None:
    """Refuse secrets in settings, which are written to files, MLflow and Prefect."""
    for section, values in asdict(settings).items():
        check_no_secret(section, values)


def _check_files(settings: Settings) -> None:
    """Refuse a model file that is not there, before Prefect's server is waited for."""
    for model in _called(settings):
        place = model.api_base or ""
        is_file = model.transport is Transport.gguf and not place.startswith("package:")
        if is_file and not Path(place).expanduser().is_file():
            raise ConfigError(f"api_base={place}", "no such file", "the path of a GGUF file")


def _called(settings: Settings) -> list[ModelSettings]:
    """Return the models that are called: a remote writer, a remote judge."""
    model, judge = settings.model, settings.judge
    called: list[ModelSettings] = [model] if model.writer is Writer.remote else []
    return [*called, judge] if judge.kind is JudgeKind.remote else called


def check_shared(points: Sequence[Point]) -> None:
    """Check that the points of a sweep share its results folder, store and limits.

    Raises:
        ConfigError: they differ.
    """
    first = points[0].settings
    for point in points[1:]:
        for name in ("results", "store", "runner", "budget", "tracking", "scoring", "benchmark", "retry"):
            if getattr(point.settings, name) != getattr(first, name):
                raise ConfigError(
                    name,
                    "differs within one sweep",
                    "one value for all its conditions",
                    "run them separately",
                )
