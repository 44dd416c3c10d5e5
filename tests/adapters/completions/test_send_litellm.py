"""The transport for every other provider, through litellm as it is installed.

Importing it takes seconds, once. Its OpenAI and Anthropic paths are driven against scripted servers.
"""

import asyncio
import dataclasses
import json
import logging
import os
import subprocess
import sys

import pytest

from flows.adapters.completions.client import Client
from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.senders.send_litellm import LiteLLMSender
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import ConfigError
from flows.schema.completion import CompletionStatus, Usage
from flows.schema.settings import Transport
from tests.adapters.completions.helpers import RUNNER, a_model, a_request, ask
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


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("openai/gpt-4o", {"reasoning_effort": "high"}), ("nosuchprovider/m", {})],
    ids=["effort", "provider"],
)
def test_what_litellm_can_not_express_is_an_error_of_the_configuration(tmp_path, model, parameters):
    with ScriptedServer() as server:
        settings = a_model(server.base, transport=Transport.litellm, name=model)
        requests = [
            a_request(f"p {n}", server.base, transport="litellm", model=model, **parameters) for n in range(3)
        ]
        ends = ask(tmp_path, settings, *requests)
        assert server.calls == []
    assert [type(end) for end in ends] == [ConfigError] * 3
    assert "unsupported ones are not dropped" in str(ends[0])
    assert len(CompletionStore(tmp_path)) == 0


def test_an_effort_goes_out_as_it_was_given():
    reply, calls = send_to(Say("hi"), reasoning_effort="high", top_p=0.3, max_tokens=9)
    assert reply.text == "hi"
    sent = calls[0].body
    assert (sent["reasoning_effort"], sent["top_p"], sent["max_tokens"]) == ("high", 0.3, 9)


def test_what_would_make_litellm_retry_or_drop_is_refused(tmp_path):
    with ScriptedServer() as server:
        settings = a_model(server.base, transport=Transport.litellm, name="openai/m")
        request = a_request(
            base=server.base, transport="litellm", model="openai/m", drop_params=True, num_retries=2
        )
        (end,) = ask(tmp_path, settings, request)
        assert server.calls == []
    assert isinstance(end, ConfigError)
    assert "the parameters hold drop_params, num_retries" in str(end)


def test_a_call_through_the_client_is_tried_again_by_us_alone_and_leaks_no_key(
    tmp_path, monkeypatch, caplog, capfd
):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)

    def script(call):
        return Status(500, f"debug {KEY}") if call.number < 3 else Say("at last")

    with caplog.at_level(logging.DEBUG), ScriptedServer(script) as server:
        settings = a_model(
            server.base, transport=Transport.litellm, name="openai/m", api_key_env="SCRIPTED_KEY"
        )
        request = a_request(base=server.base, transport="litellm", model="openai/m")
        (end,) = ask(tmp_path, settings, request)
        assert len(server.calls) == 3
    assert (end.completion.status, end.completion.text) == (CompletionStatus.complete, "at last")
    assert [attempt.outcome for attempt in end.completion.attempts] == ["http 500", "http 500", "ok"]
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert stored.count(b"[key]") == 2
    for shown in (stored.decode(), caplog.text, *capfd.readouterr()):
        assert KEY not in shown


def test_it_is_not_imported_before_it_is_needed_and_then_stays_off_the_network():
    script = (
        "import sys, flows.adapters.completions.client, flows.adapters.completions.stores.folder\n"
        "slow = {'litellm', 'openai', 'httpx', 'prefect', 'mlflow'} & set(sys.modules)\n"
        "print(sorted(slow))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert Client is not None
    send_to(Say("hi"))
    assert (os.environ["LITELLM_LOCAL_MODEL_COST_MAP"], os.environ["LITELLM_MODE"]) == ("True", "PRODUCTION")
    assert sys.modules["litellm"].drop_params is False


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("transport", "name"), [(Transport.litellm, "openai/m"), (Transport.openai_http, "m")], ids=str
)
def test_headers_come_from_the_environment_and_only_their_endpoint_has_them(
    tmp_path, monkeypatch, transport, name, stream
):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    monkeypatch.setenv("A_TEAM", "team-0123456789-header")
    monkeypatch.setenv("AN_AUTHORIZATION", "Basic bm9ib2R5OmF0IGFsbA==")
    parameters = STREAM if stream else {}
    with ScriptedServer(lambda _call: Say("You sent team-0123456789-header.")) as server:
        settings = a_model(
            server.base,
            transport=transport,
            name=name,
            api_key_env="SCRIPTED_KEY",
            headers={"X-Team": "A_TEAM", "authorization": "AN_AUTHORIZATION"},
        )
        request = a_request(base=server.base, transport=transport.value, model=name, **parameters)
        (end,) = ask(tmp_path, settings, request)
        (call,) = server.calls
    assert (call.headers["x-team"], call.headers["authorization"]) == (
        "team-0123456789-header",
        "Basic bm9ib2R5OmF0IGFsbA==",
    )
    assert "X-Team" not in str(call.body)
    assert end.completion.text == "You sent [key]."
    assert b"team-0123456789-header" not in b"".join(file.read_bytes() for file in tmp_path.glob("*.jsonl"))
