"""The store of paid replies, and the client that makes paid calls.

    request -> client -> (store: is it there?) -> sender -> reply -> store -> completion

`stores` are the source of truth for resume and replay: append-only, content-addressed, synced before a reply
is used. `client` has the only retry layer (`tries`), the limits and the budget. `senders` make single tries,
`batches` many in one file.
"""
