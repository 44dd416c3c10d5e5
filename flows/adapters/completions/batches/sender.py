"""Send calls in batches: collect calls, submit them together and wait for the results."""

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from flows.adapters.completions.batches.check import check_batches
from flows.adapters.completions.batches.ledger import Entry, Ledger
from flows.adapters.completions.batches.poller import Account, BatchPoller, Delivery
from flows.adapters.completions.batches.transport import ENDPOINT, MAX_FILE_BYTES, BatchTransport
from flows.adapters.completions.faults import Fault
from flows.adapters.completions.senders.reply import Reply
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.adapters.completions.stores.shared import Store
from flows.common.errors import ConfigError
from flows.schema.completion import Request
from flows.schema.settings import ModelSettings, RunnerSettings


@dataclass(frozen=True, slots=True)
class _Gathered:
    key: str
    request: Request
    waiter: asyncio.Future[Delivery]


class BatchSender:
    """A sender for one model, endpoint and key. Use it from one event loop only."""

    def __init__(
        self,
        model: ModelSettings,
        runner: RunnerSettings,
        store: Store,
        ledger: Ledger,
        halts: StopConditions,
    ) -> None:
        """Create a sender without opening connections.

        Raises:
            ConfigError: the model has no batches.
        """
        check_batches([model], runner)
        transport = BatchTransport(model, runner)
        self._account = Account(model, Target.of(model), transport, ledger, store, halts, runner)
        self._gathered: list[_Gathered] = []
        self._timer: asyncio.TimerHandle | None = None
        self._pollers: dict[str, BatchPoller] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(
        self,
        request: Request,
        key: str | None,
        headers: Mapping[str, str] | None = None,  # noqa: ARG002 -- the transport reads them itself
    ) -> Reply:
        """Make one try, in a batch that already has this call or in the next one.

        Raises:
            Fault: there is no completion.
            StaffbenchError: a stop, or a batch that can't be handled; it continues at the provider.
        """
        self._account.transport.key = key
        while True:
            delivery = await self._delivery(request)
            if isinstance(delivery, Reply):
                return delivery
            if delivery is not None:
                raise copy.copy(delivery)  # many calls may get it, and receivers change it

    async def aclose(self) -> None:
        """Finish submissions in progress and close the connections."""
        if self._timer is not None:
            self._timer.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._account.transport.aclose()

    async def _delivery(self, request: Request) -> Delivery:
        account, key = self._account, request.key
        waiter: asyncio.Future[Delivery] = asyncio.get_running_loop().create_future()
        entry = account.ledger.find(key)
        if entry is None:
            self._gather(_Gathered(key, request, waiter))
        else:
            self._check_key(entry)
            poller = self._pollers.get(entry.marker)
            if poller is not None and key in poller.left:
                return poller.left.pop(key)
            if poller is None or poller.over:
                poller = self._start_poller(entry, None)
            poller.waiting[key] = waiter
        return await account.halts.wait(waiter, account.target)

    def _check_key(self, entry: Entry) -> None:
        model = self._account.model
        if entry.api_key_env != model.api_key_env:  # it would not be found in another account
            raise ConfigError(
                f"model {model.label}",
                f"batch {entry.batch_id or entry.marker} was sent with the key in {entry.api_key_env}",
                f"the same api_key_env, not {model.api_key_env}",
                f"or remove {self._account.ledger.path(entry)} to pay for its calls again",
            )

    def _gather(self, call: _Gathered) -> None:
        self._gathered.append(call)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        runner = self._account.runner
        if len(self._gathered) >= runner.batch_max_requests:
            self._flush()
        else:
            self._timer = asyncio.get_running_loop().call_later(runner.batch_wait_s, self._flush)

    def _flush(self) -> None:
        gathered, self._gathered = self._gathered, []
        self._timer = None
        calls = [call for call in gathered if not call.waiter.done()]
        if calls:
            self._start(self._hand_over(calls))

    async def _hand_over(self, calls: Sequence[_Gathered]) -> None:
        """Record each batch durably, then submit it."""
        account = self._account
        try:
            bodies = await account.transport.bodies([call.request for call in calls])
            for part in _parts(calls, bodies):
                account.check()
                entry = account.ledger.intend(
                    (call.key for call, _ in part),
                    model=account.model.name or "",
                    api_base=account.model.api_base,
                    api_key_env=account.model.api_key_env,
                )
                poller = self._start_poller(entry, [line for _, line in part])
                poller.waiting |= {call.key: call.waiter for call, _ in part}
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it
            for call in calls:
                if not call.waiter.done():
                    call.waiter.set_result(error)

    def _start_poller(self, entry: Entry, lines: Sequence[bytes] | None) -> BatchPoller:
        poller = self._pollers[entry.marker] = BatchPoller(self._account, entry, lines)
        poller.task = self._start(poller.run())
        return poller

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _parts(
    calls: Sequence[_Gathered], bodies: Sequence[Mapping[str, Any] | Fault]
) -> list[list[tuple[_Gathered, bytes]]]:
    """Split calls into files; a call that can't be encoded gets a fault."""
    parts: list[list[tuple[_Gathered, bytes]]] = []
    size = 0
    for call, body in zip(calls, bodies, strict=True):
        if isinstance(body, Fault):
            if not call.waiter.done():
                call.waiter.set_result(body)
            continue
        fields = {"custom_id": call.key, "method": "POST", "url": ENDPOINT, "body": body}
        line = orjson.dumps(fields) + b"\n"
        size += len(line)
        if not parts or size > MAX_FILE_BYTES:
            parts.append([])
            size = len(line)
        parts[-1].append((call, line))
    return parts
