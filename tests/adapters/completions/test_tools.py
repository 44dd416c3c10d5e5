"""Tool calls and images through senders, client and store, against servers on loopback."""

import asyncio
import base64
import dataclasses
import json

import pytest

from flows.adapters.completions.faults import Fault
from flows.adapters.completions.senders.send_litellm import LiteLLMSender
from flows.adapters.completions.senders.send_openai import OpenAISender
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.digests import sha256_text
from flows.common.errors import ConfigError
from flows.schema.completion import CompletionStatus, Message, Request, ToolCall, Usage
from flows.schema.settings import Transport
from tests.adapters.completions.helpers import (
    LIST,
    PNG,
    READ,
    RUNNER,
    TOOLS,
    a_model,
    a_request,
    a_whole_chat,
    ask,
    segments,
)
from tests.adapters.completions.tool_replies import (
    THOUGHT,
    USAGE,
    anthropic_asks,
    gemini_asks,
    openai_asks,
)
from tests.support.scripted_server import Raw, Say, ScriptedServer, Status

# litellm's own use of pydantic warns, and litellm turns a warning that is an error into a broken reply.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the '.*' attribute on the instance:DeprecationWarning"),
]

STREAM = {"stream": True, "stream_options": {"include_usage": True}}
CODED = base64.b64encode(PNG.data).decode()


def exchange(sender, answer, request):
    """What a sender makes of one request to a server that gives `answer`, and the body that came."""

    async def main(base):
        opened = sender(RUNNER)
        try:
            return await opened.send(dataclasses.replace(request, api_base=base), "a-key-of-nobody")
        except Fault as fault:
            return fault
        finally:
            await opened.aclose()

    with ScriptedServer(lambda _call: answer) as server:
        reply = asyncio.run(main(server.base))
        return reply, server.calls[0].body


def a_chat(reply, *, model="m", transport="litellm", **parameters):
    """The request after a reply with two calls: both are answered, the second with an image."""
    first, second = reply.tool_calls
    return Request(
        transport=transport,
        model=model,
        api_base=None,
        messages=(
            Message("user", "Write."),
            Message("assistant", reply.text, tool_calls=reply.tool_calls, carried=reply.carried),
            Message("tool", "a", tool_call_id=first.call_id),
            Message("tool", "a page", images=(PNG,), tool_call_id=second.call_id),
        ),
        parameters={"tools": TOOLS, **parameters},
        seed=1,
    )


def begin(model="m", **parameters):
    return a_request(transport="litellm", model=model, tools=TOOLS, **parameters)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("sender", "model"), [(OpenAISender, "m"), (LiteLLMSender, "openai/m"), (LiteLLMSender, "hosted_vllm/m")]
)
def test_a_tool_call_comes_and_goes_back_over_openais_protocol(sender, model, streamed):
    answer = openai_asks(streamed=streamed, reasoning_content="hm")
    parameters = {"tool_choice": "auto", **(STREAM if streamed else {})}
    reply, body = exchange(sender, answer, begin(model, **parameters))
    assert (body["tools"], body["tool_choice"]) == (TOOLS, "auto")
    assert (reply.status, reply.text, reply.tool_calls) == (CompletionStatus.complete, "", (LIST, READ))
    assert (reply.finish_reason, reply.carried) == ("tool_calls", {"reasoning_content": "hm"})
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 6)

    done = Say("done", usage=USAGE)
    reply, body = exchange(sender, done, a_chat(reply, model=model, **parameters))
    assert (reply.status, reply.text, reply.tool_calls) == (CompletionStatus.complete, "done", ())
    asked, first, second, shown = body["messages"][1:]
    assert asked["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "list_files", "arguments": "{}"}},
        {"id": "c2", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}},
    ]
    assert (asked.get("content"), asked["reasoning_content"]) == (None, "hm")
    assert [first, second] == [
        {"role": "tool", "tool_call_id": "c1", "content": "a"},
        {"role": "tool", "tool_call_id": "c2", "content": "a page"},
    ]
    assert shown == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Image 1 of 1 from tool call c2 (read):"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{CODED}"}},
        ],
    }


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("sender", [OpenAISender, LiteLLMSender])
@pytest.mark.parametrize(
    ("finish", "status", "calls"),
    [("stop", "complete", 2), ("length", "cut", 2), ("content_filter", "refused", 0)],
)
def test_the_finish_reason_beside_calls_decides(sender, streamed, finish, status, calls):
    answer = openai_asks(streamed=streamed, finish=finish)
    reply, _ = exchange(sender, answer, begin("openai/m", **(STREAM if streamed else {})))
    assert (reply.status.value, len(reply.tool_calls)) == (status, calls)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_signed_thinking_goes_back_to_anthropic_as_it_came(streamed):
    parameters = {"reasoning_effort": "medium", "max_tokens": 5000, **(STREAM if streamed else {})}
    model = "anthropic/claude-opus-5-5"
    answer = anthropic_asks(streamed=streamed)
    reply, body = exchange(LiteLLMSender, answer, begin(model, **parameters))
    assert [tool["name"] for tool in body["tools"]] == ["list_files", "read"]
    assert (reply.status, reply.text) == (CompletionStatus.complete, "I look.")
    assert reply.tool_calls == (LIST, READ)
    assert [block["type"] for block in reply.carried["thinking_blocks"]] == ["thinking", "redacted_thinking"]

    _, body = exchange(LiteLLMSender, answer, a_chat(reply, model=model, **parameters))
    asked, answered = body["messages"][1:]
    assert asked["content"] == [
        *THOUGHT,
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "list_files", "input": {}},
        {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "a"}},
    ]
    assert answered["role"] == "user"
    assert answered["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "a page"},
        {"type": "text", "text": "Image 1 of 1 from tool call c2 (read):"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": CODED}},
    ]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_signatures_go_back_to_gemini_in_their_places(streamed):
    parameters = STREAM if streamed else {}
    model = "gemini/gemini-4-argon"
    answer = gemini_asks(streamed=streamed)
    reply, _ = exchange(LiteLLMSender, answer, begin(model, **parameters))
    assert (reply.status, reply.text) == (CompletionStatus.complete, "I look.")
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("list_files", "{}"),
        ("read", '{"path": "a"}'),
    ]
    assert [len(call.call_id) for call in reply.tool_calls] == [33, 33]  # made by litellm, no signature in it
    assert reply.carried["tool_calls"] == [{"provider_specific_fields": {"thought_signature": "U0lH"}}, {}]

    _, body = exchange(LiteLLMSender, answer, a_chat(reply, model=model, **parameters))
    parts = [part for turn in body["contents"] for part in turn["parts"]]
    assert [part.get("thoughtSignature") for part in parts] == [None, "VEVYVA==", "U0lH", *[None] * 5]
    assert [part["function_call"]["args"] for part in parts if "function_call" in part] == [{}, {"path": "a"}]
    assert [part["inline_data"]["data"] for part in parts if "inline_data" in part] == [CODED]


def an_asker(base, **changes):
    return a_model(base, takes_images=True, takes_tools=True, **changes)


@pytest.mark.parametrize("parameters", [{}, STREAM], ids=["whole", "streamed"])
def test_a_chat_is_paid_for_once_and_comes_back_whole_from_the_store(tmp_path, parameters):
    answer = openai_asks(streamed=bool(parameters), reasoning_content="hm")
    with ScriptedServer(lambda _call: answer) as server:
        request = a_whole_chat(server.base, **parameters)
        (paid,) = ask(tmp_path, an_asker(server.base), request)
        (again,) = ask(tmp_path, an_asker(server.base), request)
        assert len(server.calls) == 1
    assert (paid.replayed, again.replayed) == (False, True)
    assert again.completion == paid.completion
    completion = paid.completion
    assert (completion.status, completion.text) == (CompletionStatus.complete, "")
    assert completion.tool_calls == (LIST, READ)
    assert completion.carried == {"reasoning_content": "hm"}
    assert completion.usage == Usage(5, 6)
    assert CompletionStore(tmp_path).request(request.key) == request


def test_ids_are_made_where_a_server_gives_none_and_are_the_same_on_replay(tmp_path):
    call = {"type": "function", "id": "", "function": {"name": "read", "arguments": "{}"}}
    body = {"choices": [{"message": {"tool_calls": [call, call]}, "finish_reason": "tool_calls"}]}
    with ScriptedServer(lambda _call: Raw(json.dumps(body).encode())) as server:
        request = a_request(base=server.base, tools=TOOLS)
        (paid,) = ask(tmp_path, an_asker(server.base), request)
        (again,) = ask(tmp_path, an_asker(server.base), request)
    expected = [sha256_text(f"{request.key} {number}")[:9] for number in (0, 1)]
    assert [call.call_id for call in paid.completion.tool_calls] == expected
    assert again.completion == paid.completion
    assert paid.completion.detail == "tool calls given an id, having none of their own: 2"


def test_a_fault_in_a_call_is_asked_again_a_bounded_number_of_times(tmp_path):
    nameless = {"id": "c1", "function": {"arguments": "{}"}}
    body = {"choices": [{"message": {"tool_calls": [nameless]}, "finish_reason": "tool_calls"}]}
    with ScriptedServer(lambda _call: Raw(json.dumps(body).encode())) as server:
        (end,) = ask(tmp_path, an_asker(server.base), a_request(base=server.base, tools=TOOLS))
        assert len(server.calls) == RUNNER.max_attempts == 3
    assert end.completion.status is CompletionStatus.error
    assert end.completion.detail == "bad reply: a tool call without a name"


def test_a_key_in_a_call_or_beside_it_is_taken_out(tmp_path, monkeypatch):
    key = "sk-planted-0123456789abcdef"
    monkeypatch.setenv("SCRIPTED_KEY", key)
    call = {"id": "c1", "function": {"name": "read", "arguments": json.dumps({"path": key})}}
    message = {"content": None, "tool_calls": [call], "reasoning_details": [{"text": f"{key} it is"}]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    with ScriptedServer(lambda _call: Raw(json.dumps(body).encode())) as server:
        model = an_asker(server.base, api_key_env="SCRIPTED_KEY")
        (end,) = ask(tmp_path, model, a_request(base=server.base, tools=TOOLS))
    assert end.completion.tool_calls == (ToolCall("c1", "read", '{"path": "[key]"}'),)
    assert end.completion.carried == {"reasoning_details": [{"text": "[key] it is"}]}
    assert end.completion.detail == "the provider's key was in the reply and was taken out"
    assert all(key.encode() not in file.read_bytes() for file in segments(tmp_path))


@pytest.mark.parametrize(
    ("changes", "found"),
    [({"takes_tools": False}, "it holds tools"), ({"takes_images": False}, "it holds images")],
)
def test_nothing_is_sent_to_a_model_that_does_not_take_it(tmp_path, changes, found):
    with ScriptedServer() as server:
        model = dataclasses.replace(an_asker(server.base), **changes)
        (end,) = ask(tmp_path, model, a_whole_chat(server.base))
        assert server.calls == []
    assert isinstance(end, ConfigError)
    assert found in end.found


def test_a_gguf_file_is_not_started_for_tools(tmp_path):
    place = str(tmp_path / "absent.gguf")
    request = a_request(base=place, transport="gguf", tools=TOOLS)
    (end,) = ask(tmp_path / "store", an_asker(place, transport=Transport.gguf), request)
    assert isinstance(end, ConfigError)
    assert end.found == "it holds tools, and a local GGUF file only accepts text"


def test_a_provider_that_refuses_tools_is_told_about_once(tmp_path):
    refusal = Status(400, "tools are not supported", error={"code": "unsupported_parameter"})
    with ScriptedServer(lambda _call: refusal) as server:
        (end,) = ask(tmp_path, an_asker(server.base), a_request(base=server.base, tools=TOOLS))
        assert len(server.calls) == 1
    assert "tools are not supported" in str(end)
