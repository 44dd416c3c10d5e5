"""How the store keeps what a turn may have beside its text."""

import base64
import dataclasses
import json
import tracemalloc

from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.records import verify
from flows.common.digests import canonical_json, sha256_text
from flows.schema.call import estimated_input_tokens
from flows.schema.completion import Image, Message, Request, ToolCall
from tests.adapters.completions.helpers import LIST, PNG, a_completion, a_request, a_whole_chat, put, segments

CODED = base64.b64encode(PNG.data).decode()


def test_a_plain_request_has_the_key_that_it_always_had():
    turns = (Message("system", "You are a staff officer."), Message("user", "Write the brief. \u00e9"))
    parameters = {"max_tokens": 4096, "reasoning_effort": "high", "stream": True}
    request = Request("openai_http", "writer-1", "http://127.0.0.1:9/v1", turns, parameters, 2)
    # As it was before turns had images and tool calls.
    assert request.key == "79df438c25a9037e033337fe9edbfb3f52674214238a8de3b20a5824d5a334ae"


def test_plain_records_have_no_new_field_and_keep_the_first_format(tmp_path):
    store = CompletionStore(tmp_path)
    request = a_request()
    put(store, (request, a_completion(request)))
    store.close()
    (segment,) = segments(tmp_path)
    *texts, completion = [json.loads(line) for line in segment.read_bytes().splitlines()]
    assert {record["format"] for record in (*texts, completion)} == {1}
    assert set(completion["body"]["completion"]) == {
        *("text", "finish_reason", "provider_model", "usage", "price_usd", "attempts", "asked", "detail")
    }
    assert [set(turn) for turn in completion["body"]["request"]["messages"]] == [{"role", "text"}] * 2


def test_an_image_and_a_turn_are_stored_once_however_many_requests_repeat_them(tmp_path):
    store = CompletionStore(tmp_path)
    page = Image("image/jpeg", bytes(range(256)) * 4000)  # about a megabyte
    turns = (Message("user", "Look.", images=(page,)), Message("assistant", "", tool_calls=(LIST,)))
    requests = []
    for number in range(1, 9):
        turns = (*turns, Message("tool", f"page {number}", images=(page,), tool_call_id="c1"))
        requests.append(dataclasses.replace(a_request(), messages=turns))
        turns = (*turns, Message("assistant", "", tool_calls=(LIST,), carried={"reasoning": f"{number}"}))
    for request in requests:
        put(store, (request, a_completion(request)))
    store.close()
    (segment,) = segments(tmp_path)
    assert segment.stat().st_size < 1_500_000
    heads = [verify(line) for line in segment.read_bytes().splitlines(keepends=True)]
    # "Look.", the empty text, the image, one further of a call alone and seven that carry something
    # (the eighth is in no request), eight texts of a tool
    assert sum(head.kind == "text" for head in heads) == 3 + 1 + 7 + 8
    again = CompletionStore(tmp_path)
    assert [again.request(request.key) for request in requests] == requests
    assert again.problems == ()


def test_a_reader_that_knows_no_images_takes_their_records_for_texts(tmp_path):
    store = CompletionStore(tmp_path)
    request = a_whole_chat("http://127.0.0.1:9/v1")
    put(store, (request, a_completion(request)))
    store.close()
    (segment,) = segments(tmp_path)
    records = [json.loads(line) for line in segment.read_bytes().splitlines()]
    assert {record["kind"] for record in records} == {"text", "completion"}
    assert all(sha256_text(record["body"]) == record["id"] for record in records if record["kind"] == "text")
    assert CODED in [record["body"] for record in records]


def test_an_image_that_is_not_itself_makes_its_request_absent(tmp_path):
    store = CompletionStore(tmp_path)
    request = a_whole_chat("http://127.0.0.1:9/v1")
    put(store, (request, a_completion(request)))
    store.close()
    (segment,) = segments(tmp_path)
    changed = segment.read_bytes().replace(CODED.encode(), CODED.encode()[::-1])
    segment.write_bytes(changed)
    again = CompletionStore(tmp_path)
    assert again.request(request.key) is None
    assert again.get(request.key) == a_completion(request)
    assert len(again.problems) == 1


def test_images_do_not_stay_in_memory(tmp_path):
    store = CompletionStore(tmp_path)
    put(store, (first := a_request("warm"), a_completion(first)))
    tracemalloc.start()
    for number in range(6):
        page = Image("image/png", bytes([number]) * 3_000_000)
        request = dataclasses.replace(a_request(), messages=(Message("user", "Look.", images=(page,)),))
        put(store, (request, a_completion(request)))
        del page, request
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    store.close()
    assert segments(tmp_path)[0].stat().st_size > 24_000_000
    assert held < 6_000_000  # the last one may still be in the writer's hands


def test_the_prompts_estimate_counts_images_tools_and_calls():
    request = a_request("x" * 4000)  # and 24 characters of the system's turn
    assert estimated_input_tokens(request) == 1006
    call = ToolCall("c1", "read", "y" * 396)
    chat = dataclasses.replace(
        a_request(tools=[{"a": "b" * 92}]),
        messages=(
            Message("user", "x" * 400, images=(PNG, PNG)),
            Message("assistant", "", tool_calls=(call,), carried={"r": "z" * 92}),
            Message("tool", "w" * 200, tool_call_id="c1"),
        ),
    )
    assert len(canonical_json([{"a": "b" * 92}])) == 102
    assert len(canonical_json({"r": "z" * 92})) == 100
    # (400 + 4 + 396 + 100 + 200 + 102) // 4 and two images of 1,600
    assert estimated_input_tokens(chat) == 301 + 3200  # rounded up
