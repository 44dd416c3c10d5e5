"""The completion store in a folder: what is kept, and what another process or thread sees of it."""

import asyncio
import json
import os
import threading
import tracemalloc

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.digests import sha256_text
from flows.schema.completion import CompletionStatus
from tests.adapters.completions.helpers import (
    a_completion,
    a_refusal,
    a_request,
    an_error,
    put,
    segments,
)


def test_a_completion_and_its_request_come_back_whole_in_another_process(store):
    request = a_request("Packet.", temperature=0.1, stop=["a", "b"], nested={"x": [1, None, True]})
    completion = a_completion(request, 'Line one\nline two\u2028 \U0001f6a9 \x00 \\ " {"checksum":"')
    put(store, (request, completion))

    other = CompletionStore(store.folder)
    assert other.get(request.key) == completion
    assert other.request(request.key) == request
    assert list(other.keys()) == [request.key]
    assert len(other) == 1
    assert other.problems == ()


def test_an_unknown_key_is_absent(store):
    assert store.get("0" * 64) is None
    assert store.request("0" * 64) is None
    assert len(store) == 0


def test_a_text_is_stored_once_however_many_requests_send_it(store):
    packet = "the packet " * 1000
    requests = [a_request(packet, seed=seed, model=f"m{seed}") for seed in range(1, 6)]
    put(store, *((request, a_completion(request)) for request in requests))
    later = CompletionStore(store.folder)
    sixth = a_request(packet, seed=6)
    put(later, (sixth, a_completion(sixth)))
    later.close()

    lines = [json.loads(line) for file in segments(store.folder) for line in file.read_bytes().splitlines()]
    texts = [line["id"] for line in lines if line["kind"] == "text"]
    assert sorted(texts) == sorted([sha256_text(packet), sha256_text("You are a staff officer.")])
    assert CompletionStore(store.folder).request(sixth.key) == sixth


def test_many_replies_share_an_fsync(store):
    requests = [a_request(f"prompt {number}") for number in range(200)]
    put(store, *((request, a_completion(request)) for request in requests))
    assert len(store) == 200
    assert store._journal.commits <= 20


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("answer", "answer", 0),
        ("answer", "refusal", 0),
        ("answer", "error", 0),
        ("refusal", "answer", 1),
        ("refusal", "refusal", 1),
        ("refusal", "error", 0),
        ("error", "answer", 1),
        ("error", "refusal", 1),
        ("error", "error", 1),
    ],
)
def test_an_answer_is_final_and_nothing_better_is_superseded(store, first, second, kept):
    request = a_request()
    make = {
        "answer": lambda number: a_completion(request, f"text {number}"),
        "refusal": lambda number: a_refusal(request, f"refused {number}"),
        "error": lambda number: an_error(request, f"http 500: {number}"),
    }
    both = [make[first](1), make[second](2)]
    for completion in both:
        put(store, (request, completion))
    assert store.get(request.key) == both[kept]
    assert CompletionStore(store.folder).get(request.key) == both[kept]


def test_a_cut_answer_is_an_answer(store):
    request = a_request()
    cut = a_completion(request, "half a br", CompletionStatus.cut)
    put(store, (request, cut))
    put(store, (request, a_completion(request, "whole")))
    assert store.get(request.key) == cut


def test_an_empty_answer_is_an_answer(store):
    request = a_request()
    put(store, (request, an_error(request)))
    put(store, (request, a_completion(request, "")))
    assert store.get(request.key).text == ""


def test_what_another_store_appended_is_seen_after_a_refresh(store):
    request = a_request()
    other = CompletionStore(store.folder)
    put(other, (request, a_completion(request)))
    assert store.get(request.key) is None
    store.refresh()
    assert store.get(request.key) == a_completion(request)
    other.close()


def test_a_removed_segment_is_replaced_by_its_writer(store):
    first, second = a_request("first"), a_request("second")
    put(store, (first, a_completion(first)))
    segments(store.folder)[0].unlink()
    put(store, (second, a_completion(second)))
    assert CompletionStore(store.folder).get(second.key) == a_completion(second)


def test_an_emptied_segment_goes_on_at_its_new_end(store):
    first, second = a_request("first"), a_request("second")
    put(store, (first, a_completion(first)))
    os.truncate(segments(store.folder)[0], 0)
    put(store, (second, a_completion(second)))
    assert store.get(second.key) == a_completion(second)
    assert store.get(first.key) is None


def test_closing_leaves_no_empty_file_and_reading_still_works(store):
    request = a_request()
    store.close()
    assert list(store.folder.iterdir()) == []
    put(store, (request, a_completion(request)))
    store.close()
    assert store.get(request.key) == a_completion(request)


def test_threads_and_loops_share_a_store(store):
    requests = [a_request(f"prompt {number}") for number in range(40)]

    def work(part):
        put(store, *((request, a_completion(request)) for request in part))

    threads = [threading.Thread(target=work, args=(requests[at::4],)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(CompletionStore(store.folder)) == 40


def test_a_cancelled_put_still_stores(store):
    request = a_request()

    async def main():
        task = asyncio.create_task(store.put(request, a_completion(request)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    store.close()
    assert CompletionStore(store.folder).get(request.key) == a_completion(request)


def test_opening_a_large_store_keeps_no_texts(tmp_path):
    packets = [f"{number} " + "packet " * 35_000 for number in range(10)]  # 245,000 characters each
    opened = CompletionStore(tmp_path)
    requests = [a_request(packet, seed=seed) for packet in packets for seed in range(1, 31)]
    put(opened, *((request, a_completion(request, "word " * 5200)) for request in requests))
    opened.close()
    assert segments(tmp_path)[0].stat().st_size > 9_000_000
    tracemalloc.start()
    again = CompletionStore(tmp_path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(again) == 300
    assert held < 500_000
    assert peak < 3_000_000
