"""Providers' batches: many calls handed over in one file, answered within a day, for less.

    call -> BatchSender: gather -> intent, durable -> file -> batch -> its id, durable -> poll
                                                                 results -> each call's reply or fault

A batch is one more way to make a try: to the retry layer, `sender.BatchSender` is a sender like any
other, so that limits, budget, statuses, attempts and the store are those of single calls. What is new
is that a try outlives the process: `ledger` remembers which calls are in which batch, and a call that
is in one waits for it instead of going out again. `protocol` says what a transport must do,
`via_openai` and `via_litellm` do it, `attend` sees one batch through, `results` reads what came back.
"""
