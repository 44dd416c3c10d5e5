"""The client for paid completions: each is paid for once, within limits, if the store has room."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from flows.adapters.completions.batches import BatchSender, Ledger, check_batches
from flows.adapters.completions.budget import Budget, batch_price
from flows.adapters.completions.keys import check_keys, check_no_key, read_key
from flows.adapters.completions.leases import Lease, LeaseAddress
from flows.adapters.completions.limits import ProviderLimits
from flows.adapters.completions.senders.turns import check_request
from flows.adapters.completions.stop_conditions import EVERYTHING, StopConditions, Target
from flows.adapters.completions.stores.records import check_storable
from flows.adapters.completions.stores.shared import Store
from flows.adapters.completions.totals import Totals
from flows.adapters.completions.tries import Call, Sender, Tries
from flows.common.digests import canonical_json
from flows.common.errors import ConfigError, StaffbenchError, Stopped, StoreError
from flows.schema.call import stands
from flows.schema.completion import Completion, Request
from flows.schema.settings import BudgetSettings, ModelSettings, Retry, RunnerSettings, Transport

__all__ = ["CallOutcome", "Client", "Totals", "check_batches", "check_keys"]


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A completion from the store."""

    completion: Completion  # answer, refusal or error
    replayed: bool  # True if it was in the store and no call was made
    earlier: bool = False  # True if it was stored before this run


class Client:
    """Completes requests from the store or by paid calls. Use it from one event loop only."""

    def __init__(
        self,
        store: Store,
        runner: RunnerSettings,
        budget: BudgetSettings,
        retry: Retry,
        *,
        leases: LeaseAddress | None = None,
    ) -> None:
        """Create a client; nothing is opened before the first paid call.

        The caller closes the store. `retry` says which stored outcomes are retried, `leases` where shares of
        the limits are leased; None if this client has them all.
        """
        self._totals = Totals()
        self._lease = (
            Lease(leases, lambda: [self._budget, *self._limits.values()], self._totals, self._halt)
            if leases
            else None
        )
        ask = self._lease.ask if self._lease else None
        self._store = store
        self._runner = runner
        self._retry = retry
        self._halts = StopConditions()
        self._budget = Budget(budget, self._halts, first_alone=not runner.batch, ask=ask)
        self._attempts = Tries(runner, self._budget, self._halts, self._totals)
        self._limits: dict[str, ProviderLimits] = {}
        self._senders: dict[tuple[str, ...], Sender] = {}
        self._batches = Ledger(store.folder, store.ledger) if runner.batch else None
        self._asked_now: set[str] = set()
        self._tasks: set[asyncio.Task[CallOutcome]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._probed = False

    @property
    def totals(self) -> Totals:
        """Sums over this run, for progress displays."""
        return self._totals

    @property
    def stopped(self) -> bool:
        """True once nothing more is sent."""
        return self._halts.has(EVERYTHING)

    async def complete(self, request: Request, model: ModelSettings, asked: Mapping[str, Any]) -> CallOutcome:
        """Return the completion of `request` from the store, or pay for it and store it.

        `asked` is what the condition requested, kept in the record. If the caller is cancelled, the reply of
        a try in flight is still stored.

        Raises:
            ConfigError: the request can't be sent or stored, or the budget can't be enforced.
            ProviderError: the endpoint, the model or the key can't be used.
            BudgetReached: the budget is used up.
            StoreError: the reply can't be stored. Nothing more is sent.
            Stopped: the user stopped the run.
        """
        key = _key(request)
        if self._lease is not None:
            self._lease.start()
        try:
            stored = await self._store.fetch(key)
        except StoreError as error:
            self._halt(error)
            raise
        if stored is not None and stands(stored, self._retry):
            return self._replay(stored)
        if self._batches is not None:
            # Recorded, as a batch is cheaper and does not stream.
            model, asked = replace(model, price=batch_price(model.price)), {**asked, "batch": True}
        call = Call(request, key, model, asked, Target.of(model))
        self._halts.check(call.target)
        self._check(call)
        self._loop = asyncio.get_running_loop()
        task = self._loop.create_task(self._pay_once(call, stored))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            call.abandoned = True
            if not call.out:
                task.cancel()
            raise

    def knows(self, request: Request) -> bool:
        """True if any completion is stored for `request`. Thread-safe."""
        return self._store.get(_key(request)) is not None

    def stored(self, key: str) -> Completion | None:
        """Return the stored completion of `key`; None if there is none. Thread-safe."""
        return self._store.get(key)

    async def load(self, keys: Iterable[str]) -> None:
        """Bring completions of a remote store here, many at once, so that `stored` does not wait for each."""
        if self._store.is_remote:
            await asyncio.gather(*(self._store.fetch(key) for key in set(keys)))

    def stop(self) -> None:
        """Stop sending: calls in flight finish and are stored, waiting ones raise `Stopped`.

        May be called from a signal handler or another thread.
        """
        left = "paid replies are stored" if self._batches is None else "batches in progress continue"
        reason = Stopped("run", "stopped", remedy=f"{left}: run the same command again to resume.")
        loop = self._loop
        if loop is None or loop.is_closed() or _running_loop() is loop:
            self._halt(reason)
        if loop is not None and not loop.is_closed():
            # Wakes the loop: a signal may have arrived while it sleeps.
            loop.call_soon_threadsafe(self._halt, reason)

    async def aclose(self) -> None:
        """Wait for calls in flight to be stored, then close the connections."""
        self._halt(Stopped("client", "closed"))
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._lease is not None:
            await self._lease.end()
        for sender in self._senders.values():
            await sender.aclose()
        self._senders.clear()
        if self._batches is not None:
            self._batches.close()

    def _halt(self, reason: StaffbenchError) -> None:
        self._halts.set(EVERYTHING, reason)

    async def _pay_once(self, call: Call, before: Completion | None) -> CallOutcome:
        """Pay for a call, unless the previous holder of its lock has; a fault of the store stops all."""
        try:
            async with self._store.lock(call.key, lambda: self._halts.check(call.target)):
                stored = await self._store.fetch(call.key, again=True)
                if stored is not None and (
                    stands(stored, self._retry) or stored != before or call.key in self._asked_now
                ):
                    return self._replay(stored)
                sender, limits = self._ready(call.model)
                completion = await self._attempts.complete(call, sender, limits)
                self._totals.add(completion, lost_tries=call.lost)  # paid for, also if it can't be stored
                self._asked_now.add(call.key)  # before others can find it
                try:
                    await self._store.put(call.request, completion)
                    kept = self._kept(call.key)
                finally:
                    call.leave()
                if self._batches is not None:
                    self._batches.stored(call.key)
                return CallOutcome(kept, replayed=False)
        except StoreError as error:
            self._halt(error)
            raise

    def _kept(self, key: str) -> Completion:
        kept = self._store.get(key)
        if kept is None:
            raise StoreError(
                self._store.folder,
                f"completion {key[:12]} is missing after it was stored",
                remedy="check the disk, then start the same command again",
            )
        return kept

    def _replay(self, stored: Completion) -> CallOutcome:
        self._totals.replayed += 1
        return CallOutcome(stored, replayed=True, earlier=stored.key not in self._asked_now)

    def _check(self, call: Call) -> None:
        """Reject requests that would fail after sending."""
        request, model = call.request, call.model
        check_request(request, model, in_batch=self._batches is not None)
        check_storable(request, call.asked)
        sent = canonical_json([request.api_base, dict(request.parameters), dict(call.asked)])
        check_no_key(model, sent, read_key(model))
        self._budget.check_price(model)

    def _ready(self, model: ModelSettings) -> tuple[Sender, ProviderLimits]:
        """Return a model's sender and limits; probe the store the first time."""
        if not self._probed:
            self._store.probe()
            self._probed = True
        slot = (model.transport.value,) if self._batches is None else Target.of(model).account
        if slot not in self._senders:
            self._senders[slot] = self._new_sender(model)
        if model.provider not in self._limits:
            ask = self._lease.ask if self._lease else None
            limits = ProviderLimits(self._runner, self._halts, provider=model.provider, ask=ask)
            self._limits[model.provider] = limits
        return self._senders[slot], self._limits[model.provider]

    def _new_sender(self, model: ModelSettings) -> Sender:
        # Imported at the first call: replays need no HTTP library.
        if self._batches is not None:
            return BatchSender(model, self._runner, self._store, self._batches, self._halts)
        match model.transport:
            case Transport.litellm:
                from flows.adapters.completions.senders.send_litellm import LiteLLMSender

                return LiteLLMSender(self._runner)
            case Transport.gguf:
                from flows.adapters.completions.senders.send_gguf import GGUFSender

                return GGUFSender(self._runner)
            case Transport.openai_http:
                from flows.adapters.completions.senders.send_openai import OpenAISender

                return OpenAISender(self._runner)

    def _done(self, task: asyncio.Task[CallOutcome]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, even if the caller was cancelled


def _key(request: Request) -> str:
    try:
        return request.key
    except (TypeError, ValueError) as error:  # not representable in JSON or UTF-8
        raise ConfigError(f"request to {request.model}", f"can't be stored: {error}") from error


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
