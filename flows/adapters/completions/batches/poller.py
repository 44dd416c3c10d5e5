"""One batch, from its intent to its results: submitted once, found again, polled, taken apart."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flows.adapters.completions.batches.ledger import Entry, Ledger
from flows.adapters.completions.batches.results import Outcome, Results, read_results, same, unanswered
from flows.adapters.completions.batches.transport import ENDED, UNDER_WAY, BatchState, BatchTransport
from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.keys import scrub
from flows.adapters.completions.reply import Reply
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.adapters.completions.store import CompletionStore
from flows.common.errors import ProviderError, StaffbenchError
from flows.schema.settings import ModelSettings, RunnerSettings

PATIENCE_S = 3600.0
"""How long looking at a batch may fail; then the run ends, and the batch runs on."""

_log = logging.getLogger(__name__)

# The endpoint answered, and did not take the batch. Anything else may hide one that it took.
_NOT_TAKEN = frozenset(range(400, 500)) - {408, 409, 425}
_LOOKS = 2  # a batch may be listed a little later than it was accepted

Delivery = Reply | Fault | StaffbenchError | None
"""What a call hears of its batch; None where there is no such batch and it must go out again."""


@dataclass(slots=True, eq=False)
class Waiter:
    """One call that waits for its batch.

    Attributes:
        ready: set when `delivery` is.
        delivery: what it hears.
    """

    ready: asyncio.Future[None]
    delivery: Delivery = None

    def hear(self, delivery: Delivery) -> None:
        """Let it go on, unless it has gone: a halt ends the waiting."""
        if not self.ready.done():
            self.delivery = delivery
            self.ready.set_result(None)

    def fail(self, error: Exception) -> None:
        """Let it raise; an error of ours anew, since many may hear the same one."""
        if isinstance(error, StaffbenchError):
            self.hear(type(error)(error.where, error.found, error.expected, error.remedy))
        elif not self.ready.done():
            self.ready.set_exception(error)


@dataclass(frozen=True, slots=True)
class Account:
    """Whose batches these are, and what is needed to see to them.

    Attributes:
        model: whom the calls are for.
        target: what halts them.
        transport: speaks to the provider.
        ledger, store, halts, runner: as everywhere.
        key: gives the provider's key.
    """

    model: ModelSettings
    target: Target
    transport: BatchTransport
    ledger: Ledger
    store: CompletionStore
    halts: StopConditions
    runner: RunnerSettings
    key: Callable[[], str | None]

    def check(self) -> None:
        """Raise the reason to send nothing, if there is one."""
        self.halts.check(self.target)

    def error(self, batch: str, fault: Fault, remedy: str) -> ProviderError:
        """What a person is told when a batch can't be looked at."""
        detail = scrub(fault.detail, self.key())
        return ProviderError(
            f"{batch} of {self.model.label} at {self.model.api_base or self.model.provider}",
            f"{fault.outcome}: {detail[:500]}",
            remedy=remedy,
        )


class BatchPoller:
    """Sees to one batch, for the calls of this process that wait for it.

    Attributes:
        entry: its record.
        task: set by whoever starts `run`.
    """

    def __init__(self, account: Account, entry: Entry, lines: Sequence[bytes] | None) -> None:
        """Prepare.

        Args:
            account: whose batch it is.
            entry: its record, durable.
            lines: its requests, to submit them now; None for a batch of an earlier run.
        """
        self.entry = entry
        self.task: asyncio.Task[None] | None = None
        self._account = account
        self._lines = lines
        self._waiting: dict[str, Waiter] = {}
        self._left: dict[str, Outcome] = {}

    @property
    def over(self) -> bool:
        """Whether it has ended; what is left of its results can still be taken."""
        return self.task is not None and self.task.done()

    def take(self, key: str) -> Outcome | None:
        """A result that nobody waited for when it came."""
        return self._left.pop(key, None)

    def join(self, key: str, waiter: Waiter) -> None:
        """Let `waiter` hear what the call of `key` comes to."""
        self._waiting[key] = waiter

    async def run(self) -> None:
        """See to the batch until everyone who waits has heard."""
        account = self._account
        try:
            async with account.store.lock(self.entry.marker, account.check):
                self.entry = account.ledger.reload(self.entry)
                if await self._is_there():
                    self._deliver_results(*await self._results())
                else:
                    self._deliver(lambda _key: None)
        except Fault as fault:
            again = same(fault)
            self._deliver(lambda _key: again())
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it
            if not isinstance(error, StaffbenchError):
                _log.exception("batch %s could not be seen to", self.entry.marker)
            for waiter in self._waiting.values():
                waiter.fail(error)

    async def _is_there(self) -> bool:
        """Make sure that the provider has the batch; False where it has not, and never had."""
        if self.entry.void:
            return False
        if self.entry.batch_id is not None:
            return True
        lines, self._lines = self._lines, None
        batch = await (self._look_up() if lines is None else self._submit(b"".join(lines)))
        if batch is None:
            self._account.ledger.never_submitted(self.entry)
            return False
        self._account.ledger.submitted(self.entry, batch.batch_id)
        return True

    async def _submit(self, data: bytes) -> BatchState:
        account, marker = self._account, self.entry.marker
        try:
            account.check()
            file_id = await account.transport.upload(f"{marker}.jsonl", data, account.key())
            account.check()
        except (Fault, StaffbenchError):
            account.ledger.never_submitted(self.entry)
            raise
        try:
            return await account.transport.create(file_id, marker, account.key())
        except Fault as fault:
            # Without an answer it may have been accepted: it is there, or else goes out again.
            taken = None if _is_not_taken(fault) else await self._look_up()
            if taken is not None:
                return taken
            account.ledger.never_submitted(self.entry)
            raise

    async def _look_up(self) -> BatchState | None:
        """The batch that carries our marker, among those of the account."""
        account = self._account
        for look in range(_LOOKS):
            if look:
                await account.halts.sleep(account.runner.batch_poll_s, account.target)
            after: str | None = None
            while True:
                account.check()
                page, more = await account.transport.page(after, account.key())
                found = [batch for batch in page if batch.marker == self.entry.marker]
                if found:
                    return found[0]
                if not more or not page or page[-1].batch_id == after:
                    break
                after = page[-1].batch_id
        return None

    async def _results(self) -> tuple[BatchState, Results]:
        """Look until the batch has ended, and fetch what it brought."""
        account, name = self._account, f"batch {self.entry.batch_id}"
        failing: float | None = None
        while True:
            account.check()
            pause_s = account.runner.batch_poll_s
            try:
                batch = await account.transport.retrieve(self.entry.batch_id or "", account.key())
                if batch.status in ENDED:
                    files = [await account.transport.content(file, account.key()) for file in batch.files]
                    return batch, read_results(files, self.entry.keys)
                failing = None
                if batch.status not in UNDER_WAY:
                    unknown = Fault(FaultKind.reply, f"status {batch.status!r} is unknown")
                    raise account.error(name, unknown, "nothing was submitted again: look at the batch")
            except Fault as fault:
                failing = failing or time.monotonic()
                if course(fault, served=True) not in (RetryDecision.retry, RetryDecision.wait):
                    raise account.error(name, fault, self._give_up()) from None
                if time.monotonic() - failing > PATIENCE_S:
                    raise account.error(
                        name, fault, "the batch runs on, and the same command collects it"
                    ) from None
                pause_s = max(pause_s, fault.retry_after or 0.0)
            await account.halts.sleep(pause_s, account.target)

    def _give_up(self) -> str:
        variable = self.entry.api_key_env
        with_key = f" with the key in {variable}" if variable else ""
        return (
            f"it was submitted{with_key}; if it is gone, remove {self._account.ledger.path(self.entry)} "
            "to pay for its calls again"
        )

    def _deliver_results(self, batch: BatchState, results: Results) -> None:
        entry = self.entry
        if results.unknown or results.unreadable:
            _log.warning(
                "batch %s: %d results of calls that it did not hold and %d that can't be read; left out",
                batch.batch_id,
                results.unknown,
                results.unreadable,
            )
        missing = unanswered(batch, results)
        self._left = {
            key: results.outcomes.get(key, missing) for key in entry.keys if key not in entry.settled
        }
        # Before anyone hears of them: they go out again, in another batch.
        faulty = [key for key, outcome in self._left.items() if isinstance(outcome(), Fault)]
        if faulty:
            self._account.ledger.mark_done(entry, faulty)
        self._deliver(lambda key: self._left.pop(key)() if key in self._left else None)
        for key in faulty:
            self._left.pop(key, None)

    def _deliver(self, outcome: Callable[[str], Delivery]) -> None:
        waiting, self._waiting = self._waiting, {}
        for key, waiter in waiting.items():
            if not waiter.ready.done():
                waiter.hear(outcome(key))


def _is_not_taken(fault: Fault) -> bool:
    return fault.kind in (FaultKind.connect, FaultKind.parameter) or fault.status in _NOT_TAKEN
