"""Tool calls as the interfaces of OpenAI, Anthropic and Gemini send them."""

import json

from tests.adapters.completions.helpers import (
    LIST,
    READ,
)
from tests.support.scripted_server import Raw

USAGE = {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}


def events(*chunks, done=True, named=False):
    lines = [
        (f"event: {chunk['type']}\n" if named else "") + f"data: {json.dumps(chunk)}\n\n" for chunk in chunks
    ]
    return Raw("".join(lines + ["data: [DONE]\n\n"] * done).encode(), "text/event-stream")


def openai_asks(*, streamed, finish="tool_calls", content=None, **message):
    """A reply with two calls, as OpenAI's interface sends it."""
    calls = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in (LIST, READ)
    ]
    head = {"id": "r", "created": 1, "model": "m-1"}
    if not streamed:
        message = {"role": "assistant", "content": content, "tool_calls": calls, **message}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return Raw(json.dumps({**head, "choices": [choice], "usage": USAGE}).encode())
    deltas = [{"role": "assistant", "content": content, **message}]
    for index, call in enumerate(calls):
        function = call["function"]
        deltas.append({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        deltas += (
            {"tool_calls": [{"index": index, "function": {"arguments": character}}]}
            for character in function["arguments"]
        )
    chunks = [
        {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": finish}
    return events(*chunks, {**head, "choices": [end]}, {**head, "choices": [], "usage": USAGE})


THOUGHT = [
    {"type": "thinking", "thinking": "Let me look.", "signature": "SIG=="},
    {"type": "redacted_thinking", "data": "RED=="},
]


def anthropic_asks(*, streamed):
    """A message that thinks, says something and calls two tools, as Anthropic's interface sends it."""
    head = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": None}
    blocks = [
        *THOUGHT,
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "list_files", "input": {}},
        {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "a"}},
    ]
    if not streamed:
        usage = {"input_tokens": 3, "output_tokens": 2}
        body = {**head, "content": blocks, "stop_reason": "tool_use", "usage": usage}
        return Raw(json.dumps(body).encode())
    empty = [
        {"type": "thinking", "thinking": "", "signature": ""},
        THOUGHT[1],
        {"type": "text", "text": ""},
        *({**block, "input": {}} for block in blocks[3:]),
    ]
    pieces = [
        (0, {"type": "thinking_delta", "thinking": "Let me "}),
        (0, {"type": "thinking_delta", "thinking": "look."}),
        (0, {"type": "signature_delta", "signature": "SIG=="}),
        (2, {"type": "text_delta", "text": "I look."}),
        (3, {"type": "input_json_delta", "partial_json": ""}),
        (4, {"type": "input_json_delta", "partial_json": '{"path"'}),
        (4, {"type": "input_json_delta", "partial_json": ': "a"}'}),
    ]
    usage = {"input_tokens": 3, "output_tokens": 1}
    sent = [{"type": "message_start", "message": {**head, "content": [], "usage": usage}}]
    for index, block in enumerate(empty):
        sent.append({"type": "content_block_start", "index": index, "content_block": block})
        sent += (
            {"type": "content_block_delta", "index": at, "delta": delta}
            for at, delta in pieces
            if at == index
        )
        sent.append({"type": "content_block_stop", "index": index})
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}}
    return events(*sent, end, {"type": "message_stop"}, done=False, named=True)


def gemini_asks(*, streamed):
    """The same of Gemini, which signs a text and the first call."""
    parts = [
        {"text": "I look.", "thoughtSignature": "VEVYVA=="},
        {"functionCall": {"name": "list_files", "args": {}}, "thoughtSignature": "U0lH"},
        {"functionCall": {"name": "read", "args": {"path": "a"}}},
    ]
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}

    def body(given, **further):
        candidate = {"index": 0, "content": {"role": "model", "parts": given}, **further}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-x"}

    if not streamed:
        return Raw(json.dumps(body(parts, finishReason="STOP")).encode())
    return events(body(parts[:1]), body(parts[1:2]), body(parts[2:], finishReason="STOP"), done=False)
