"""Submit a batch once, find it again after a crash, poll it and deliver its results."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flows.adapters.completions.batches.ledger import Entry, Ledger
from flows.adapters.completions.batches.results import Results, read_results, unanswered
from flows.adapters.completions.batches.transport import ENDED, UNDER_WAY, BatchState, BatchTransport
from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.keys import scrub
from flows.adapters.completions.senders.reply import Reply
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.adapters.completions.stores.shared import Store
from flows.common.errors import ProviderError, StaffbenchError
from flows.schema.settings import ModelSettings, RunnerSettings

PATIENCE_S = 3600.0  # how long polling may fail before the run ends; the batch continues

_log = logging.getLogger(__name__)

# The endpoint rejected the batch. After any other fault it may have accepted it.
_NOT_TAKEN = frozenset(range(400, 500)) - {408, 409, 425}
_LOOKS = 2  # a batch may be listed some time after it was accepted

Delivery = Reply | Exception | None
"""The result for a waiting call; None if there is no such batch and it must be sent again."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account at a provider, and what is needed to handle its batches."""

    model: ModelSettings
    target: Target
    transport: BatchTransport
    ledger: Ledger
    store: Store
    halts: StopConditions
    runner: RunnerSettings

    def check(self) -> None:
        """Raise the reason to stop sending, if there is one."""
        self.halts.check(self.target)

    def error(self, batch: str, fault: Fault, remedy: str) -> ProviderError:
        """Return the error to show if a batch can't be polled."""
        return ProviderError(
            f"{batch} of {self.model.label} at {self.model.api_base or self.model.provider}",
            f"{fault.outcome}: {scrub(fault.detail, self.transport.key)[:500]}",
            remedy=remedy,
        )


@dataclass(eq=False)
class BatchPoller:
    """Handles one batch for the calls of this process that wait for it."""

    _account: Account
    entry: Entry  # its durable record
    _lines: Sequence[bytes] | None  # its requests, to submit; None for a batch of an earlier run
    waiting: dict[str, asyncio.Future[Delivery]] = field(default_factory=dict[str, asyncio.Future[Delivery]])
    # Results that had no waiter when they arrived.
    left: dict[str, Reply | Fault] = field(default_factory=dict[str, Reply | Fault])
    task: asyncio.Task[None] | None = None  # of `run`, set by the caller

    @property
    def over(self) -> bool:
        """Whether it has ended; remaining results can still be taken."""
        return self.task is not None and self.task.done()

    async def run(self) -> None:
        """Handle the batch until all waiters have a result."""
        account = self._account
        try:
            async with account.store.lock(self.entry.marker, account.check):
                self.entry = account.ledger.reload(self.entry)
                if await self._is_there():
                    self._deliver_results(*await self._results())
                else:
                    self._deliver(lambda _key: None)
        except Exception as error:  # noqa: BLE001 -- waiters must get the error
            if not isinstance(error, Fault | StaffbenchError):
                _log.exception("batch %s failed", self.entry.marker)
            failed = error
            self._deliver(lambda _key: failed)

    async def _is_there(self) -> bool:
        """Make sure that the provider has the batch; False if it never had."""
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
            file_id = await account.transport.upload(f"{marker}.jsonl", data)
            account.check()
        except (Fault, StaffbenchError):
            account.ledger.never_submitted(self.entry)
            raise
        try:
            return await account.transport.create(file_id, marker)
        except Fault as fault:
            # Without an answer it may have been accepted, so look it up before sending it again.
            refused = fault.kind in (FaultKind.connect, FaultKind.parameter) or fault.status in _NOT_TAKEN
            taken = None if refused else await self._look_up()
            if taken is not None:
                return taken
            account.ledger.never_submitted(self.entry)
            raise

    async def _look_up(self) -> BatchState | None:
        """Find the batch with our marker among those of the account."""
        account = self._account
        for look in range(_LOOKS):
            if look:
                await account.halts.sleep(account.runner.batch_poll_s, account.target)
            after: str | None = None
            while True:
                account.check()
                page, more = await account.transport.page(after)
                found = [batch for batch in page if batch.marker == self.entry.marker]
                if found:
                    return found[0]
                if not more or not page or page[-1].batch_id == after:
                    break
                after = page[-1].batch_id
        return None

    async def _results(self) -> tuple[BatchState, Results]:
        """Poll until the batch has ended, and fetch its results."""
        account, name = self._account, f"batch {self.entry.batch_id}"
        failing: float | None = None
        while True:
            account.check()
            pause_s = account.runner.batch_poll_s
            try:
                batch = await account.transport.retrieve(self.entry.batch_id or "")
                if batch.status in ENDED:
                    files = [await account.transport.content(file) for file in batch.files]
                    return batch, read_results(files, self.entry.keys)
                failing = None
                if batch.status not in UNDER_WAY:
                    unknown = Fault(FaultKind.reply, f"status {batch.status!r} is unknown")
                    remedy = "check the batch at the provider; nothing was submitted again"
                    raise account.error(name, unknown, remedy)
            except Fault as fault:
                failing = failing or time.monotonic()
                if course(fault, served=True) not in (RetryDecision.retry, RetryDecision.wait):
                    raise account.error(name, fault, self._give_up()) from None
                if time.monotonic() - failing > PATIENCE_S:
                    remedy = "the batch continues; run the same command again to collect it"
                    raise account.error(name, fault, remedy) from None
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
        found = {key: results.outcomes.get(key, missing) for key in entry.keys - entry.settled}
        # Before notifying waiters, who send these calls again in another batch.
        faulty = {key for key, outcome in found.items() if isinstance(outcome, Fault)}
        if faulty:
            self._account.ledger.mark_done(entry, faulty)
        self.left = {key: found[key] for key in found.keys() - faulty - self.waiting.keys()}
        self._deliver(found.get)

    def _deliver(self, outcome: Callable[[str], Delivery]) -> None:
        waiting, self.waiting = self.waiting, {}
        for key, waiter in waiting.items():
            if not waiter.done():  # it may have been stopped
                waiter.set_result(outcome(key))
