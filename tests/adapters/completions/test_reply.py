import json

import pytest

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.completions.senders.fields import clean, load_json
from flows.adapters.completions.senders.reply import StreamedReply, read_completion, read_usage
from flows.schema.completion import CompletionStatus, Usage


def a_reply(content="text", finish="stop", **message):
    return {
        "model": "m-1",
        "choices": [{"message": {"content": content, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }


def a_chunk(finish=None, **delta):
    return {"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("finish", "status", "text", "detail"),
    [
        ("stop", "complete", "text", ""),
        ("end_turn", "complete", "text", ""),
        ("length", "cut", "text", ""),
        ("max_tokens", "cut", "text", ""),
        ("content_filter", "refused", None, "stopped by the content filter after 4 characters"),
        ("tool_calls", "partial", None, "finish reason 'tool_calls', after 4 characters"),
        ("function_call", "partial", None, "finish reason 'function_call', after 4 characters"),
        ("network_error", "partial", None, "finish reason 'network_error', after 4 characters"),
        (7, "partial", None, "finish reason '7', after 4 characters"),
        ("", "partial", None, "no finish reason, after 4 characters"),
        (None, "partial", None, "no finish reason, after 4 characters"),
    ],
)
def test_the_finish_reason_decides(finish, status, text, detail):
    reply = read_completion(a_reply(finish=finish))
    word = None if not finish else str(finish)
    assert (reply.status, reply.text, reply.finish_reason, reply.detail) == (status, text, word, detail)
    assert reply.fragment == ("" if text else "text")  # it was paid for
    assert (reply.provider_model, reply.usage) == ("m-1", Usage(7, 3))


def test_empty_is_not_refused_and_not_failed():
    reply = read_completion(a_reply(content=""))
    assert (reply.status, reply.text, reply.detail) == (CompletionStatus.complete, "", "")


def test_a_refusal_field_is_a_refusal_whatever_the_finish_reason():
    reply = read_completion(a_reply(content=None, refusal="I can't help with that."))
    assert (reply.status, reply.text) == (CompletionStatus.refused, None)
    assert reply.detail == "the model refused: I can't help with that."


def test_reasoning_is_no_part_of_the_text():
    assert read_completion(a_reply(reasoning_content="hmm")).text == "text"
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]},
        {"type": "text", "text": "one "},
        {"type": "text", "text": "two"},
    ]
    assert read_completion(a_reply(content=parts)).text == "one two"


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ([], "the reply is list, not an object"),
        ("text", "the reply is str, not an object"),
        ({}, "no choices in the reply"),
        ({"choices": []}, "no choices in the reply"),
        ({"choices": {}}, "the choices is dict, not a list"),
        ({"choices": [1]}, "the choice is int, not an object"),
        ({"choices": [{"finish_reason": "stop"}]}, "the message is NoneType, not an object"),
        (a_reply(content=5), "the content is int, not a list"),
        (a_reply(content=[{"type": "image_url"}]), "a part of the content is 'image_url', not text"),
        ({"error": {"message": "overloaded"}}, "an error inside the reply: overloaded"),
    ],
)
def test_what_is_no_completion_is_a_fault(payload, found):
    with pytest.raises(Fault) as caught:
        read_completion(payload)
    assert (caught.value.kind, caught.value.detail) == (FaultKind.reply, found)


def test_an_http_error_inside_a_reply_counts_as_that_error():
    with pytest.raises(Fault) as caught:
        read_completion({"error": {"code": 429, "message": "slow down"}})
    assert (caught.value.outcome, caught.value.detail) == ("http 429", "slow down")


def test_chunks_make_a_reply():
    streamed = StreamedReply()
    for chunk in (
        a_chunk(role="assistant", content=""),
        a_chunk(reasoning_content="hmm"),
        a_chunk(content="one "),
        a_chunk(content="two"),
        {"choices": [{"index": 1, "delta": {"content": "another choice"}, "finish_reason": "stop"}]},
    ):
        streamed.feed(chunk)
        assert not streamed.finished
    streamed.feed(a_chunk(finish="length"))
    assert streamed.finished
    streamed.feed({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}})
    reply = streamed.end()
    assert (reply.status, reply.text, reply.finish_reason) == (CompletionStatus.cut, "one two", "length")
    assert (reply.provider_model, reply.usage) == ("m-1", Usage(9, 4))


def test_a_streamed_refusal_is_joined():
    streamed = StreamedReply()
    for part in ("I can't ", "do that."):
        streamed.feed(a_chunk(refusal=part))
    streamed.feed(a_chunk(finish="stop"))
    reply = streamed.end()
    assert (reply.status, reply.detail) == (CompletionStatus.refused, "the model refused: I can't do that.")


def test_a_fault_keeps_what_came_and_its_count():
    payload = {**a_reply(content=None), "odd": "\ud800"}
    with pytest.raises(Fault) as caught:
        read_completion(payload)
    assert json.loads(caught.value.raw) == payload
    assert caught.value.raw.isascii()
    assert caught.value.usage == Usage(7, 3)


@pytest.mark.parametrize(
    ("text", "reasoning", "rest"),
    [
        ("<think>hm</think>\n\nThe brief.", "<think>hm</think>\n\n", "The brief."),
        ("\n<THINK>a</think> <think>b</think>Text", "\n<THINK>a</think> <think>b</think>", "Text"),
        ("<thinking>hm</thinking>Text", "<thinking>hm</thinking>", "Text"),
        ("so it is\n</think>\n\nText", "so it is\n</think>\n\n", "Text"),  # the template opened it
        ("<think>a</think> b </think>Text", "<think>a</think> b </think>", "Text"),
        ("Text with <think>no block</think> before it", "", "Text with <think>no block</think> before it"),
        ('{"reason": "says </think>"}', "", '{"reason": "says </think>"}'),
        ("<thinkers> met", "", "<thinkers> met"),
        ("", "", ""),
    ],
)
def test_reasoning_in_tags_is_no_part_of_the_text(text, reasoning, rest):
    reply = read_completion(a_reply(content=text))
    assert (reply.status, reply.text, reply.reasoning) == (CompletionStatus.complete, rest, reasoning)
    assert ("characters of reasoning in tags" in reply.detail) == bool(reasoning)


def test_reasoning_that_the_limit_stopped_is_a_text_without_words():
    reply = read_completion(a_reply(content="<think>so far", finish="length"))
    assert (reply.status, reply.text, reply.reasoning) == (CompletionStatus.cut, "", "<think>so far")


def test_an_error_in_mid_stream_is_a_fault():
    streamed = StreamedReply()
    streamed.feed(a_chunk(content="half"))
    with pytest.raises(Fault) as caught:
        streamed.feed({"error": {"code": 502, "message": "upstream"}, "choices": []})
    assert caught.value.outcome == "http 502"


def test_a_stream_that_does_not_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("flows.adapters.completions.senders.reply.MAX_TEXT_CHARS", 10)
    streamed = StreamedReply()
    streamed.feed(a_chunk(content="x" * 10))
    with pytest.raises(Fault, match="more than 10 characters"):
        streamed.feed(a_chunk(content="x"))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ([], Usage()),
        ({"prompt_tokens": None, "completion_tokens": -1}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": "3"}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 9,
                "completion_tokens_details": {"reasoning_tokens": 7},
                "prompt_tokens_details": {"cached_tokens": 3},
            },
            Usage(5, 9, 7, 3),
        ),
        ({"prompt_tokens": 5, "completion_tokens_details": None}, Usage(5)),
        ({"prompt_tokens": 1e30, "completion_tokens": 10**30}, Usage()),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
        ({"prompt_tokens": 5.0, "completion_tokens": 2.5}, Usage(5)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 9,
                "total_tokens": 21,  # what was thought stands beside the output, and costs as much
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            Usage(5, 16, 7),
        ),
    ],
)
def test_usage_is_what_the_provider_counted(usage, expected):
    assert read_usage(usage) == expected


def test_lone_surrogates_become_visible_and_pairs_are_joined():
    # As a server sends them: an escaped half of a pair, and a pair that two chunks tore apart.
    payload, note = load_json(b'{"choices":[{"message":{"content":"a\\ud800b"},"finish_reason":"stop"}]}')
    reply = read_completion(payload, note)
    assert (reply.text, reply.detail) == ("a\ufffdb", "1 lone surrogate replaced by U+FFFD")
    streamed = StreamedReply()
    for chunk in (b'"x\\ud83d"', b'"\\udea9 \\udc00"'):
        streamed.feed(*load_json(b'{"choices":[{"index":0,"delta":{"content":' + chunk + b"}}]}"))
    streamed.feed(a_chunk(finish="stop"))
    reply = streamed.end()
    assert (reply.text, reply.detail) == ("x\U0001f6a9 \ufffd", "1 lone surrogate replaced by U+FFFD")
    assert clean("plain \U0001f6a9") == ("plain \U0001f6a9", "")


def test_bytes_that_are_not_utf_8_are_replaced_and_noted():
    payload, note = load_json(b'{"a": "x\xffy"}')
    assert payload == {"a": "x\ufffdy"}
    assert note == "bytes that are not UTF-8 were replaced by U+FFFD"


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"half": ', b"[" * 100_000])
def test_what_is_not_json_is_a_fault(body):
    with pytest.raises(Fault, match="not JSON"):
        load_json(body)
