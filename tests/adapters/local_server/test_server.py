"""The server's protocol, with an engine that knows two words: asked directly, and as a process."""

import asyncio
import dataclasses
import json

import pytest

from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.senders import send_gguf
from flows.adapters.completions.senders.send_gguf import GGUFSender
from flows.adapters.local_server.find import EngineError
from flows.adapters.local_server.server import answer, read_request
from flows.schema.completion import CompletionStatus, Usage
from tests.adapters.completions.helpers import RUNNER, a_request
from tests.adapters.local_server.two_words import TwoWords

STREAM = {"stream": True, "stream_options": {"include_usage": True}}
SLOW = dataclasses.replace(RUNNER, total_timeout_s=100.0)


def ask(engine, **fields):
    """What the server answers to three words and the system's five."""
    messages = [
        {"role": "system", "content": "You are a staff officer."},
        {"role": "user", "content": "a b c"},
    ]
    return answer(engine, json.dumps({"messages": messages, **fields}).encode())


@pytest.fixture
def send(monkeypatch):
    """What a sender makes of each request's fields, one after the other, of the file that is named."""
    monkeypatch.setattr(send_gguf, "_SERVER", "tests.adapters.local_server.two_words")

    def sent(place, *bodies, runner=SLOW, at_once=False):
        async def main():
            sender = GGUFSender(runner)
            calls = [
                sender.send(
                    dataclasses.replace(a_request("three words here", place), parameters=fields), None
                )
                for fields in bodies
            ]
            try:
                if at_once:
                    return await asyncio.gather(*calls, return_exceptions=True)
                return [(await asyncio.gather(call, return_exceptions=True))[0] for call in calls]
            finally:
                await sender.aclose()

        return asyncio.run(main())

    return sent


@pytest.mark.parametrize("how", [{}, STREAM])
def test_a_reply_is_cut_at_its_limit(how):
    # The prompt is "You are a staff officer." and three words more: 8 of 10 tokens.
    engine = TwoWords()
    reply = ask(engine, max_tokens=1, seed=3, temperature=0.2, top_p=0.9, **how)
    assert reply["choices"][0]["message"]["content"] == "café "
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"] == {"prompt_tokens": 8, "completion_tokens": 1, "total_tokens": 9}
    prompt, limit, sampling = engine.asked[0]
    assert (prompt, limit) == (8, 1)
    assert (sampling.temperature, sampling.top_p, sampling.seed) == (0.2, 0.9, 3)


def test_without_a_limit_it_writes_until_it_ends():
    engine = TwoWords(context_tokens=100)
    reply = ask(engine)
    assert reply["choices"][0]["message"]["content"] == "café au lait"
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert engine.asked[0][1] == 92


def test_a_model_that_breaks_gives_no_half_reply():
    assert ask(TwoWords(breaks_after=1), max_tokens=2) == {
        "error": {"message": "broke", "code": "server_error"}
    }


def test_a_process_answers_calls_in_turn(send):
    cut, fault, unknown, again = send(
        "file.gguf", {"max_tokens": 2, **STREAM}, {"max_tokens": 3}, {"reasoning_effort": "high"},
        {"max_tokens": 1}, at_once=True,
    )  # fmt: skip
    assert (cut.status, cut.text, cut.usage) == (CompletionStatus.cut, "café ", Usage(8, 2))
    assert cut.provider_model == "two-words.gguf@sha256:0"
    assert (fault.status, fault.code) == (400, "context_length_exceeded")
    assert fault.detail == "8 and 3 do not fit"
    assert course(fault, served=False) is RetryDecision.failed
    assert (unknown.status, unknown.code) == (400, "unsupported_parameter")
    assert unknown.detail.startswith("reasoning_effort: ")
    assert course(unknown, served=True) is RetryDecision.fatal
    assert again.usage == Usage(8, 1)


def test_a_process_that_dies_is_a_broken_connection_and_is_started_again(send):
    for fault in send("dies", {"max_tokens": 1}, {"max_tokens": 1}):
        assert (fault.kind, fault.detail) == (FaultKind.connection, "its server ended: a last word")
        assert course(fault, served=True) is RetryDecision.retry


def test_a_reply_that_takes_too_long_is_given_up(send):
    (fault,) = send("hangs", {"max_tokens": 1}, runner=dataclasses.replace(RUNNER, total_timeout_s=0.5))
    assert (fault.kind, fault.detail) == (FaultKind.timeout, "not done within 0.5 s")


def test_a_file_that_can_not_be_loaded_is_for_a_person_to_fix(send):
    (fault,) = send("broken", {})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.detail) == (FaultKind.parameter, "broken: llama.cpp can't load it")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"no", "Invalid JSON"),
        (b"[]", "object"),
        (b'{"messages": []}', "messages"),
        (b'{"messages": [{"role": "user"}]}', "messages.0.content"),
        (
            b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}',
            "messages.0.content",
        ),
        (b'{"messages": [{"role": "user", "content": "a"}], "max_tokens": 0}', "max_tokens"),
        (b'{"messages": [{"role": "user", "content": "a"}], "temperature": -1}', "temperature"),
        (b'{"messages": [{"role": "user", "content": "a"}], "top_p": 0}', "top_p"),
        (b'{"messages": [{"role": "user", "content": "a"}], "seed": "1"}', "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(body, says):
    with pytest.raises(EngineError) as caught:
        read_request(body)
    assert says in str(caught.value)
    assert caught.value.code == "invalid_request_error"


def test_what_is_left_out_is_the_protocols_default():
    asked = read_request(b'{"messages": [{"role": "user", "content": "a"}]}')
    assert (asked.max_tokens, asked.temperature, asked.top_p, asked.seed) == (None, 1, 1, 0)
