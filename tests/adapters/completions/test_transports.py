"""One table of replies and answers: what each is does not depend on the way that it comes."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from flows.adapters.completions.batches.results import read_results
from flows.adapters.completions.faults import Fault, RetryDecision, course
from flows.adapters.completions.senders.send_litellm import LiteLLMSender
from flows.adapters.completions.senders.send_openai import OpenAISender
from flows.schema.completion import Usage
from tests.adapters.completions.helpers import RUNNER, a_request
from tests.support.scripted_server import Raw, Say, ScriptedServer, Status, completion_body

# litellm's own use of pydantic warns, and litellm turns a warning that is an error into a broken reply.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the '.*' attribute on the instance:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

STREAM = {"stream": True, "stream_options": {"include_usage": True}}
WAYS = ["http", "http streamed", "litellm", "litellm streamed", "batch"]
THOUGHT = {"reasoning_content": "hm"}
TOOL = {
    "tool_calls": [{"id": "a", "index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}}]
}
NONE = Say(None, opens=None)  # no content at all, not even an empty one


def send(base, way):
    """What the sender makes of one request: a reply or a fault."""

    async def main():
        lite = way.startswith("litellm")
        sender = (LiteLLMSender if lite else OpenAISender)(RUNNER)
        name = {"transport": "litellm", "model": "openai/m"} if lite else {"model": "m"}
        request = a_request(base=base, **name, **(STREAM if "streamed" in way else {}))
        try:
            return await sender.send(request, "sk-planted-0123456789abcdef")
        except Fault as fault:
            return fault
        finally:
            await sender.aclose()

    return asyncio.run(main())


def bring(answer, way):
    """What comes of `answer` on that way."""
    if way != "batch":
        with ScriptedServer(lambda _call: answer) as server:
            found = send(server.base, way)
        assert len(server.calls) == 1
        return found
    sent = SimpleNamespace(body={"model": "m", "messages": [{"content": "a b"}]})
    line = {"custom_id": "k", "response": {"status_code": 200, "body": completion_body(sent, answer)}}
    return read_results([json.dumps(line).encode()], {"k"}).outcomes["k"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("say", "what", "text", "fragment"),
    [
        (Say("whole"), "complete", "whole", ""),
        (Say(""), "complete", "", ""),
        (NONE, "no content", None, ""),
        (Say(None, message=THOUGHT), "no content", None, ""),
        (Say("<think>hm</think>"), "no content", None, ""),
        (Say(None, message=TOOL), "no content", None, ""),
        (Say(None, message=TOOL, finish="tool_calls"), "no content", None, ""),
        (Say("half", message=TOOL), "partial", None, "half"),
        (Say("half", finish="length"), "cut", "half", ""),
        (Say(None, finish="length"), "cut", "", ""),
        (Say(None, finish="length", message=THOUGHT), "cut", "", ""),
        (Say("half", finish="content_filter"), "refused", None, "half"),
        (Say(None, finish="content_filter"), "refused", None, ""),
        (Say("half", finish=None), "partial", None, "half"),
        (Say("half", finish=None, done=False), "partial", None, "half"),
        (Say("half", finish=""), "partial", None, "half"),
        (Say("half", finish="odd"), "partial", None, "half"),
        (Say("half", finish="error"), "partial", None, "half"),
        (Say(None, finish=None), "no content", None, ""),
        (Say(None, finish="odd"), "no content", None, ""),
        (Say("<think>hm</think>\n\nText"), "complete", "Text", ""),
        (Say("hm\n</think>\n\nText"), "complete", "Text", ""),
    ],
    ids=str,
)
def test_a_reply_is_what_it_is_on_every_way(way, say, what, text, fragment):
    found = bring(say, way)
    if what == "no content":
        assert isinstance(found, Fault), found.status
        assert (found.outcome, course(found, served=True), found.billable) == (
            what,
            RetryDecision.retry,
            True,
        )
        assert found.usage is not None
        assert found.usage.input_tokens is not None
        assert found.raw
    else:
        assert (found.status.value, found.text, found.fragment) == (what, text, fragment)
        assert found.finish_reason == (say.finish or None)
        assert bool(found.raw) == (what in ("partial", "refused"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, Usage()),
        ("junk", Usage()),
        ({"prompt_tokens": 10**30, "completion_tokens": 1e30}, Usage()),
        ({"prompt_tokens": float("nan"), "completion_tokens": 4, "total_tokens": 4}, Usage(None, 4)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, Usage(3, 4)),
    ],
    ids=str,
)
def test_odd_counts_cost_no_text(way, usage, read):
    found = bring(Say("whole \ud800", usage=usage), way)
    assert (found.status.value, found.text) == ("complete", "whole \ufffd")
    # litellm drops a stream's count as a whole where it can't read a part of it.
    assert found.usage == read or (way == "litellm streamed" and found.usage == Usage())


@pytest.mark.parametrize("way", WAYS[:4])
@pytest.mark.parametrize(
    ("answer", "follows"),
    [
        (Status(400), RetryDecision.failed),
        (Status(401), RetryDecision.fatal),
        (Status(402), RetryDecision.fatal),
        (Status(404), RetryDecision.fatal),
        (Status(408), RetryDecision.retry),
        (Status(409), RetryDecision.retry),
        (Status(413), RetryDecision.failed),
        (Status(422), RetryDecision.failed),
        (Status(429), RetryDecision.wait),
        (Status(500), RetryDecision.retry),
        (Status(503), RetryDecision.retry),
        (Status(529), RetryDecision.retry),
        (Raw(b"<html>", "text/html"), RetryDecision.retry),
        (Raw(b'{"choices": [{"mess'), RetryDecision.retry),
        (Raw(b'{"choices": []}'), RetryDecision.retry),
        (Raw(b"[1]"), RetryDecision.retry),
        (Raw(b""), RetryDecision.retry),
    ],
    ids=str,
)
def test_an_answer_without_a_reply_is_followed_alike(way, answer, follows):
    found = bring(answer, way)
    assert isinstance(found, Fault)
    assert course(found, served=False) is follows
    if isinstance(answer, Status):
        assert found.outcome == f"http {answer.code}"


@pytest.mark.parametrize("way", WAYS[:4])
@pytest.mark.parametrize("same_host", [False, True])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(way, same_host, status):
    with ScriptedServer() as other, ScriptedServer() as server:
        server.redirect = f"{server.base if same_host else other.base}/elsewhere"
        server.redirect_status = status
        found = send(server.base, way)
        assert (found.outcome, course(found, served=True)) == (f"http {status}", RetryDecision.fatal)
        assert f"moved to {server.redirect}" in found.detail
        assert (len(server.calls), len(other.calls)) == (1, 0)
