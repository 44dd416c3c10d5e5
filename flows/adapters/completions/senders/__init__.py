"""A sender for each transport: it makes one try and reports the result.

`turns` encodes chats with images and tool calls, `reply`, `calls` and `fields` read what comes back.
"""
