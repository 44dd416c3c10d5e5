"""Chains on the workers of a Dask cluster, and a client that speaks for the clients of all workers."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any

from flows.adapters.completions.client import Totals
from flows.adapters.completions.leases import LeaseServer
from flows.adapters.completions.shares import Shares
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.shared import Store
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.screen import Screen
from flows.common.errors import BudgetReached, StaffbenchError, Stopped
from flows.pipeline.evaluate.chain import Chain, OnStep, RunChain, Step, chains_at_once, read_chain
from flows.pipeline.evaluate.worker import (
    Order,
    OtherVersion,
    end,
    refused,
    store_evaluations,
    store_packets,
    versions,
    work,
)
from flows.pipeline.orchestration.clusters import open_cluster, own_address
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.schema.completion import Completion
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings

_LOOK_S = 0.2
_PATIENCE_S = 5.0


class SharedClient(ThreadedClient):
    """Stands for the clients of all workers: it sums up their calls, and makes none itself."""

    def __init__(self, store: Store, settings: Settings, leases: LeaseServer) -> None:
        super().__init__(store, settings.runner, settings.budget, settings.retry)
        self._leases = leases

    @property
    def totals(self) -> Totals:
        """The sums of all workers."""
        return self._leases.totals

    def stored(self, key: str) -> Completion | None:
        """See `Client.stored`; workers stored it."""
        found = super().stored(key)
        if found is None and isinstance(self._store, CompletionStore):
            self._store.refresh()
            found = super().stored(key)
        return found

    def stop(self) -> None:
        """Let all workers stop; calls in flight finish and are stored."""
        self._leases.stop(
            Stopped("run", "stopped", remedy="paid replies are stored: run the same command again to resume")
        )
        super().stop()


class Crew:
    """The workers of a run."""

    def __init__(self, settings: Settings, screen: Screen, stack: ExitStack, flow: str) -> None:
        """Start or find the cluster, and serve shares of the limits; `stack` ends both.

        `flow` is the name of the flow's module, which workers import.

        Raises:
            StaffbenchError: the cluster can't be started or reached.
        """
        runner = settings.runner
        self.screen = screen
        self._flow = flow
        self._scheduler = open_cluster(runner, chains_at_once(settings), stack)
        host, _, port = (runner.contact or f"{own_address(self._scheduler)}:0").partition(":")
        bind = "" if runner.contact is None else "0.0.0.0"  # noqa: S104 -- a person named the address
        self.leases = LeaseServer(Shares(runner, settings.budget), host, bind, int(port))
        stack.callback(self.leases.close)

    def client(self, store: Store, settings: Settings) -> SharedClient:
        """Return what stands for the clients of the workers."""
        return SharedClient(store, settings, self.leases)

    @asynccontextmanager
    async def open(self, context: RunContext, on_step: OnStep) -> AsyncGenerator[RunChain]:
        """Give a function that runs chains on the workers.

        Raises:
            ConfigError: a worker has another version; nothing was run.
            StaffbenchError: the scheduler can't be reached.
        """
        from distributed import Client as Dask
        from prefect.settings import get_current_settings

        from flows.pipeline.orchestration.flow_runs import flow_run_here
        from flows.pipeline.orchestration.records import records

        if context.evaluations[0].settings.runner.scheduler is not None:
            self.screen.say(f"Connecting to Dask's scheduler at {self._scheduler}")  # may take half a minute
        try:
            dask: Any = await Dask(self._scheduler, asynchronous=True, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise self.lost("can't be reached") from error
        prefect = get_current_settings()
        order = Order(
            secrets.token_hex(8),
            versions(),
            str(context.project),
            str(context.results),
            self._flow,
            context.evaluations[0].settings.store,
            store_evaluations(context),
            flow_run_here(),
            self.leases.address if context.client else None,
            {
                "PREFECT_API_URL": str(prefect.api.url),
                # Not Prefect's setting: a deployment's flow sets the folder after Prefect has read it.
                "PREFECT_LOCAL_STORAGE_PATH": str(records().basepath),
            },
        )
        shift = _Shift(self, dask, order, context, on_step)
        try:
            await self._check(dask, order.versions)
            forgetting = asyncio.create_task(shift.forget())
            try:
                yield shift.run
            finally:
                forgetting.cancel()
        finally:
            with suppress(Exception):  # a scheduler that is lost has been reported
                async with asyncio.timeout(60):
                    await dask.run(end, order.run, on_error="ignore")
            with suppress(Exception):
                await dask.close()

    async def _check(self, dask: Any, wanted: Mapping[str, str]) -> None:
        """Refuse workers of another version."""
        try:
            await dask.wait_for_workers(1, timeout=_PATIENCE_S)
        except TimeoutError:
            self.screen.say(f"Waiting for workers at {self._scheduler}")
            await dask.wait_for_workers(1)
        found: dict[str, Any] = await dask.run(versions, on_error="return")
        for worker, has in found.items():
            theirs = {"staffbench": f"it can't tell ({has})"} if isinstance(has, Exception) else has
            if (fault := refused(worker, theirs, wanted)) is not None:
                raise fault

    def lost(self, found: str) -> StaffbenchError:
        """Return the error for a scheduler that has ended."""
        return StaffbenchError(
            f"Dask's scheduler at {self._scheduler}", found, remedy="start it; the same command resumes"
        )


class _Shift:
    """The chains of one run of the flow."""

    def __init__(self, crew: Crew, dask: Any, order: Order, context: RunContext, on_step: OnStep) -> None:
        self._crew = crew
        self._dask = dask
        self._order = order
        self._context = context
        self._on_step = on_step
        self._packets = store_packets(context)
        self._waiting: set[Any] = set()

    async def run(self, evaluation: Evaluation, scenario: Scenario) -> Chain:
        """Run one chain on a worker, on another one where that has another version."""
        context = self._context
        place = context.evaluations.index(evaluation), evaluation.scenarios.index(scenario)
        packet = self._packets[context.folder(evaluation, scenario)]
        name = f"{scenario.scenario_id} · {evaluation.name}"
        while isinstance(found := await self._result(name, *place, packet), OtherVersion):
            self._crew.screen.fault(str(found))  # of a worker that came later
            await self._dask.retire_workers([found.where.removeprefix("worker ")], close_workers=True)
        if isinstance(found, BudgetReached):
            self._crew.leases.stop(found)  # one budget for all
        if isinstance(found, StaffbenchError):
            raise found
        for stage, step in found.items():
            self._on_step(stage, step.skipped)
        return read_chain(context.objects, evaluation, scenario, found)

    async def _result(self, name: str, *task: object) -> Mapping[str, Step] | StaffbenchError:
        from distributed import CancelledError, KilledWorker

        stopped = Stopped("run", "stopped before everything was done", remedy="the same command resumes")
        if self._context.stopping:
            raise stopped
        future = self._dask.submit(work, self._order, *task, pure=False)
        self._waiting.add(future)
        try:
            return await future
        except KilledWorker:
            raise StaffbenchError(
                name, "each worker that had it ended", remedy="see the workers' logs; is there memory enough?"
            ) from None
        except CancelledError:
            raise (
                stopped if self._context.stopping else self._crew.lost("was lost during the run")
            ) from None
        finally:
            self._waiting.discard(future)

    async def forget(self) -> None:
        """Without calls to wait for, a stop forgets what waits for a worker. Runs until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            if self._context.stopping and self._context.client is None and self._waiting:
                await self._dask.cancel(list(self._waiting))
