"""What Prefect's page shows of a flow run: log, tags, progress, and that an earlier one was killed."""

import asyncio
import fcntl
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from uuid import UUID

import httpx
import prefect.settings
from prefect import Flow
from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import LogCreate
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectException
from prefect.results import ResultStore
from prefect.runtime import flow_run
from prefect.settings import temporary_settings
from prefect.states import Crashed

from flows.pipeline.orchestration.records import keep_records_in, records

_BEGUN = [StateType.PENDING, StateType.RUNNING]
_PROGRESS_EVERY_S = 2.0
_LAST_S = 5.0
MOST_TAGS = 50
"""Of a flow run. Task runs have the name of their own condition as a tag."""
_UNREACHED = (httpx.HTTPError, OSError, PrefectException, AssertionError)
"""Errors of a lost server; the last one where `lost` has ended the retries of a request."""


async def log(flow_run_id: str, text: str, level: int = logging.INFO) -> None:
    """Add a line to the log of a flow run. A server that can't be reached is reported elsewhere."""
    if not flow_run_id:
        return
    # Prefect's own handler would print the line too, and report a lost server with tracebacks.
    line = LogCreate(
        name="staffbench",
        level=level,
        message=text,
        timestamp=datetime.now(UTC),  # pyright: ignore[reportArgumentType] -- pydantic converts it
        flow_run_id=UUID(flow_run_id),
    )
    with suppress(*_UNREACHED):
        async with get_client() as client:
            await client.create_logs([line])


async def add_tags(flow_run_id: str, names: Sequence[str]) -> None:
    """Tag the current flow run, by which the page filters. A lost server is reported elsewhere.

    Of many names the first are taken: Prefect's server makes an event of each state, takes no more than a
    hundred tags and the like with it, and fails for a run with more of them.
    """
    tags = list(dict.fromkeys([*flow_run.tags, *names]))[:MOST_TAGS]
    with suppress(*_UNREACHED):
        async with get_client() as client:
            await client.update_flow_run(UUID(flow_run_id), tags=tags)


@asynccontextmanager
async def progress_shown(flow_run_id: str, state: Callable[[], tuple[float, str]]) -> AsyncGenerator[None]:
    """Keep a progress artifact of the current flow run up to date during the block.

    Args:
        flow_run_id: empty without Prefect, where nothing is shown.
        state: returns the share that is done, in [0, 1], and a line of text.
    """
    if not flow_run_id:
        yield
        return
    ended = asyncio.Event()

    async def follow() -> None:
        artifact: UUID | None = None
        is_last = False
        while not is_last:
            is_last = ended.is_set()
            share, text = state()
            with suppress(*_UNREACHED):
                if artifact is None:
                    artifact = await acreate_progress_artifact(100 * share, "progress", text)
                else:
                    await aupdate_progress_artifact(artifact, 100 * share, text)
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _PROGRESS_EVERY_S)

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        ended.set()
        await asyncio.wait({following}, timeout=_LAST_S)  # a lost server would be waited for
        following.cancel()


def flow_run_here() -> dict[str, str]:
    """Return what `enter_flow_run` needs to know of the current flow run."""
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    run = context.flow_run
    return {"id": str(run.id), "flow_id": str(run.flow_id), "name": run.name}


def enter_flow_run(
    flow_run: Mapping[str, str], flow: Flow[..., Any], settings: Mapping[str, str], stack: ExitStack
) -> None:
    """Make task runs of the current context part of a flow run of another process, until `stack` is closed.

    Args:
        flow_run: from `flow_run_here`.
        flow: its flow.
        settings: Prefect's settings by the names of their environment variables.
        stack: holds what is entered.
    """
    keep_records_in(Path(settings["PREFECT_LOCAL_STORAGE_PATH"]))
    named = {getattr(prefect.settings, name): value for name, value in settings.items()}
    stack.enter_context(temporary_settings(updates=named))
    stack.enter_context(
        FlowRunContext(
            flow=flow,
            flow_run=FlowRun(
                id=UUID(flow_run["id"]), flow_id=UUID(flow_run["flow_id"]), name=flow_run["name"]
            ),
            client=get_client(sync_client=True),
            task_runner=stack.enter_context(flow.task_runner.duplicate()),
            result_store=ResultStore(result_storage=records()),
            persist_result=True,
            parameters={},
            detached=True,
        )
    )


@contextmanager
def marked_as_running(folder: Path, flow_run_id: str) -> Generator[None]:
    """Keep a locked file named after the flow run during the block.

    The kernel releases the lock when the process ends, so a file without a lock is of a killed run.
    """
    if not flow_run_id:
        yield
        return
    path = folder / flow_run_id
    file: IO[str] | None = None
    with suppress(OSError):  # a full disk is reported by whoever writes results
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="ascii")
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if file is not None:
            with suppress(OSError):
                path.unlink()
            file.close()


def _marks(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-*-*-*-*"))


async def mark_killed(folder: Path, flow_run_id: str) -> None:
    """Set the runs of killed processes to Crashed; Prefect shows flow and task runs as Running for ever.

    Args:
        folder: of `marked_as_running`.
        flow_run_id: the current flow run, which may be a retry of a killed one.
    """
    for path in _marks(folder):
        with suppress(*_UNREACHED), path.open("r+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.name == flow_run_id:
                continue
            async with get_client() as client:
                # Another server may hold that run, or its history was deleted.
                with suppress(PrefectException):
                    await _mark_killed(client, UUID(path.name))
            path.unlink()


async def _mark_killed(client: PrefectClient, flow_run_id: UUID) -> None:
    state = Crashed(message="the process was killed; found by the next run of the folder")
    await client.set_flow_run_state(flow_run_id, state, force=True)
    begun = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=_BEGUN)))
    of_run = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id]))
    left: list[UUID] = []
    while page := await client.read_task_runs(
        flow_run_filter=of_run, task_run_filter=begun, offset=len(left)
    ):
        left += [run.id for run in page]
    for task_run_id in left:
        await client.set_task_run_state(task_run_id, state, force=True)
