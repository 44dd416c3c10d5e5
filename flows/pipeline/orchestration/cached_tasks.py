"""Stages as cached Prefect tasks.

A task returns the address of its stored value, never the value: Prefect's cache is then disposable. The
cache key is our own: the stage, its version and all its inputs. The task runs again where the stored value
is missing, damaged or not final.

The cached record is read before Prefect is called: a cache hit in its engine costs as much as a task that
does work. Such stages are counted, and `show_skipped` shows the counts as one task run that ends Cached.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext, TaskRunContext
from prefect.states import Cancelled, Completed, Failed

from flows.adapters.objects import ObjectStore
from flows.common.errors import BudgetReached, StaffbenchError, Stopped
from flows.pipeline.orchestration.records import records
from flows.pipeline.orchestration.work import STAGES, StageResult, Work

_Result = TypeVar("_Result")


class TaskRuns:
    """The task runs of this process, counted: the server does not report when it has written them."""

    count = 0
    enabled = True  # False to run stages without Prefect, which then needs no server


class _Run:
    """One execution of `work`, and what it left. A plain class: Prefect does not inspect its fields."""

    def __init__(self, work: Work, objects: ObjectStore, names: Sequence[str]) -> None:
        self.work = work
        self.objects = objects
        self.tags = [*names, work.stage]
        self.started = False  # True once Prefect has called it
        self.result: StageResult | None = None
        self.error: StaffbenchError | None = None


async def _enter(run: Task[..., Any], name: str, argument: Any) -> State[Any]:
    TaskRuns.count += 1
    state: State[Any] = await run(name, argument, return_state=True)
    if (flow_run := FlowRunContext.get()) is not None:
        # The states of all results, by the `id` of an object that may be gone: they would stay in memory, and
        # a later argument at the same address would be shown as made by that task.
        flow_run.run_results.clear()
    return state


def _key(_: TaskRunContext, parameters: dict[str, Any]) -> str:
    return parameters["run"].work.key


async def _do(name: str, run: _Run) -> str | State[Any]:  # noqa: ARG001 -- Prefect puts the name into the run's name
    run.started = True
    # Not by `prefect.tags`: with it each task run asks the server for a slot of every tag's limit, and SQLite
    # refuses some of these questions while it is written to; Prefect then waits for two seconds.
    if (context := TaskRunContext.get()) is not None:
        context.task_run.tags = run.tags
    try:
        run.result = await _make(run.objects, run.work)
    except (Stopped, BudgetReached) as error:
        run.error = error
        return Cancelled(message=str(error))
    except StaffbenchError as error:
        # We report errors once; Prefect would print a traceback.
        run.error = error
        return Failed(message=str(error))
    return run.result.address


async def _make(objects: ObjectStore, work: Work) -> StageResult:
    value = await work.make()
    return StageResult(value, await _aside(objects, objects.put, work.stage, work.key, value), skipped=False)


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
_REFRESH: Mapping[str, Task[..., Any]] = {
    stage: run.with_options(refresh_cache=True) for stage, run in TASKS.items()
}


async def run_cached(objects: ObjectStore, name: str, work: Work, names: Sequence[str] = ()) -> StageResult:
    """Run a stage, or return its cached result.

    Args:
        objects: store of values.
        name: shown after the stage's name in Prefect.
        work: the stage to run.
        names: of the scenario and condition: tags of the finished task run, beside the stage's name.

    Raises:
        StaffbenchError: raised by `work`.
    """
    address = records().result(work.key)
    is_recorded = address is not None
    value = None if address is None else await _aside(objects, objects.get, work.stage, work.key, address)
    if value is None and objects.is_remote:  # another machine may have computed it
        address, value = await _aside(objects, objects.find, work.stage, work.key) or (None, None)
    if value is not None and await _aside(objects, work.is_final, value):
        return StageResult(value, str(address), skipped=True)
    if not TaskRuns.enabled:
        return await _make(objects, work)
    run = _Run(work, objects, names)
    # Of a record that leads to no final value here, such as one of another results folder, Prefect would make
    # a run in state Cached, beside the one that does the work.
    cached = [] if is_recorded else [TASKS[work.stage]]
    for task_ in (*cached, _REFRESH[work.stage]):
        state = await _enter(task_, name, run)
        if run.error is not None:
            raise run.error
        if run.result is not None and state.is_completed():
            return run.result
        if run.started or not state.is_failed():  # else Prefect found a record that it could not read
            address = str(await state.aresult())  # of another process; or raises what the task raised
            value = await _aside(objects, objects.get, work.stage, work.key, address)
            if value is not None and work.is_final(value):
                return StageResult(value, address, skipped=True)
    raise StaffbenchError(
        f"{work.stage} · {name}", "what was stored can't be read back", remedy="check the disk"
    )


async def _report_done(name: str, stages: str) -> State[Any]:  # noqa: ARG001 -- Prefect puts the name into the run's name
    return Completed(name="Cached", message=f"done by earlier runs: {stages}")


_SKIPPED: Task[..., Any] = task(
    name="done before",
    task_run_name="done before · {name}",
    cache_policy=NO_CACHE,
    persist_result=False,
    cache_result_in_memory=False,
)(_report_done)


async def show_skipped(name: str, skipped: Mapping[str, int]) -> None:
    """Show skipped stages in Prefect's UI as one task run in state Cached.

    Args:
        name: shown name of the condition or step.
        skipped: number of skipped runs of each stage; if empty, nothing is shown.
    """
    if skipped and TaskRuns.enabled:
        stages = ", ".join(f"{stage} {skipped[stage]}" for stage in STAGES if stage in skipped)
        await _enter(_SKIPPED, name, stages)


async def _aside(objects: ObjectStore, work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function that reads or writes stage values: in a thread if it may wait for a shared store."""
    if objects.is_remote:
        return await asyncio.to_thread(work, *arguments)
    return work(*arguments)
