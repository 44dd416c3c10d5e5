"""Tool calls as endpoints send them, and what goes back with them."""

import pytest

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.completions.senders.calls import with_ids
from flows.adapters.completions.senders.reply import StreamedReply, read_completion
from flows.schema.completion import CompletionStatus, ToolCall

LIST = ToolCall("c1", "list_files", "{}")
READ = ToolCall("c2", "read", '{"path": "a"}')


def a_call(call, **further):
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function, **further}


def whole(*calls, finish="tool_calls", content=None, tools=True, **message):
    """What a whole reply with these calls is read as."""
    message = {"content": content, "tool_calls": list(calls), **message}
    return read_completion({"choices": [{"message": message, "finish_reason": finish}]}, tools=tools)


def streamed(*deltas, finish="tool_calls", tools=True):
    """What a reply in these pieces is read as."""
    reply = StreamedReply(tools=tools)
    for delta in deltas:
        reply.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reply.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return reply.end()


def a_piece(index=None, call_id=None, name=None, arguments=None):
    """A chunk with a piece of one call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {"index": index, "id": call_id, "function": function}
    return {"tool_calls": [{key: value for key, value in fields.items() if value is not None}]}


@pytest.mark.parametrize("finish", ["tool_calls", "function_call", "tool_use", "stop", "end_turn", "STOP"])
def test_calls_are_an_answer_and_no_content_is_an_empty_text(finish):
    reply = whole(a_call(LIST), a_call(READ), finish=finish)
    assert (reply.status, reply.text, reply.finish_reason) == (CompletionStatus.complete, "", finish)
    assert reply.tool_calls == (LIST, READ)
    assert (reply.carried, reply.detail) == ({}, "")
    assert whole(a_call(LIST), content="I look.").text == "I look."


def test_a_call_of_a_tool_that_nobody_offered_is_no_reply():
    for finish in ("stop", "tool_calls"):
        with pytest.raises(Fault, match="with a tool call that nobody offered, and no text") as caught:
            whole(a_call(LIST), finish=finish, tools=False)
        assert caught.value.kind is FaultKind.empty
    with pytest.raises(Fault, match="that nobody offered"):
        streamed(a_piece(0, "c1", "list_files"), tools=False)
    partial = whole(a_call(LIST), content="text", finish="stop", tools=False)
    assert (partial.status, partial.text, partial.fragment) == (CompletionStatus.partial, None, "text")
    plain = whole(finish="stop", content="text", tools=False, reasoning_content="hmm")
    assert (plain.text, plain.carried) == ("text", {})


@pytest.mark.parametrize("none", [[], None])
def test_no_calls_are_a_plain_reply(none):
    reply = read_completion(
        {"choices": [{"message": {"content": "done", "tool_calls": none}, "finish_reason": "stop"}]},
        tools=True,
    )
    assert (reply.status, reply.text, reply.tool_calls) == (CompletionStatus.complete, "done", ())
    delta = {"content": "done", "tool_calls": none}
    assert streamed(delta, finish="stop").tool_calls == ()


@pytest.mark.parametrize("read", [whole, streamed])
def test_a_reply_that_stopped_for_a_tool_and_names_none_is_a_fault(read):
    with pytest.raises(Fault, match="finish reason 'tool_calls' without a tool call") as caught:
        read()
    assert caught.value.kind is FaultKind.reply


def test_a_refusal_and_a_filter_keep_no_calls():
    for reply in (whole(a_call(LIST), finish="content_filter"), whole(a_call(LIST), refusal="no")):
        assert (reply.status, reply.text, reply.tool_calls) == (CompletionStatus.refused, None, ())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"path": "a"', '{"path": "a"'),  # malformed: as written
        ("not json", "not json"),
        ("[1]", "[1]"),
        ({"path": "é", "n": 1}, '{"path": "é", "n": 1}'),  # some servers send the object
        (["x"], '["x"]'),
        ("", "{}"),
        (None, "{}"),
        ('{"path": "\ud83d\udea9 \ud800"}', '{"path": "\U0001f6a9 \ufffd"}'),
    ],
)
def test_arguments_are_kept_as_written(arguments, expected):
    call = {"id": "c1", "function": {"name": "read", "arguments": arguments}}
    assert whole(call).tool_calls == (ToolCall("c1", "read", expected),)
    assert streamed({"tool_calls": [{"index": 0, **call}]}).tool_calls == (ToolCall("c1", "read", expected),)


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("x", "a tool call is str, not an object"),
        ({"id": "c1"}, "a tool call without a name"),
        ({"id": "c1", "function": {"name": " ", "arguments": "{}"}}, "a tool call without a name"),
        ({"id": 7, "function": {"name": "f"}}, "the id of a tool call is int, not text"),
        ({"id": "c1", "function": {"name": ["f"]}}, "the name of a tool call is list, not text"),
        ({"id": "c1", "function": "f"}, "the function of a tool call is str, not an object"),
        ({"id": "c1", "type": "custom", "custom": {}}, "a tool call is 'custom', not 'function'"),
    ],
)
def test_what_is_no_call_is_a_fault(item, found):
    for make in (lambda: whole(item), lambda: streamed({"tool_calls": [item]})):
        with pytest.raises(Fault) as caught:
            make()
        assert (caught.value.kind, caught.value.detail) == (FaultKind.reply, found)
    with pytest.raises(Fault, match="the tool calls is dict, not a list"):
        whole(tool_calls={"0": item})


def test_the_old_form_of_one_call_is_read():
    function = {"name": "read", "arguments": '{"path": "a"}'}
    reply = whole(finish="function_call", function_call=function, tool_calls=None)
    assert reply.tool_calls == (ToolCall("", "read", '{"path": "a"}'),)
    pieces = [{"function_call": {"name": "read"}}, {"function_call": {"arguments": '{"path": '}}]
    reply = streamed(*pieces, {"function_call": {"arguments": '"a"}'}}, finish="function_call")
    assert reply.tool_calls == (ToolCall("", "read", '{"path": "a"}'),)


PARTS = ['{"pa', 'th": ', '"a"}']


@pytest.mark.parametrize(
    "deltas",
    [
        # As OpenAI sends them: id and name first, then the arguments by index, one call after the other.
        [
            a_piece(0, "c1", "list_files", ""),
            a_piece(0, arguments="{}"),
            a_piece(1, "c2", "read", ""),
            *(a_piece(1, arguments=part) for part in PARTS),
        ],
        # Interleaved, and with a gap in the index.
        [
            a_piece(0, "c1", "list_files"),
            a_piece(3, "c2", "read", PARTS[0]),
            a_piece(0, arguments="{}"),
            a_piece(3, arguments=PARTS[1] + PARTS[2]),
        ],
        # Id and name repeated in each piece.
        [
            a_piece(0, "c1", "list_files", "{}"),
            *(a_piece(1, "c2", "read", part) for part in PARTS),
        ],
        # No index; the id says which.
        [
            a_piece(None, "c1", "list_files", "{}"),
            a_piece(None, "c2", "read", PARTS[0]),
            a_piece(None, None, None, PARTS[1]),
            a_piece(None, "c2", None, PARTS[2]),
        ],
        # Every call has index 0.
        [
            a_piece(0, "c1", "list_files", "{}"),
            a_piece(0, "c2", "read", PARTS[0]),
            a_piece(0, arguments=PARTS[1] + PARTS[2]),
        ],
        # Both whole, in one chunk, as lists of finished calls.
        [{"tool_calls": [a_call(LIST), a_call(READ)]}],
        # The name in two pieces.
        [
            a_piece(0, "c1", "list_", ""),
            a_piece(0, None, "files", "{}"),
            a_piece(1, "c2", "read", "".join(PARTS)),
        ],
    ],
    ids=["openai", "interleaved", "repeated", "no index", "index 0", "whole", "name"],
)
def test_pieces_make_the_calls_whatever_form_they_have(deltas):
    reply = streamed({"role": "assistant", "content": None}, *deltas)
    assert (reply.status, reply.text) == (CompletionStatus.complete, "")
    assert reply.tool_calls == (LIST, READ)


def test_calls_without_ids_and_index_are_told_apart_by_their_names():
    reply = streamed(
        a_piece(name="list_files", arguments="{}"),
        a_piece(name="read", arguments=PARTS[0]),
        a_piece(arguments=PARTS[1] + PARTS[2]),
    )
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("list_files", "{}"),
        ("read", '{"path": "a"}'),
    ]


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_calls_that_are_cut_are_kept_as_far_as_they_came(finish):
    half = a_call(ToolCall("c2", "read", '{"pa'))
    nameless = {"id": "c3", "function": {"arguments": ""}}
    for reply in (
        whole(a_call(LIST), half, nameless, finish=finish),
        streamed({"tool_calls": [a_call(LIST), half, nameless]}, finish=finish),
    ):
        assert (reply.status, reply.text) == (CompletionStatus.cut, "")
        assert reply.tool_calls == (LIST, ToolCall("c2", "read", '{"pa'))
    bare = {"id": "c1", "function": {"name": "list_files", "arguments": ""}}
    assert whole(bare, finish=finish).tool_calls[0].arguments == ""  # may have been going to say something


def test_a_broken_stream_of_calls_is_no_reply():
    reply = StreamedReply(tools=True)
    reply.feed({"choices": [{"index": 0, "delta": {"tool_calls": [a_call(LIST)]}}]})
    with pytest.raises(Fault, match="no finish reason, and no text"):
        reply.end()


def test_arguments_that_do_not_end_are_cut_off(monkeypatch):
    monkeypatch.setattr("flows.adapters.completions.senders.reply.MAX_TEXT_CHARS", 30)
    reply = StreamedReply(tools=True)
    reply.feed({"choices": [{"delta": a_piece(0, "c1", "list_files", "x" * 18)}]})
    with pytest.raises(Fault, match="more than 30 characters"):
        reply.feed({"choices": [{"delta": a_piece(0, arguments="x")}]})
    reply = StreamedReply(tools=True)
    with pytest.raises(Fault, match="more than 30 characters"):
        reply.feed({"choices": [{"delta": {"reasoning_content": "x" * 31}}]})


def test_reasoning_goes_back_with_the_reply():
    thought = [
        {"type": "reasoning.text", "text": "let me ", "index": 0, "format": "f"},
        {"type": "reasoning.text", "text": "look", "index": 0, "signature": "S1"},
        {"type": "reasoning.text", "text": "again", "index": 0, "signature": None},
        {"type": "reasoning.encrypted", "data": "E1", "index": 1},
        {"type": "reasoning.encrypted", "data": "E2", "index": 1},
    ]
    joined = [
        {"type": "reasoning.text", "text": "let me look", "index": 0, "format": "f", "signature": "S1"},
        {"type": "reasoning.text", "text": "again", "index": 0, "signature": None},
        {"type": "reasoning.encrypted", "data": "E1", "index": 1},
        {"type": "reasoning.encrypted", "data": "E2", "index": 1},
    ]
    pieces = [{"reasoning_content": "let me "}, {"reasoning_content": "look", "refusal": None}]
    reply = streamed(*pieces, *({"reasoning_details": [block]} for block in thought), a_piece(0, "c1", "f"))
    assert reply.carried == {"reasoning_content": "let me look", "reasoning_details": joined}
    reply = whole(a_call(LIST), reasoning_content="let me look", reasoning_details=joined, annotations=[1])
    assert reply.carried == {"reasoning_content": "let me look", "reasoning_details": joined}
    assert whole(finish="stop", content="done", reasoning="hm").carried == {"reasoning": "hm"}


def test_a_signature_of_a_call_goes_back_in_its_place():
    signed = a_call(READ, extra_content={"google": {"thought_signature": "SIG"}})
    expected = {"tool_calls": [{}, {"extra_content": {"google": {"thought_signature": "SIG"}}}]}
    assert whole(a_call(LIST), signed).carried == expected
    reply = streamed({"tool_calls": [{"index": 0, **a_call(LIST)}]}, {"tool_calls": [{"index": 1, **signed}]})
    assert reply.carried == expected


def test_what_can_not_be_stored_is_made_storable():
    deep = current = []
    for _ in range(300):
        current.append([])
        current = current[0]
    kept = whole(a_call(LIST), reasoning_details=[{"n": float("nan"), "m": 10**30}, deep])
    odd, nested = kept.carried["reasoning_details"]
    assert odd == {"n": None, "m": "10000000000000000000"}
    assert "[nested more than 100 deep]" in str(nested)
    kept = whole(a_call(LIST), reasoning_content="a\ud800b")
    assert kept.carried == {"reasoning_content": "a\ufffdb"}


def test_calls_without_an_id_of_their_own_get_one_that_every_provider_takes():
    calls = [
        ToolCall("", "a", "{}"),
        ToolCall("x", "b", "{}"),
        ToolCall("x", "c", "{}"),
        ToolCall("", "d", "{}"),
    ]
    named, note = with_ids(calls, "0" * 64)
    ids = [call.call_id for call in named]
    # sha256 of sixty-four zeros, a space and the place of the call
    assert ids == ["308d0b5be", "x", "e659e7aa0", "a4ea8f1f5"]
    assert [call.name for call in named] == ["a", "b", "c", "d"]
    assert note == "tool calls given an id, having none of their own: 3"
    assert with_ids(calls, "0" * 64)[0] == named
    assert {call.call_id for call in with_ids(calls, "1" * 64)[0]} & set(ids) == {"x"}
    assert with_ids([LIST, READ], "0" * 64) == ((LIST, READ), "")
