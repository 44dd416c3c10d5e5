import asyncio
import dataclasses
import json
import socket
import time

import pytest

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.completions.senders import send_openai
from flows.adapters.completions.senders.send_openai import OpenAISender
from flows.schema.completion import CompletionStatus, Usage
from tests.adapters.completions.helpers import RUNNER, a_request
from tests.support.scripted_server import Drop, Hang, Raw, Say, ScriptedServer, Status

STREAM = {"stream": True, "stream_options": {"include_usage": True}}


def send(base, *requests, key=None, **runner):
    """What one sender makes of requests sent one after the other: replies and faults."""

    async def main():
        sender = OpenAISender(dataclasses.replace(RUNNER, **runner))
        ends = []
        for request in requests or (a_request(base=base, **STREAM),):
            try:
                ends.append(await sender.send(request, key))
            except Fault as fault:
                ends.append(fault)
        await sender.aclose()
        return ends

    return asyncio.run(main())


def sse(*lines, end="\n"):
    return Raw(end.join(lines).encode(), "text/event-stream")


def data(**delta):
    finish = delta.pop("finish", None)
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_server_sent_events_are_read_in_all_their_forms(end):
    stream = sse(
        ": PROCESSING",
        "",
        "event: message",
        data(content="one "),
        "",
        'data:{"choices":[{"index":0,',  # one event on two lines, no space after the colon
        'data: "delta":{"content":"two"},"finish_reason":null}]}',
        "",
        "id: 7",
        "retry: 100",
        data(finish="stop"),
        "",
        "data: [DONE]",
        "",
        "data: what comes after the end is not read",
        "",
        "",
        end=end,
    )
    with ScriptedServer(lambda _call: stream) as server:
        (reply,) = send(server.base)
    assert (reply.status, reply.text) == (CompletionStatus.complete, "one two")


@pytest.mark.parametrize("tail", [["", "data: [DONE]"], [], [""]])
def test_a_stream_may_end_without_a_blank_line_and_without_done(tail):
    with ScriptedServer(lambda _call: sse(data(content="one"), "", data(finish="stop"), *tail)) as server:
        (reply,) = send(server.base)
    assert (reply.status, reply.text) == (CompletionStatus.complete, "one")


@pytest.mark.parametrize("after", [None, 0, 1, 4])
def test_a_connection_that_breaks_is_a_fault(after):
    with ScriptedServer(lambda _call: Drop(after_chunks=after)) as server:
        (fault,) = send(server.base)
    assert fault.kind is FaultKind.connection
    assert fault.billable


def test_a_connection_that_breaks_after_the_finish_reason_loses_the_usage_only():
    # Chunks: role, four of text, finish reason; then it breaks where the usage would come.
    with ScriptedServer(lambda _call: Drop(after_chunks=6)) as server:
        (reply,) = send(server.base)
    assert (reply.status, reply.text, reply.usage) == (
        CompletionStatus.complete,
        "one two three four",
        Usage(),
    )
    assert reply.detail == "what followed the reply's end could not be read: ClientPayloadError"


@pytest.mark.parametrize("after", [None, 2])
def test_a_silent_connection_is_dead_after_the_idle_timeout(after):
    started = time.monotonic()
    with ScriptedServer(lambda _call: Hang(300.0, after_chunks=after)) as server:
        (fault,) = send(server.base, idle_timeout_s=0.2)
        assert time.monotonic() - started < 60.0
    assert (fault.kind, fault.detail) == (FaultKind.timeout, "silent for 0.2 s")
    assert fault.billable


def test_silence_is_counted_from_the_last_byte():
    # The reply takes longer in all than silence may last, and no pause in it is a tenth as long.
    started = time.monotonic()
    with ScriptedServer(lambda _call: Say("0123456789" * 3, chunks=30, pace_s=0.1)) as server:
        (reply,) = send(server.base, idle_timeout_s=2.0)
    assert reply.text == "0123456789" * 3
    assert time.monotonic() - started > 2.0


def test_a_try_ends_when_it_takes_too_long_in_all():
    with ScriptedServer(lambda _call: Say("0123456789", chunks=10, pace_s=0.1)) as server:
        (fault,) = send(server.base, total_timeout_s=0.5)
    assert (fault.kind, fault.detail) == (FaultKind.timeout, "not done within 0.5 s")


def test_a_port_that_nobody_listens_on_is_no_connection():
    (fault,) = send("http://127.0.0.1:9/v1")
    assert fault.kind is FaultKind.connect
    assert not fault.billable


def test_a_host_that_does_not_answer_is_no_connection():
    with socket.socket() as full:  # a backlog of nothing, already taken: the kernel ignores the next
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        with socket.create_connection(address), socket.socket() as second:
            second.settimeout(0.0)
            second.connect_ex(address)
            (fault,) = send(f"http://127.0.0.1:{address[1]}/v1", connect_timeout_s=0.3)
    assert (fault.kind, fault.detail) == (FaultKind.connect, "no connection within 0.3 s")


@pytest.mark.parametrize("base", ["127.0.0.1:9/v1", "ftp://127.0.0.1/v1", "http://"])
def test_an_address_that_is_none_is_a_fault_of_the_request(base):
    (fault,) = send(base)
    assert fault.kind is FaultKind.parameter
    assert fault.detail.startswith("api_base is not an address: ")


def test_an_error_brings_its_message_code_and_pause():
    answer = Status(429, "slow down", retry_after="7", error={"code": "rate_limit_exceeded"})
    with ScriptedServer(lambda _call: answer) as server:
        (fault,) = send(server.base)
    assert (fault.outcome, fault.detail, fault.code, fault.retry_after) == (
        "http 429",
        "slow down",
        "rate_limit_exceeded",
        7.0,
    )


def test_an_error_without_json_keeps_its_text():
    with ScriptedServer(lambda _call: Raw(b"<h1>Bad gateway \xff</h1>", "text/html", 502)) as server:
        (fault,) = send(server.base)
    assert (fault.outcome, fault.detail) == ("http 502", "<h1>Bad gateway \ufffd</h1>")


def test_a_reply_is_read_by_what_it_is_not_by_what_was_asked_for():
    with ScriptedServer(lambda _call: sse(data(content="streamed"), "", data(finish="stop"), "")) as server:
        (reply,) = send(server.base, a_request(base=server.base))
        assert reply.text == "streamed"
    whole = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    with ScriptedServer(lambda _call: Raw(json.dumps(whole).encode())) as server:
        (reply,) = send(server.base)
        assert reply.text == "whole"


def test_a_huge_packet_and_a_huge_reply_go_through():
    packet, text = "packet \u00e9" * 400_000, "word " * 1_000_000
    with ScriptedServer(lambda _call: Say(text)) as server:
        replies = send(server.base, a_request(packet, server.base, **STREAM), a_request(packet, server.base))
        assert server.calls[0].prompt == packet
    assert [reply.text == text for reply in replies] == [True, True]


def test_a_reply_that_does_not_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(send_openai, "_MAX_BODY_BYTES", 1 << 20)
    monkeypatch.setattr(send_openai, "_MAX_LINE_BYTES", 1 << 20)
    text = "x" * (3 << 20)
    with ScriptedServer(lambda _call: Say(text)) as server:
        streamed, whole = send(
            server.base, a_request(base=server.base, **STREAM), a_request(base=server.base)
        )
    assert (streamed.kind, streamed.detail) == (FaultKind.reply, "a line of more than 1 MB")
    assert (whole.kind, whole.detail) == (FaultKind.reply, "more than 1 MB")


def test_a_connection_is_used_again():
    with ScriptedServer(lambda _call: Say("ok", chunks=3)) as server:
        requests = [a_request(f"p {n}", server.base, **(STREAM if n % 2 else {})) for n in range(6)]
        assert [reply.text for reply in send(server.base, *requests)] == ["ok"] * 6
        assert server.connections == 1


def test_the_key_goes_with_the_request_and_not_to_where_it_is_sent_on():
    with ScriptedServer() as other, ScriptedServer() as server:
        server.redirect = f"{other.base}/chat/completions"
        (fault,) = send(server.base, key="sk-0123456789abcdef")
        assert server.calls[0].headers["authorization"] == "Bearer sk-0123456789abcdef"
        assert other.calls == []
    assert fault.outcome == "http 307"
    assert fault.detail == f"moved to {other.base}/chat/completions"


def test_a_fault_holds_nothing_that_holds_the_key():
    with ScriptedServer(lambda _call: Drop()) as server:
        faults = send(server.base, key="sk-0123456789abcdef") + send("http://127.0.0.1:9/v1", key="sk-0123")
    for fault in faults:
        assert fault.__context__ is None
        assert fault.__cause__ is None


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch):
    with ScriptedServer() as proxy, ScriptedServer() as server:
        monkeypatch.setenv("http_proxy", proxy.base.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        (direct,) = send(server.base)
        (proxied,) = send("http://models.example/v1")
        assert (direct.text, proxied.text) == ("ok", "ok")
        assert len(server.calls) == len(proxy.calls) == 1
        assert proxy.calls[0].headers["host"] == "models.example"
        monkeypatch.setenv("no_proxy", "models.example")
        (fault,) = send("http://models.example/v1")
        assert len(proxy.calls) == 1
    assert fault.kind is FaultKind.connect


def test_a_dead_peer_is_looked_for_while_a_model_thinks():
    opened = send_openai._keepalive_socket(
        (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 9))
    )
    with opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
