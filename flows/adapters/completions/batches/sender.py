"""Send calls in batches: collect calls, submit them together and wait for the results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from flows.adapters.completions.batches.check import check_batches
from flows.adapters.completions.batches.ledger import Entry, Ledger
from flows.adapters.completions.batches.poller import Account, BatchPoller, Delivery, Waiter
from flows.adapters.completions.batches.results import same
from flows.adapters.completions.batches.transport import ENDPOINT, MAX_FILE_BYTES, BatchTransport
from flows.adapters.completions.faults import Fault
from flows.adapters.completions.reply import Reply
from flows.adapters.completions.shared import Store
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.common.errors import ConfigError
from flows.schema.completion import Request
from flows.schema.settings import ModelSettings, RunnerSettings, Transport


@dataclass(frozen=True, slots=True)
class _Gathered:
    key: str
    request: Request
    waiter: Waiter


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
        self._key: str | None = None
        self._transport = _transport(model, runner)
        self._account = Account(
            model, Target.of(model), self._transport, ledger, store, halts, runner, lambda: self._key
        )
        self._gathered: list[_Gathered] = []
        self._timer: asyncio.TimerHandle | None = None
        self._attending: dict[str, BatchPoller] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(
        self,
        request: Request,
        key: str | None,
        headers: Mapping[str, str] | None = None,  # noqa: ARG002 -- the batch transport reads them itself
    ) -> Reply:
        """Make one try, in a batch that already has this call or in the next one.

        Raises:
            Fault: there is no completion.
            StaffbenchError: a stop, or a batch that can't be handled; it continues at the provider.
        """
        self._key = key
        while True:
            delivery = await self._delivery(request)
            if isinstance(delivery, Reply):
                return delivery
            if delivery is not None:
                raise delivery

    async def aclose(self) -> None:
        """Finish submissions in progress and close the connections."""
        if self._timer is not None:
            self._timer.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._transport.aclose()

    async def _delivery(self, request: Request) -> Delivery:
        account, name = self._account, request.key
        waiter = Waiter(asyncio.get_running_loop().create_future())
        entry = account.ledger.find(name)
        if entry is None:
            self._gather(_Gathered(name, request, waiter))
        else:
            self._check_key(entry)
            attendance = self._attending.get(entry.marker)
            if attendance is not None and (left := attendance.take(name)) is not None:
                return left()
            if attendance is None or attendance.over:
                attendance = self._attend(BatchPoller(account, entry, None))
            attendance.join(name, waiter)
        await account.halts.wait(waiter.ready, account.target)
        return waiter.delivery

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
        calls = [call for call in gathered if not call.waiter.ready.done()]
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
                attendance = BatchPoller(account, entry, [line for _, line in part])
                for call, _ in part:
                    attendance.join(call.key, call.waiter)
                self._attend(attendance)
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it
            for call in calls:
                call.waiter.fail(error)

    def _attend(self, attendance: BatchPoller) -> BatchPoller:
        self._attending[attendance.entry.marker] = attendance
        attendance.task = self._start(attendance.run())
        return attendance

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
            call.waiter.hear(same(body)())
            continue
        fields = {"custom_id": call.key, "method": "POST", "url": ENDPOINT, "body": body}
        line = orjson.dumps(fields) + b"\n"
        size += len(line)
        if not parts or size > MAX_FILE_BYTES:
            parts.append([])
            size = len(line)
        parts[-1].append((call, line))
    return parts


def _transport(model: ModelSettings, runner: RunnerSettings) -> BatchTransport:
    # Imported here to avoid importing the library of the other transport.
    if model.transport is Transport.litellm:
        from flows.adapters.completions.batches.via_litellm import LiteLLMBatches

        return LiteLLMBatches(model, runner)
    from flows.adapters.completions.batches.via_openai import OpenAIBatches

    return OpenAIBatches(model, runner)
