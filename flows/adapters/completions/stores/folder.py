"""The store of paid replies: content-addressed, append-only, the source of truth for resume and replay."""

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeVar

from flows.adapters.completions.stores.index import Index, Place
from flows.adapters.completions.stores.journal import Journal
from flows.adapters.completions.stores.locks import KeyLocks, open_locks
from flows.adapters.completions.stores.records import (
    Head,
    decode_completion,
    decode_request,
    decode_text,
    encode_request,
    verify,
)
from flows.common.blobs import Mirror
from flows.common.errors import StoreError
from flows.common.files import to_write_there
from flows.schema.completion import Completion, Request

_Decoded = TypeVar("_Decoded")

_READS = 4  # attempts to read one record, each from another location or after a rescan

LOCK_FILE = "lock"
MIN_FREE_BYTES = 32 << 20  # with less free space no calls are made, as replies in flight might not fit


class CompletionStore:
    """Paid replies in `folder`: segment files `<utc>-<pid>-<random>.jsonl`, one per process.

    Several processes may use one folder at once. Threads and event loops may share one store; a
    forked child must open its own. A damaged record counts as missing and is listed
    in `problems`.
    """

    is_remote = False
    ledger: Mirror | None = None

    def __init__(self, folder: Path) -> None:
        """Open the store, creating the folder if needed; an existing one may be read-only.

        Raises:
            StoreError: the folder can't be created or read, or was written by a newer version.
        """
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if not folder.is_dir():
                raise StoreError(
                    folder, f"can't be created: {error.strerror}", remedy="choose another results folder"
                ) from error
        self._guard = threading.Lock()
        self._index = Index(folder)
        self._index.refresh()
        self._journal = Journal(folder, self._index, self._guard)
        self._locks: KeyLocks | None = None

    @property
    def problems(self) -> tuple[StoreError, ...]:
        """Damage found so far, without duplicates."""
        with self._guard:
            return self._index.problems()

    def __len__(self) -> int:
        return len(self._index.completions)

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all completions, including refusals and errors."""
        with self._guard:
            return iter(list(self._index.completions))

    def get(self, key: str) -> Completion | None:
        """Return the verified completion of `key`; None if it is missing or damaged.

        Raises:
            StoreError: an existing file can't be read.
        """
        found = self._find(lambda index: index.completions, key, decode_completion)
        return None if found is None else found[0]

    async def fetch(self, key: str, *, again: bool = False) -> Completion | None:
        """Return the completion of `key` without waiting; see `get`.

        `again` reads first what other processes appended.
        """
        if again:
            self.refresh()
        return self.get(key)

    def request(self, key: str) -> Request | None:
        """Return the complete request of `key`; None if it is missing or damaged.

        Raises:
            StoreError: an existing file can't be read.
        """
        found = self._find(lambda index: index.completions, key, decode_completion)
        if found is None:
            return None
        return decode_request(
            key, found[1], lambda name: self._find(lambda index: index.texts, name, decode_text)
        )

    async def put(self, request: Request, completion: Completion) -> None:
        """Store a completion durably.

        The first answer of a key is final; a refusal or an error is replaced by something better.

        Raises:
            StoreError: it could not be stored. It must not be used, although it was paid for.
        """
        line, texts = encode_request(request, completion)
        head = Head("completion", completion.key, completion.status)
        # Stored also if the caller is cancelled: it was paid for.
        await asyncio.shield(asyncio.wrap_future(self._journal.submit(head, line, texts)))

    async def copy(self, request: Request, completion: Completion) -> None:
        """Store a completion that another store has, so that nothing paid for can be lost.

        Raises:
            StoreError: it could not be stored.
        """
        try:
            await self.put(request, completion)
        except StoreError as error:
            remedy = "free disk space or fix the permissions, then run the same command again: it goes on"
            raise StoreError(error.where, error.found, remedy=remedy) from error

    def lock(
        self, key: str, waiting: Callable[[], None] | None = None
    ) -> AbstractAsyncContextManager[None, bool | None]:
        """Hold the lock to pay for `key`, across tasks and processes; a crash releases it.

        `waiting` is called before each try, and may raise to give up. After acquiring the lock, `fetch`
        again: the previous holder may have paid.

        Raises:
            StoreError: the folder is read-only, or its file system has no locks.
        """
        with self._guard:
            if self._locks is None:
                self._locks = open_locks(self.folder / LOCK_FILE)
            return self._locks.hold(key, waiting)

    def refresh(self) -> None:
        """Read what other processes appended.

        Raises:
            StoreError: the folder can't be read, or has a newer format.
        """
        with self._guard:
            self._index.refresh()

    def probe(self) -> None:
        """Check that a reply can be stored before paying for it.

        Raises:
            StoreError: the folder can't be written, or its disk is nearly full.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as file:
                file.write(b"\n")
                file.flush()
                os.fsync(file.fileno())
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise StoreError(
                self.folder,
                f"can't be written: {error.strerror}",
                remedy=f"{to_write_there(error)}; nothing was paid for",
            ) from error
        if free < MIN_FREE_BYTES:
            raise StoreError(
                self.folder,
                f"{free / 1e6:.0f} MB left on its disk",
                f"at least {MIN_FREE_BYTES / 1e6:.0f} MB",
                "free disk space, then run the same command again; nothing was paid for",
            )

    def close(self) -> None:
        """Store waiting entries and close the files. Reading still works afterwards."""
        self._journal.close()
        with self._guard:
            if self._locks is not None:
                self._locks.close()
                self._locks = None

    def _find(
        self, places: Callable[[Index], Mapping[str, Place]], name: str, decode: Callable[[bytes], _Decoded]
    ) -> _Decoded | None:
        """Return the verified content of the record of `name`; None if it is missing or damaged.

        Damage causes a rescan: there may be another copy of the record, and other damage must be known too.
        """
        for _ in range(_READS):
            with self._guard:
                place = places(self._index).get(name)
            if place is None:
                return None
            line = _read_place(place)
            head = verify(line)
            if head is not None and head.id == name and head.status is place.status:
                try:
                    return decode(line)
                except (KeyError, TypeError, ValueError):
                    with self._guard:
                        self._index.reject(place, "not the fields of such a record")
            with self._guard:
                self._index.rebuild()
        return None


def _read_place(place: Place) -> bytes:
    """Read the bytes at a location; fewer if the file was truncated or removed."""
    try:
        with place.segment.open("rb", buffering=0) as file:
            return os.pread(file.fileno(), place.length, place.offset)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StoreError(place.segment, f"can't be read: {error.strerror}") from error
