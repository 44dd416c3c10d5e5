"""The store of paid replies, and the client that pays for them.

    request -> client -> (store: is it there?) -> sender -> reply -> store -> completion

`store` is the truth that resume and replay rest on: append-only files, content-addressed, durable
before anything uses a reply. `client` holds the only retry layer, the limits and the budget. Each
transport has a sender; a sender makes one try and says what happened, and decides nothing. `turns` is
how a chat with images and tool calls goes out, `calls` and `carried` how what comes back is read.
"""
