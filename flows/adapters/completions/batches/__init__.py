"""Providers' batches: many calls submitted in one file, answered within a day, at a discount.

    call -> BatchSender: gather -> intent, durable -> file -> batch -> its id, durable -> poll
                                                                 results -> each call's reply or fault

To the retry layer, `BatchSender` is a sender like any other, so limits, budget, statuses, tries and the
store are those of single calls. But a try outlives the process: `ledger` records which calls are in which
batch, and a call in one waits for it instead of being sent again. `transport` is the provider's API, `poller`
submits and polls one batch, `results` reads its results.
"""

from flows.adapters.completions.batches.check import check_batches
from flows.adapters.completions.batches.ledger import Ledger
from flows.adapters.completions.batches.sender import BatchSender

__all__ = ["BatchSender", "Ledger", "check_batches"]
