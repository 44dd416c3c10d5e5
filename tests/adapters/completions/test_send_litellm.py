"""The transport for every other provider, through litellm as it is installed.

Importing it takes seconds, once. Its OpenAI and Anthropic paths are driven against scripted servers.
"""

import asyncio
import dataclasses
import json

import pytest

from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.senders.send_litellm import LiteLLMSender
from flows.schema.completion import Usage
from tests.adapters.completions.helpers import RUNNER, a_request
from tests.support.scripted_server import Drop, Hang, Raw, Say, ScriptedServer, Status

# litellm's own use of pydantic warns, and litellm turns a warning that is an error into a broken reply.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the '.*' attribute on the instance:DeprecationWarning"),
]

KEY = "sk-planted-0123456789abcdef"
STREAM = {"stream": True, "stream_options": {"include_usage": True}}


def send(base, *, model="openai/m", runner=RUNNER, **parameters):
    """What the sender makes of one request: a reply or a fault."""

    async def main():
        sender = LiteLLMSender(runner)
        request = a_request(base=base, transport="litellm", model=model, **parameters)
        try:
            return await sender.send(request, KEY)
        except Fault as fault:
            return fault
        finally:
            await sender.aclose()

    return asyncio.run(main())


def send_to(answer, **arguments):
    """The same, with a server that gives `answer`; and the requests that came."""
    with ScriptedServer(lambda _call: answer) as server:
        return send(server.base, **arguments), server.calls


def anthropic(stop, *, streamed=False):
    """A message as Anthropic's interface sends it; without a stop reason it breaks off."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": None}
    if not streamed:
        body = {
            **message,
            "content": [{"type": "text", "text": "hi"}],
            "stop_reason": stop,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
        return Raw(json.dumps(body).encode())
    events = [
        {
            "type": "message_start",
            "message": {**message, "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    ]
    if stop is not None:
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ]
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Raw("".join(lines).encode(), "text/event-stream")


@pytest.mark.parametrize("parameters", [{}, STREAM], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("say", "status", "text"),
    [
        (Say("hi there", chunks=3), "complete", "hi there"),
        (Say("half", finish="length"), "cut", "half"),
        (Say(None, finish="content_filter"), "refused", None),
        (Say(""), "complete", ""),
        (Say(None, message={"refusal": "no"}), "refused", None),
        (Say("x", finish="tool_calls"), "partial", None),
        (Say("x", finish="network_error"), "partial", None),  # litellm calls it `stop`
    ],
    ids=["stop", "length", "filter", "empty", "refusal", "tools", "network"],
)
def test_the_finish_reason_decides(parameters, say, status, text):
    reply, calls = send_to(say, temperature=0.2, **parameters)
    assert (reply.status.value, reply.text) == (status, text)
    assert reply.finish_reason == say.finish
    assert reply.usage.input_tokens == 8
    assert len(calls) == 1
    assert calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert (calls[0].body["model"], calls[0].body["temperature"]) == ("m", 0.2)


@pytest.mark.parametrize("parameters", [{}, STREAM], ids=["whole", "streamed"])
def test_tokens_are_the_providers_or_none(parameters):
    counted = {
        "prompt_tokens": 5,
        "completion_tokens": 9,
        "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 7},
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    assert send_to(Say("hi", usage=counted), **parameters)[0].usage == Usage(5, 9, 7, 3)
    # litellm gives zeros for a whole reply, and counts a streamed one itself.
    assert send_to(Say("hi", usage=None), **parameters)[0].usage == Usage()


@pytest.mark.parametrize(
    "answer",
    [
        Drop(after_chunks=2),
        Raw(b"<html>"),
        Raw(b"", "text/event-stream"),
    ],
    ids=["drop", "html", "nothing"],
)
def test_a_broken_stream_is_never_a_short_answer(answer):
    fault, calls = send_to(answer, **STREAM)
    assert course(fault, served=True) is RetryDecision.retry
    assert len(calls) == 1


@pytest.mark.parametrize(
    "answer", [Raw(b"<html>"), Raw(b'{"choices":[]}'), Raw(b"")], ids=["html", "none", "empty"]
)
def test_a_reply_that_is_none_is_a_fault(answer):
    fault, calls = send_to(answer)
    assert fault.kind in (FaultKind.reply, FaultKind.connection)
    assert course(fault, served=False) is RetryDecision.retry
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("status", "error", "follows"),
    [
        (429, {}, RetryDecision.wait),
        (429, {"code": "insufficient_quota"}, RetryDecision.fatal),
        (500, {}, RetryDecision.retry),
        (503, {}, RetryDecision.retry),
        (529, {}, RetryDecision.retry),
        (401, {}, RetryDecision.fatal),
        (404, {}, RetryDecision.fatal),
        (400, {"code": "context_length_exceeded"}, RetryDecision.failed),
        (400, {"code": "content_filter"}, RetryDecision.refused),
        (400, {"code": "unsupported_value"}, RetryDecision.fatal),
    ],
)
@pytest.mark.parametrize("model", ["openai/m", "anthropic/claude-x"])
def test_an_error_is_what_its_status_says_and_is_sent_once(status, error, follows, model):
    fault, calls = send_to(Status(status, "scripted", retry_after="7", error=error), model=model)
    assert len(calls) == 1
    if model == "openai/m" or not error:  # litellm does not pass on the codes of other providers
        assert course(fault, served=False) is follows
    assert "scripted" in fault.detail
    assert fault.retry_after == 7.0


@pytest.mark.parametrize("model", ["openai/m", "anthropic/claude-x"])
def test_a_connection_that_never_came_is_told_from_one_that_broke(model):
    assert send("http://127.0.0.1:9/v1", model=model).kind is FaultKind.connect
    assert send_to(Drop(), model=model)[0].kind is FaultKind.connection


@pytest.mark.parametrize("model", ["openai/m", "anthropic/claude-x"])
@pytest.mark.parametrize("parameters", [{}, STREAM], ids=["whole", "streamed"])
def test_silence_and_slowness_are_timeouts(model, parameters):
    idle = dataclasses.replace(RUNNER, idle_timeout_s=0.3)
    fault, _ = send_to(Hang(60.0), model=model, runner=idle, **parameters)
    assert fault.kind is FaultKind.timeout
    slow = dataclasses.replace(RUNNER, total_timeout_s=0.3)
    fault, _ = send_to(Hang(60.0), model=model, runner=slow, **parameters)
    assert fault.kind is FaultKind.timeout


@pytest.mark.parametrize(
    ("stop", "status"),
    [("end_turn", "complete"), ("max_tokens", "cut"), ("refusal", "refused"), ("tool_use", "partial")],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_another_providers_replies_are_read(stop, status, streamed):
    reply, calls = send_to(
        anthropic(stop, streamed=streamed), model="anthropic/claude-x", **(STREAM if streamed else {})
    )
    assert (reply.status.value, reply.text) == (status, "hi" if status in ("complete", "cut") else None)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)
    assert calls[0].headers["x-api-key"] == KEY


def test_another_providers_stream_without_a_stop_reason_is_half_a_text():
    reply, _ = send_to(anthropic(None, streamed=True), model="anthropic/claude-x", **STREAM)
    assert (reply.status.value, reply.text, reply.fragment) == ("partial", None, "hi")
    whole, _ = send_to(anthropic(None), model="anthropic/claude-x")
    assert (whole.status.value, whole.text, whole.fragment) == ("partial", None, "hi")
