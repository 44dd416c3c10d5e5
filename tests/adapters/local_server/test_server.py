"""The server's protocol, with an engine that knows two words, asked through the sender of every endpoint."""

import asyncio
import dataclasses

import aiohttp
import pytest
from aiohttp import web

from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.send_openai import OpenAISender
from flows.adapters.local_server.find import EngineError
from flows.adapters.local_server.server import ChatServer, read_request
from flows.schema.completion import CompletionStatus, Usage
from tests.adapters.completions.helpers import RUNNER, a_request

STREAM = {"stream": True, "stream_options": {"include_usage": True}}


class TwoWords:
    """An engine: a word is a token, ten fit, and it says "café au lait" and ends."""

    name = "two-words.gguf@sha256:0"
    context_tokens = 10

    def __init__(self, breaks_after=99):
        self.breaks_after = breaks_after
        self.asked = []
        self.open = 0

    def read_messages(self, messages):
        return [0] * sum(len(content.split()) for _, content in messages)

    def check_fit(self, prompt_tokens, max_tokens):
        if prompt_tokens + max_tokens > self.context_tokens:
            raise EngineError(f"{prompt_tokens} and {max_tokens} do not fit", "context_length_exceeded")

    def write(self, prompt, max_tokens, sampling):
        self.asked.append((len(prompt), max_tokens, sampling))
        self.open += 1
        try:
            for number, word in enumerate(["café ", "", "au ", "lait"][:max_tokens]):
                if number == self.breaks_after:
                    raise EngineError("broke", "server_error")
                yield word, False
            yield "", max_tokens > 4
        finally:
            self.open -= 1


def ask(engine, *bodies):
    """What a sender makes of each body's fields, one after the other."""

    async def main():
        runner = web.AppRunner(ChatServer(engine).application())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        sender = OpenAISender(RUNNER)
        ends = []
        for fields in bodies:
            try:
                request = dataclasses.replace(a_request("three words here", base), parameters=fields)
                ends.append(await sender.send(request, None))
            except Fault as fault:
                ends.append(fault)
        await sender.aclose()
        await runner.cleanup()
        return ends

    return asyncio.run(main())


@pytest.mark.parametrize("how", [{}, STREAM])
def test_a_reply_comes_whole_or_in_pieces(how):
    # The prompt is "You are a staff officer." and three words more: 8 of 10 tokens.
    engine = TwoWords()
    (cut,) = ask(engine, {"max_tokens": 1, "seed": 3, "temperature": 0.2, "top_p": 0.9, **how})
    assert (cut.status, cut.text) == (CompletionStatus.cut, "café ")
    assert cut.usage == Usage(8, 1)
    assert cut.provider_model == "two-words.gguf@sha256:0"
    prompt, limit, sampling = engine.asked[0]
    assert (prompt, limit) == (8, 1)
    assert (sampling.temperature, sampling.top_p, sampling.seed) == (0.2, 0.9, 3)


@pytest.mark.parametrize("how", [{}, STREAM])
def test_without_a_limit_it_writes_until_it_ends(how):
    engine = TwoWords()
    engine.context_tokens = 100
    (reply,) = ask(engine, how)
    assert (reply.status, reply.text) == (CompletionStatus.complete, "café au lait")
    assert reply.usage == Usage(8, 4)
    assert engine.asked[0][1] == 92


def test_what_does_not_fit_is_refused_and_nothing_is_written():
    engine = TwoWords()
    (fault,) = ask(engine, {"max_tokens": 3, **STREAM})
    assert (fault.status, fault.code) == (400, "context_length_exceeded")
    assert fault.detail == "8 and 3 do not fit"
    assert course(fault, served=False) is RetryDecision.failed
    assert engine.asked == []


def test_a_field_that_it_does_not_know_is_refused_for_all_calls():
    (fault,) = ask(TwoWords(), {"reasoning_effort": "high"})
    assert (fault.status, fault.code) == (400, "unsupported_parameter")
    assert fault.detail.startswith("reasoning_effort: ")
    assert course(fault, served=True) is RetryDecision.fatal


@pytest.mark.parametrize("how", [{}, STREAM])
def test_a_model_that_breaks_gives_no_half_reply(how):
    engine = TwoWords(breaks_after=1)
    (fault,) = ask(engine, {"max_tokens": 2, **how})
    assert fault.kind in (FaultKind.status, FaultKind.reply)
    assert "broke" in fault.detail
    assert course(fault, served=True) is RetryDecision.retry
    assert engine.open == 0


def test_it_stops_writing_when_nobody_listens():
    engine = TwoWords()
    engine.context_tokens = 10**9
    engine.write = lambda *_: endless(engine)

    async def main():
        runner = web.AppRunner(ChatServer(engine).application())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/chat/completions"
        body = {"messages": [{"role": "user", "content": "go on"}], "stream": True}
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
            await response.content.readany()
            assert engine.open == 1
        for _ in range(200):
            if engine.open == 0:
                break
            await asyncio.sleep(0.02)
        await runner.cleanup()
        return engine.open

    assert asyncio.run(main()) == 0


def endless(engine):
    engine.open += 1
    try:
        while True:
            yield "more ", False
    finally:
        engine.open -= 1


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
    assert not asked.stream
    assert not asked.stream_options.include_usage
