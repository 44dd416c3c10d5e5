"""How a stage becomes a cached Prefect task.

A task returns the address of what it stored, never the thing itself: Prefect's cache is then
disposable. Its key is ours: the stage, its version and everything it was made from. What the address
leads to is checked; where it is gone, damaged or not final, the task runs again.

Prefect's record of a key is looked at before Prefect is asked: entering its engine to learn that there
is nothing to do costs as much as a task that does something. A stage that is found done so is counted,
and `show_done_before` shows the counts as a task run that ends Cached.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import TaskRunContext
from prefect.states import Cancelled, Completed, Failed

from flows.adapters.objects import ObjectStore
from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import BudgetReached, StaffbenchError, Stopped
from flows.pipeline.orchestration.records import RecordFolder

STAGES = ("packet", "generate", "truncate", "judge", "score", "aggregate")


@cache
def records() -> RecordFolder:
    """Prefect's cache; the flow that runs the tasks names it as its storage."""
    return RecordFolder.of_settings()


class TaskRuns:
    """How many task runs this process has made: Prefect's server tells nobody when it has written them.

    Attributes:
        count: so far.
    """

    count = 0


@dataclass(frozen=True)
class Work:
    """One run of a stage, described.

    Attributes:
        stage: its name.
        inputs: everything the value depends on, the stage's version included.
        make: gives the value, as JSON can hold it.
        is_final: False for a value that should be made again, such as one with failed calls.
    """

    stage: str
    inputs: Mapping[str, Any]
    make: Callable[[], Awaitable[Any]]
    is_final: Callable[[Any], bool] = lambda _: True

    @cached_property
    def key(self) -> str:
        """sha256 of the stage and its inputs: the key of Prefect's cache and of what is stored."""
        return sha256_text(canonical_json({"stage": self.stage, "inputs": self.inputs}))


@dataclass(frozen=True)
class StageResult:
    """What a stage made.

    Attributes:
        value: as JSON.
        address: its digest, the input of the stages that follow.
        skipped: True where it was made by an earlier run.
    """

    value: Any
    address: str
    skipped: bool


class _Run:
    """Work on its way through Prefect. A plain class, so that Prefect passes it on without looking inside.

    Attributes:
        work: what to do.
        objects: where its value goes.
        value: what it made; None before.
        error: what it raised.
        started: whether Prefect has called it.
    """

    def __init__(self, work: Work, objects: ObjectStore) -> None:
        self.work = work
        self.objects = objects
        self.value: Any = None
        self.error: StaffbenchError | None = None
        self.started = False


async def _enter(run: Task[..., Any], name: str, given: Any) -> State[Any]:
    TaskRuns.count += 1
    return await run(name, given, return_state=True)


def _key(_: TaskRunContext, parameters: dict[str, Any]) -> str:
    return parameters["run"].work.key


async def _do(name: str, run: _Run) -> str | State[Any]:  # noqa: ARG001 -- Prefect puts the name into the run's name
    run.started = True
    try:
        value = await run.work.make()
        address = run.objects.put(run.work.stage, run.work.key, value)
    except (Stopped, BudgetReached) as error:
        run.error = error
        return Cancelled(message=str(error))
    except StaffbenchError as error:
        # A fault that a person can fix is reported once, by us; Prefect would print a traceback.
        run.error = error
        return Failed(message=str(error))
    run.value = value
    return address


TASKS: Mapping[str, Task[..., Any]] = {
    stage: task(
        name=stage,
        task_run_name=f"{stage} · {{name}}",
        cache_key_fn=_key,
        persist_result=True,
        result_serializer="json",
        cache_result_in_memory=False,
    )(_do)
    for stage in STAGES
}
_AGAIN: Mapping[str, Task[..., Any]] = {
    stage: run.with_options(refresh_cache=True) for stage, run in TASKS.items()
}


async def run_cached(objects: ObjectStore, name: str, work: Work) -> StageResult:
    """Run a stage, or take what it made before.

    Args:
        objects: where values lie.
        name: what is shown of this run after the stage's name.
        work: what to do.

    Raises:
        StaffbenchError: what the work raised.
    """
    address = records().result(work.key)
    if address is not None:
        value = objects.get(work.stage, work.key, address)
        if value is not None and work.is_final(value):
            return StageResult(value, str(address), skipped=True)
    run = _Run(work, objects)
    state: State[Any] = await _enter(TASKS[work.stage], name, run)
    if state.is_failed() and not run.started:
        # Prefect found a record and could not read it.
        state = await _enter(_AGAIN[work.stage], name, run)
    address, value = await _value(run, state)
    skipped = state.name == "Cached"
    if skipped and (value is None or not work.is_final(value)):
        skipped = False
        state = await _enter(_AGAIN[work.stage], name, run)
        address, value = await _value(run, state)
    if value is None:
        raise StaffbenchError(
            f"{work.stage} · {name}", "what was stored can't be read back", remedy="check the disk"
        )
    return StageResult(value, address, skipped)


async def _report_done(name: str, stages: str) -> State[Any]:  # noqa: ARG001 -- Prefect puts the name into the run's name
    return Completed(name="Cached", message=f"done by earlier runs: {stages}")


_DONE_BEFORE: Task[..., Any] = task(
    name="done before",
    task_run_name="done before · {name}",
    cache_policy=NO_CACHE,
    persist_result=False,
    cache_result_in_memory=False,
)(_report_done)


async def show_done_before(name: str, skipped: Mapping[str, int]) -> None:
    """Show in Prefect's page what needed no task: one task run, Cached, with how often each stage was.

    Args:
        name: of what the stages belong to.
        skipped: number of runs of each stage that were found done; nothing is shown of none.
    """
    if skipped:
        stages = ", ".join(f"{stage} {skipped[stage]}" for stage in STAGES if stage in skipped)
        await _enter(_DONE_BEFORE, name, stages)


async def _value(run: _Run, state: State[Any]) -> tuple[str, Any]:
    """Address and value: as they were just made, or as an earlier run stored them."""
    if run.error is not None:
        raise run.error
    address = str(await state.aresult())
    if run.value is not None:
        return address, run.value
    return address, run.objects.get(run.work.stage, run.work.key, address)
