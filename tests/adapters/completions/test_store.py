import asyncio
import errno
import json
import os
import subprocess
import sys
import textwrap
import threading
import tracemalloc

import pytest

from flows.adapters.completions.stores import folder as store_module
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.records import check_storable
from flows.common.digests import sha256_text
from flows.common.errors import ConfigError, StoreError
from flows.schema.completion import CompletionStatus
from tests.adapters.completions.helpers import (
    a_completion,
    a_refusal,
    a_request,
    a_stored,
    an_error,
    put,
    segments,
)


@pytest.fixture
def store(tmp_path):
    opened = CompletionStore(tmp_path / "completions")
    yield opened
    opened.close()


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


def test_a_disk_that_is_full_raises_and_hands_nothing_on(tmp_path):
    # RLIMIT_FSIZE makes the kernel refuse a write half-way, as a full disk does.
    script = textwrap.dedent("""
        import asyncio, resource, signal, sys
        from pathlib import Path
        from flows.adapters.completions.stores.folder import CompletionStore
        from flows.common.errors import StoreError
        from tests.adapters.completions.helpers import a_completion, a_request
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = CompletionStore(Path(sys.argv[1]))
        small, large, after = a_request("small"), a_request("large"), a_request("after")
        async def main():
            await store.put(small, a_completion(small))
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
            both = await asyncio.gather(
                store.put(large, a_completion(large, "x" * 30_000)),
                store.put(after, a_completion(after)),
                return_exceptions=True,
            )
            print(type(both[0]).__name__, both[0])
            print(both[1])
        asyncio.run(main())
        print(store.get(large.key), store.get(after.key).text, store.get(small.key).text)
        store.close()
    """)
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    error, after, kept = done.stdout.splitlines()
    assert error.startswith("StoreError ")
    assert "can't be written: File too large. Free disk space or fix the permissions" in error
    assert after == "None"
    assert kept == "None The brief. The brief."
    reopened = CompletionStore(tmp_path)
    assert reopened.problems == ()
    assert sorted(reopened.keys()) == sorted([a_request("small").key, a_request("after").key])


def test_a_failed_fsync_is_not_retried_on_the_same_file(store, monkeypatch):
    first, second = a_request("first"), a_request("second")
    put(store, (first, a_completion(first)))
    real, failing = os.fsync, [True]

    def fsync(descriptor):
        if failing:
            failing.clear()
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StoreError, match="can't be written: Input/output error"):
        put(store, (second, a_completion(second)))
    assert store.get(second.key) is None
    put(store, (second, a_completion(second, "again")))
    assert len(segments(store.folder)) == 2
    assert CompletionStore(store.folder).get(second.key).text == "again"


@pytest.mark.parametrize(("how", "is_lost"), [("put", True), ("copy", False)])
def test_only_a_reply_that_was_paid_for_is_said_to_be_lost(store, monkeypatch, how, is_lost):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    request = a_request("first")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="No space left on device") as caught:
        asyncio.run(getattr(store, how)(request, a_completion(request)))
    assert ("the paid reply could not be stored" in str(caught.value)) == is_lost


def test_a_read_only_folder_can_be_read_and_not_paid_into(tmp_path, monkeypatch):
    a_stored(tmp_path, "first")
    (tmp_path / "lock").unlink(missing_ok=True)
    real = os.open

    def read_only(path, flags, *arguments, **named):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *arguments, **named)

    monkeypatch.setattr(os, "open", read_only)
    opened = CompletionStore(tmp_path)
    assert opened.get(a_request("first").key).text == "answer to first"
    with pytest.raises(StoreError, match=r"can't be written: Read-only file system\. Fix the permissions"):
        opened.probe()
    with pytest.raises(StoreError, match="lock: can't be opened for writing: Read-only file system"):
        opened.lock(a_request("first").key)


def test_a_nearly_full_disk_is_refused_before_anything_is_paid(store, monkeypatch):
    store.probe()
    assert list(store.folder.iterdir()) == []
    monkeypatch.setattr(store_module, "MIN_FREE_BYTES", 1 << 60)
    with pytest.raises(StoreError, match=r"MB left on its disk; expected at least .* Free disk space"):
        store.probe()


def test_a_folder_that_can_not_be_created_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="completions: can't be created: Not a directory"):
        CompletionStore(tmp_path / "file" / "completions")


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


def test_what_json_can_not_hold_is_refused_before_it_is_paid_for():
    with pytest.raises(ConfigError, match="parameters can't be stored"):
        check_storable(a_request(bad=object()), {})
    with pytest.raises(ConfigError, match="asked can't be stored"):
        check_storable(a_request(), {"effort": {1, 2}})


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
