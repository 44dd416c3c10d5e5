"""What the completion store does where it can not write: a full disk, a failed fsync, a read-only folder."""

import asyncio
import errno
import os
import subprocess
import sys
import textwrap

import pytest

from flows.adapters.completions.stores import folder as store_module
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.records import check_storable
from flows.common.errors import ConfigError, StoreError
from tests.adapters.completions.helpers import (
    a_completion,
    a_request,
    a_stored,
    put,
    segments,
)


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


def test_what_json_can_not_hold_is_refused_before_it_is_paid_for():
    with pytest.raises(ConfigError, match="parameters can't be stored"):
        check_storable(a_request(bad=object()), {})
    with pytest.raises(ConfigError, match="asked can't be stored"):
        check_storable(a_request(), {"effort": {1, 2}})
