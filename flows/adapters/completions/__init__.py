"""The store of paid replies, and the client that makes paid calls.

    request -> client -> (store: is it there?) -> sender -> reply -> store -> completion

`store` is the source of truth for resume and replay: append-only, content-addressed files, synced before a
reply is used. `client` has the only retry layer, the limits and the budget. Each transport has a sender,
which makes one try and reports the result. `turns` encodes chats with images and tool calls, `reply` and
`calls` read the replies.
"""
