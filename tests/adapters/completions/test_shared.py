"""Stores that several machines share: S3, by moto's server, and a folder."""

import os
import signal
import time
from collections import Counter

import pytest

from flows.adapters.completions.stores.claims import Claims
from flows.adapters.shared_store import MARKER, FolderBlobs, open_blobs
from flows.common.errors import StoreError
from flows.schema.store_address import StoreAddress
from tests.adapters.completions.helpers import (
    RUNNER,
    a_completion,
    a_refusal,
    a_request,
    a_store,
    a_whole_chat,
    an_answer,
    an_error,
    put,
)
from tests.adapters.completions.worker import a_worker, finished
from tests.support.scripted_server import Say, ScriptedServer

# Stores


def test_a_reply_comes_back_whole_on_another_machine(address, tmp_path):
    here, there = a_store(f"{address} {tmp_path}/one"), a_store(f"{address} {tmp_path}/two")
    chat = a_whole_chat("http://127.0.0.1:9/v1")
    pairs = [(chat, a_completion(chat)), (a_request("no"), a_refusal(a_request("no")))]
    put(here, *pairs)
    assert sorted(there.keys()) == sorted(request.key for request, _ in pairs)
    for request, completion in pairs:
        assert there.get(request.key) == completion
        assert there.request(request.key) == request
    assert there.get("0" * 64) is None
    for store in (here, there):
        store.close()


def test_the_first_answer_is_final_and_replaces_what_is_none(address, tmp_path):
    store, other = a_store(f"{address} {tmp_path}/one"), a_store(f"{address} {tmp_path}/two")
    request = a_request()
    for completion, kept in (
        (an_error(request, "first"), "first"),
        (an_error(request, "second"), "second"),
        (a_refusal(request, "third"), "third"),
        (an_error(request, "fourth"), "third"),
        (a_completion(request, detail="fifth"), "fifth"),
        (a_completion(request, detail="sixth"), "fifth"),
    ):
        put(store, (request, completion))
        assert [each.get(request.key).detail for each in (store, other)] == [kept, kept]
    store.close()
    other.close()


def test_a_damaged_record_counts_as_missing_and_is_replaced(address, tmp_path):
    store = a_store(f"{address} {tmp_path}/one")
    request = a_request()
    put(store, (request, a_completion(request)))
    blobs = open_blobs(StoreAddress.of(address))
    (name,) = blobs.names("completions/")
    blobs.put(name, blobs.get(name)[:-20])
    assert store.get(request.key) is not None  # this machine has a copy
    other = a_store(f"{address} {tmp_path}/two")
    assert other.get(request.key) is None
    assert [problem.found for problem in other.problems] == ["a damaged record"]
    put(other, (request, a_completion(request, "Again.")))
    assert a_store(f"{address} {tmp_path}/three").get(request.key).text == "Again."


def test_conditional_writes(address):
    blobs = open_blobs(StoreAddress.of(address))
    assert blobs.create("a/b", b"one")
    assert blobs.create("a/b", b"one")  # as by a try whose answer was lost
    assert not blobs.create("a/b", b"two")
    assert not blobs.replace("a/b", b"three", b"two")
    assert not blobs.replace("a/c", b"three", b"two")
    assert blobs.replace("a/b", b"three", b"one")
    assert (blobs.get("a/b"), list(blobs.names("a/"))) == (b"three", ["a/b"])
    blobs.delete("a/b")
    blobs.delete("a/b")
    assert blobs.get("a/b") is None


def test_a_newer_format_and_a_folder_of_something_else_are_refused(address, tmp_path):
    open_blobs(StoreAddress.of(address)).put(MARKER, b'{"format": 2}')
    with pytest.raises(StoreError, match="a store of format 2; expected format 1"):
        open_blobs(StoreAddress.of(address))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(StoreError, match="this folder holds something else"):
        open_blobs(StoreAddress.of(str(tmp_path / "other")))


# Claims


def test_one_claim_at_a_time_and_a_close_frees_it(address):
    blobs = open_blobs(StoreAddress.of(address))
    one, two = Claims(blobs), Claims(blobs)
    held = one.acquire("completions/00/key.claim")
    assert held is not None
    assert one.acquire("completions/00/key.claim") is None
    assert two.acquire("completions/00/key.claim") is None
    one.release(held)
    again = two.acquire("completions/00/key.claim")
    assert again is not None
    two.close()  # without a release, as by a crash after it
    assert one.acquire("completions/00/key.claim") is not None
    one.close()


def test_two_that_take_over_a_dead_claim_at_once_do_not_both_get_it(address, monkeypatch):
    blobs = open_blobs(StoreAddress.of(address))
    dead, one, two = Claims(blobs), Claims(blobs), Claims(blobs)
    name = "completions/00/key.claim"
    assert dead.acquire(name) is not None
    dead.close()
    taken, create = [], blobs.create

    def late(blob, data):
        if not taken:
            taken.append(None)  # the other comes first, takes it over and releases it again
            taken[0] = two.acquire(name)
            two.release(taken[0])
            assert one.acquire(name) is None  # one is at it, in another task
        return create(blob, data)

    monkeypatch.setattr(
        blobs, "create", lambda blob, data: late(blob, data) if ".after." in blob else create(blob, data)
    )
    first = one.acquire(name)
    assert taken[0] is not None
    assert first is None  # what it took over was released in between
    monkeypatch.undo()
    assert one.acquire(name) is not None
    one.close()
    two.close()


# Processes


def test_a_folder_that_another_process_makes_a_store_of_meanwhile_is_a_store(tmp_path, monkeypatch):
    address = StoreAddress.of(f"file://{tmp_path}/shared")
    real, calls = FolderBlobs.get, []

    def get(blobs, name):
        found = real(blobs, name)
        calls.append(name)
        if len(calls) == 1:  # the other one is faster
            open_blobs(address).put("completions/a", b"a reply")
        return found

    monkeypatch.setattr(FolderBlobs, "get", get)
    assert open_blobs(address).get("completions/a") == b"a reply"


def test_two_processes_pay_once(address, tmp_path):
    with (
        ScriptedServer(an_answer) as server,
        a_worker(f"{address} {tmp_path}/one", server, 30) as one,
        a_worker(f"{address} {tmp_path}/two", server, 30) as other,
    ):
        lines = [finished(one), finished(other)]
    assert Counter(server.prompts()) == {f"prompt {number}": 1 for number in range(30)}
    assert sum(line[0] == "paid" for run in lines for line in run) == 30
    for run in lines:
        assert {line[1]: line[2] for line in run} == {str(n): f"answer to prompt {n}" for n in range(30)}
    blobs = open_blobs(StoreAddress.of(address))
    assert [name for name in blobs.names("completions/") if "claim" in name] == []
    assert list(blobs.names("workers/")) == []


def test_a_killed_worker_loses_what_was_in_flight_and_its_claims_are_free(address, tmp_path):
    with ScriptedServer(an_answer) as server:
        with a_worker(f"{address} {tmp_path}/one", server, 30) as worker:
            answered = {worker.stdout.readline().split(" ")[1] for _ in range(7)}
            os.kill(worker.pid, signal.SIGKILL)
            answered |= {
                line.split(" ")[1]
                for line in worker.communicate(timeout=600)[0].splitlines()
                if "answer" in line
            }
        with a_worker(f"{address} {tmp_path}/two", server, 30) as worker:
            lines = finished(worker)
    assert answered <= {line[1] for line in lines if line[0] == "replayed"}
    assert len(server.billed) - 30 <= RUNNER.concurrency
    assert len(lines) == 30


def test_a_worker_that_hangs_is_replaced_and_its_late_reply_is_not_used(address, tmp_path):
    """The kernel says that it lives: only its lease ends."""
    with (
        ScriptedServer(lambda call: Say(f"reply {call.number}", delay_s=0.5)) as server,
        a_worker(f"{address} {tmp_path}/one", server, 1, lease_s=2) as hung,
    ):
        while not server.calls:
            time.sleep(0.01)
        os.kill(hung.pid, signal.SIGSTOP)
        with a_worker(f"{address} {tmp_path}/two", server, 1, lease_s=2) as other:
            (line,) = finished(other)
        os.kill(hung.pid, signal.SIGCONT)
        (late,) = finished(hung)
    assert line[0] == "paid"
    assert late[2] == line[2]
