"""Turns with tool calls and images in the protocol's form, and what is refused before it is sent."""

import base64
import dataclasses
import json

import pytest

from flows.adapters.completions.senders.turns import chat_messages, check_request
from flows.common.errors import ConfigError
from flows.schema.completion import Image, Message, ToolCall
from flows.schema.settings import Transport
from tests.adapters.completions.helpers import a_model, a_request

PNG, JPEG = Image("image/png", b"a page"), Image("image/jpeg", b"a photo")
LIST = ToolCall("c1", "list_files", "{}")
READ = ToolCall("c2", "read", '{"path": "a"}')
TOOLS = [{"type": "function", "function": {"name": "list_files", "parameters": {"type": "object"}}}]


def shown(image):
    coded = base64.b64encode(image.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{image.media};base64,{coded}"}}


def test_text_alone_is_sent_as_it_always_was():
    turns = [Message("system", "s"), Message("user", "u"), Message("assistant", ""), Message("user", "")]
    assert chat_messages(turns) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": ""},
    ]


def test_images_of_a_users_turn_follow_its_text():
    text = {"type": "text", "text": "look"}
    assert chat_messages(
        [Message("user", "look", images=(PNG, JPEG)), Message("user", "", images=(PNG,))]
    ) == [
        {"role": "user", "content": [text, shown(PNG), shown(JPEG)]},
        {"role": "user", "content": [shown(PNG)]},
    ]
    assert shown(PNG)["image_url"]["url"] == "data:image/png;base64,YSBwYWdl"


def test_calls_and_their_answers():
    turns = [
        Message("assistant", "", tool_calls=(LIST, READ), carried={"reasoning_content": "hm"}),
        Message("tool", "a\nb", tool_call_id="c1"),
        Message("tool", "", tool_call_id="c2"),
        Message("assistant", "done"),
    ]
    assert chat_messages(turns) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "list_files", "arguments": "{}"}},
                {"id": "c2", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}},
            ],
            "reasoning_content": "hm",
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a\nb"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "assistant", "content": "done"},
    ]


@pytest.mark.parametrize("after", [[], [Message("user", "go on")], [Message("assistant", "ok")]])
def test_images_of_tools_follow_the_last_answer_under_the_name_of_their_call(after):
    turns = [
        Message("assistant", "I look.", tool_calls=(LIST, READ)),
        Message("tool", "pages 1 and 2", images=(PNG, JPEG), tool_call_id="c1"),
        Message("tool", "a page", images=(JPEG,), tool_call_id="c2"),
    ]
    sent = chat_messages([*turns, *after])
    assert [turn["role"] for turn in sent] == [
        "assistant",
        "tool",
        "tool",
        "user",
        *(turn.role for turn in after),
    ]
    assert [turn["content"] for turn in sent[:3]] == ["I look.", "pages 1 and 2", "a page"]
    assert sent[3]["content"] == [
        {"type": "text", "text": "Image 1 of 2 from tool call c1 (list_files):"},
        shown(PNG),
        {"type": "text", "text": "Image 2 of 2 from tool call c1 (list_files):"},
        shown(JPEG),
        {"type": "text", "text": "Image 1 of 1 from tool call c2 (read):"},
        shown(JPEG),
    ]


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a":', {"malformed": '{"a":'}),
        ("[1]", {"malformed": "[1]"}),
        ("", {"malformed": ""}),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_what_servers_would_refuse_the_chat_for_goes_back_in_a_form_that_they_take(arguments, sent):
    call = ToolCall("c1", "functions.read<|channel|>" + "x" * 60, arguments)
    (turn,) = chat_messages([Message("assistant", "", tool_calls=(call,))])
    function = turn["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == sent
    assert function["name"] == "functions_read__channel__" + "x" * 39
    assert len(function["name"]) == 64


def test_fields_of_calls_go_back_in_their_place():
    carried = {"tool_calls": [{}, {"extra_content": {"google": {"thought_signature": "SIG"}}}]}
    (turn,) = chat_messages([Message("assistant", "", tool_calls=(LIST, READ), carried=carried)])
    assert [call.get("extra_content") for call in turn["tool_calls"]] == [
        None,
        {"google": {"thought_signature": "SIG"}},
    ]
    assert set(turn) == {"role", "content", "tool_calls"}


ASKS = Message("assistant", "", tool_calls=(LIST, READ))
FIRST, SECOND = (Message("tool", "x", tool_call_id=name) for name in ("c1", "c2"))


@pytest.mark.parametrize(
    ("turns", "found"),
    [
        ([ASKS], "no answer to tool call c1, c2"),
        ([ASKS, FIRST, Message("user", "u"), SECOND], "no answer to tool call c2"),
        ([ASKS, FIRST, FIRST], "turn 3 (tool): nothing asks for 'c1' before it"),
        ([FIRST], "turn 1 (tool): nothing asks for 'c1' before it"),
        ([Message("tool", "x")], "turn 1 (tool): tool_call_id is None"),
        ([Message("user", "x", tool_call_id="c1")], "turn 1 (user): tool_call_id is 'c1'"),
        ([Message("system", "x", images=(PNG,))], "turn 1 (system): it shows images"),
        ([Message("assistant", "x", images=(PNG,))], "turn 1 (assistant): it shows images"),
        ([Message("user", "x", tool_calls=(LIST,))], "turn 1 (user): it calls tools"),
        ([Message("user", "x", carried={"a": 1})], "turn 1 (user): it carries fields"),
        (
            [Message("assistant", "", tool_calls=(LIST, LIST))],
            "turn 1 (assistant): tool calls without ids of their own",
        ),
        (
            [Message("assistant", "", tool_calls=(LIST,), carried={"tool_calls": [{}, {}]})],
            "turn 1 (assistant): it carries fields of 2 tool calls, and has 1",
        ),
        (
            [Message("assistant", "x", carried={"tool_calls": [{}]})],
            "turn 1 (assistant): it carries fields of 1 tool calls, and has 0",
        ),
    ],
)
def test_what_is_not_where_the_protocol_has_it_is_refused(turns, found):
    request = dataclasses.replace(a_request(), messages=tuple(turns))
    model = a_model(request.api_base, takes_images=True, takes_tools=True)
    with pytest.raises(ConfigError) as caught:
        check_request(request, model, in_batch=False)
    assert caught.value.found == found


def test_a_chat_with_tools_and_images_passes():
    turns = (Message("user", "u", images=(PNG,)), ASKS, SECOND, FIRST, ASKS, FIRST, SECOND)
    request = dataclasses.replace(a_request(tools=TOOLS), messages=turns)
    model = a_model(request.api_base, takes_images=True, takes_tools=True)
    assert check_request(request, model, in_batch=False) is None


@pytest.mark.parametrize(
    ("changes", "parameters", "turn", "found"),
    [
        ({}, {"tools": TOOLS}, Message("user", "u"), "it holds tools, and takes_tools is not set"),
        (
            {"takes_tools": True},
            {},
            Message("user", "u", images=(PNG,)),
            "it holds images, and takes_images is not set",
        ),
        (
            {"takes_images": True, "transport": Transport.gguf},
            {},
            Message("user", "u", images=(PNG,)),
            "it holds images, and a local GGUF file only accepts text",
        ),
        (
            {"takes_tools": True, "transport": Transport.gguf},
            {"tools": TOOLS},
            Message("user", "u"),
            "it holds tools, and a local GGUF file only accepts text",
        ),
    ],
)
def test_what_a_model_does_not_take_is_refused(changes, parameters, turn, found):
    transport = changes.get("transport", Transport.openai_http).value
    request = dataclasses.replace(a_request(transport=transport, **parameters), messages=(turn,))
    with pytest.raises(ConfigError) as caught:
        check_request(request, a_model(request.api_base, **changes), in_batch=False)
    assert caught.value.found == found


def test_tools_are_refused_in_a_batch():
    request = a_request(tools=TOOLS)
    with pytest.raises(ConfigError, match="each turn would wait for a batch"):
        check_request(request, a_model(request.api_base, takes_tools=True), in_batch=True)
