"""Providers' batches: many calls submitted in one file, answered within a day, at a discount.

    call -> BatchSender: gather -> intent, durable -> file -> batch -> its id, durable -> poll
                                                                 results -> each call's reply or fault

To the retry layer, `sender.BatchSender` is a sender like any other, so limits, budget, statuses, tries and
the store are those of single calls. But a try outlives the process: `ledger` records which calls are in which
batch, and a call in one waits for it instead of being sent again. `transport` is the interface that
`via_openai` and `via_litellm` implement, `poller` submits and polls one batch, `results` reads its results.
"""

from __future__ import annotations

from flows.adapters.completions.batches.check import batch_price, check_batches
from flows.adapters.completions.batches.ledger import Ledger
from flows.adapters.completions.shared import Store
from flows.adapters.completions.stop_conditions import StopConditions
from flows.adapters.completions.tries import Sender
from flows.schema.settings import ModelSettings, RunnerSettings

__all__ = ["Ledger", "batch_price", "check_batches", "new_batch_sender"]


def new_batch_sender(
    model: ModelSettings,
    runner: RunnerSettings,
    store: Store,
    ledger: Ledger,
    halts: StopConditions,
) -> Sender:
    """Create a sender; see `BatchSender`. Its module is imported here: replays need no HTTP library."""
    from flows.adapters.completions.batches.sender import BatchSender

    return BatchSender(model, runner, store, ledger, halts)
