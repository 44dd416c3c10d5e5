"""What runs on a worker of a Dask cluster: one chain a task, all in one event loop of the worker.

A task brings addresses, not values: of the run's evaluations, its packets and its results in the store. Dask
runs a coroutine in the event loop by which a worker talks to the scheduler, so it only waits there. The
stages run in a loop of their own, as in a run without a cluster, and are task runs of the same flow run.

Nothing heavy is imported here before a worker has a run's settings: Prefect reads them when it is imported.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import hashlib
import importlib
import json
import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.adapters.completions.leases import LeaseAddress
from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.common.garbage import collect_rarely
from flows.common.version import __version__
from flows.pipeline.orchestration.server import configure
from flows.schema.rows import from_row

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from flows.adapters.completions.threaded_client import ThreadedClient
    from flows.adapters.objects import ObjectStore
    from flows.pipeline.evaluate.chain import Chain, Step
    from flows.pipeline.work.run_context import Evaluation, RunContext

    Steps = Mapping[str, Step]

_CONTENT, _PACKET = "evaluations of a run", "text of a packet"  # kinds of values in the object store
_DRAIN_S = 5.0


@dataclass(frozen=True)
class Order:
    """A run, as each task names it: all that a worker must know to begin."""

    run: str  # of this command, never used again
    versions: Mapping[str, str]  # where the run was started
    project: str  # folders, at the same place on every machine
    results: str
    flow: str  # name of the module with the flow and `run_chain`, imported once Prefect's settings are there
    store: str | None  # address of the shared store; None if all is kept below `results`
    content: str  # address of the run's evaluations in the object store
    flow_run: Mapping[str, str]  # see `flow_run_here`
    leases: LeaseAddress | None  # None if no model is called
    prefect: Mapping[str, str]  # settings, as environment variables


class OtherVersion(ConfigError):  # noqa: N818 -- of a worker, which is replaced
    """A worker has another version."""


# What each rule's version is called, and where it stands.
_RULES = {
    "readers": ("flows.readers.read", "READER_VERSIONS"),
    "request rule": ("flows.schema.completion", "PROTOCOL_VERSION"),
    "prompt rule": ("flows.stages.generate", "GENERATE_VERSION"),
    "word rule": ("flows.stages.truncate", "WORD_COUNTER"),
    "judge rule": ("flows.stages.judge", "JUDGE_VERSION"),
    "offline judge": ("flows.stages.offline", "OFFLINE_VERSION"),
    "score rule": ("flows.stages.score", "SCORE_VERSION"),
}


@cache
def versions() -> dict[str, str]:
    """Return what must be the same on all machines: the package's version, its rules and its code."""
    code = hashlib.sha256()
    package = Path(__file__).resolve().parents[2]
    for path in sorted(package.rglob("*.py")):
        code.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    rules = {name: str(getattr(importlib.import_module(at), what)) for name, (at, what) in _RULES.items()}
    return {"staffbench": __version__, **rules, "code": code.hexdigest()[:12]}


def refused(worker: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> OtherVersion | None:
    """Return why a worker can't take part; None if it can."""
    differ = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    if not differ:
        return None
    here, there = (", ".join(f"{name} {one.get(name, 'none')}" for name in differ) for one in (wanted, found))
    return OtherVersion(
        f"worker {worker}", f"has {there}", f"{here}, as the run has", "install the same version there"
    )


async def work(order: Order, evaluation: int, scenario: int, packet: str) -> Steps | StaffbenchError:
    """Run one chain of a run; `packet` is the address of its packet in the object store.

    Errors are returned, since Dask would log each with a traceback.
    """
    from distributed import get_worker

    name = get_worker().address
    found = refused(name, await asyncio.to_thread(versions), order.versions)
    if found is not None:
        return found
    try:
        run = await asyncio.to_thread(_run_of, order)
        return await run.do(evaluation, scenario, packet)
    except ConfigError as error:  # such as a key that is not set here
        return type(error)(f"worker {name}: {error.where}", error.found, error.expected, error.remedy)
    except StaffbenchError as error:
        return error


def dask_setup(_: object) -> None:
    """Called by Dask when a worker of `runner.cluster=local` starts.

    Ctrl-C in a terminal reaches it too, and is for the command, which lets calls in flight end. What a run
    needs is imported while Prefect's server starts.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    importlib.import_module("flows.pipeline.evaluate.flow")


async def end(run: str) -> None:
    """Give back what a run holds here."""
    if (ended := _RUNS.pop(run, None)) is not None:
        await asyncio.to_thread(ended.close)


def store_packets(context: RunContext) -> dict[Path, str]:
    """Put the packets into the object store; return their addresses by folder."""
    return {
        folder: context.objects.put(_PACKET, folder.name, asdict(packet))
        for folder, packet in context.packets.items()
    }


@cache
def _content() -> TypeAdapter[Any]:
    """Return how what a run grades becomes JSON: its scenarios; settings, what was changed and ids."""
    from pydantic import TypeAdapter

    from flows.schema.scenario import Scenario
    from flows.schema.settings import Settings

    return TypeAdapter(tuple[dict[str, Scenario], list[tuple[Settings, list[str], list[str]]]])


def store_evaluations(context: RunContext) -> str:
    """Put what the run grades into the object store; return its address."""
    scenarios = {one.scenario_id: one for evaluation in context.evaluations for one in evaluation.scenarios}
    parts = [
        (one.settings, sorted(one.changed), [scenario.scenario_id for scenario in one.scenarios])
        for one in context.evaluations
    ]
    return context.objects.put(_CONTENT, "", _content().dump_python((scenarios, parts), mode="json"))


def _read_evaluations(objects: ObjectStore, address: str) -> list[Evaluation]:
    from flows.pipeline.work.evaluations import evaluation_of

    scenarios, parts = _content().validate_json(json.dumps(_stored(objects, _CONTENT, "", address)))
    return [
        evaluation_of(settings, frozenset(changed), tuple(scenarios[name] for name in ids))
        for settings, changed, ids in parts
    ]


def _stored(objects: ObjectStore, stage: str, key: str, address: str) -> Any:
    found = objects.get(stage, key, address)
    if found is None:
        raise StoreError(
            f"{stage} {address[:12]}",
            "is not in the store that this worker sees",
            remedy="give workers the results folder of the run, at the same path",
        )
    return found


class _Run:
    """A run on this worker: its context, and the event loop of its stages."""

    def __init__(self, order: Order) -> None:
        # A machine may see the server at another address.
        url = os.environ.get("PREFECT_API_URL", order.prefect["PREFECT_API_URL"])
        configure(Path(order.project), Path(order.results))
        from flows.adapters.completions.threaded_client import ThreadedClient
        from flows.pipeline.orchestration.flow_runs import enter_flow_run
        from flows.pipeline.work.stores import Stores

        collect_rarely()
        self._flow: Any = importlib.import_module(order.flow)
        project = Path(order.project)
        stores = Stores.at(project, Path(order.results), order.store)
        evaluations = _read_evaluations(stores.objects(), order.content)
        settings = evaluations[0].settings
        client: ThreadedClient | None = None
        self._entered = ExitStack()
        if order.leases is not None:
            store = self._entered.enter_context(closing(stores.completions()))
            client = ThreadedClient(
                store, settings.runner, settings.budget, settings.retry, leases=order.leases
            )
        self.context = stores.context(project, evaluations, client)
        if not gc.get_freeze_count():  # once: a worker may serve many runs, whose objects end
            gc.freeze()
        self._chains: set[Future[Steps]] = set()
        self._base = contextvars.Context()
        self._base.run(
            enter_flow_run,
            order.flow_run,
            self._flow.evaluate,
            {**order.prefect, "PREFECT_API_URL": url},
            self._entered,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stages", daemon=True)
        self._thread.start()

    async def do(self, evaluation: int, scenario: int, packet: str) -> Steps:
        """Run one chain in the loop of the stages."""
        chain = self._chain(self.context.evaluations[evaluation], scenario, packet)
        future = self._base.copy().run(asyncio.run_coroutine_threadsafe, chain, self._loop)
        self._chains.add(future)
        future.add_done_callback(self._chains.discard)
        return await asyncio.shield(asyncio.wrap_future(future))  # what has begun ends

    async def _chain(self, evaluation: Evaluation, place: int, packet: str) -> Steps:
        from prefect.context import AsyncClientContext

        from flows.schema.document import Packet

        context, scenario = self.context, evaluation.scenarios[place]
        folder = context.folder(evaluation, scenario)
        if folder not in context.packets:
            row = _stored(context.objects, _PACKET, folder.name, packet)
            context.packets[folder] = from_row(Packet, row)
        async with AsyncClientContext.get_or_create():  # otherwise each task run makes a client of its own
            chain: Chain = await self._flow.run_chain(context, evaluation, scenario)
            return chain.steps

    @property
    def is_over(self) -> bool:
        """True if nothing is left to do, and its flow has ended."""
        client = self.context.client
        return not self._chains and (client is None or client.stopped)

    def close(self) -> None:
        """Let calls in flight end, and close everything."""
        from prefect.events.worker import EventsWorker

        from flows.pipeline.orchestration.lost import forget_events

        self.context.stop()
        if self.context.client is not None:
            asyncio.run_coroutine_threadsafe(self.context.client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._base.run(self._entered.close)
        EventsWorker.drain_all(timeout=_DRAIN_S)  # this process may end now
        forget_events()  # what a lost server did not take


_RUNS: dict[str, _Run] = {}
_GUARD = threading.Lock()


def _run_of(order: Order) -> _Run:
    with _GUARD:
        if order.run not in _RUNS:
            for name in [name for name, other in _RUNS.items() if other.is_over]:
                _RUNS.pop(name).close()  # its flow was killed
            _RUNS[order.run] = _Run(order)
        return _RUNS[order.run]
