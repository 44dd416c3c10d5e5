"""The writer of a process: one segment and one thread, with group commit.

Records that arrive during an fsync share the next one: a hundred concurrent replies cost two or three.
"""

import fcntl
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue

from flows.adapters.completions.stores.index import SUFFIX, Index, Place
from flows.adapters.completions.stores.records import Head, encode_text
from flows.common.errors import StoreError
from flows.common.files import sync


@dataclass(frozen=True, slots=True)
class _Entry:
    head: Head
    line: bytes
    texts: Mapping[str, str]
    stored: Future[None]


@dataclass(eq=False)
class Journal:
    """Appends entries to its own segment, which is created with the first one."""

    _folder: Path
    _index: Index  # updated with each durable record
    _guard: threading.Lock  # for changes of the index
    commits: int = 0  # number of fsyncs so far
    _queue: SimpleQueue[_Entry | None] = field(default_factory=SimpleQueue["_Entry | None"])
    _thread: threading.Thread | None = None
    _descriptor: int | None = None
    _segment: Path = field(init=False)

    def __post_init__(self) -> None:
        self._segment = self._folder

    def submit(self, head: Head, line: bytes, texts: Mapping[str, str]) -> Future[None]:
        """Pass a completion's record to the writer; the result is done when it is durable.

        Texts of its request are by sha256; stored ones are not written again.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="completion-store", daemon=True)
            self._thread.start()
        entry = _Entry(head, line, texts, Future())
        self._queue.put(entry)
        return entry.stored

    def close(self) -> None:
        """Write waiting entries and end the writer."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        self._abandon()

    def _run(self) -> None:
        ended = False
        while not ended:
            batch = [self._queue.get()]
            while True:
                try:
                    batch.append(self._queue.get_nowait())
                except Empty:
                    break
            ended = None in batch
            self._commit([entry for entry in batch if entry is not None])

    def _commit(self, batch: Sequence[_Entry]) -> None:
        if not batch:
            return
        try:
            self._write(batch)
        except OSError as error:
            if len(batch) > 1:
                # On a nearly full disk some of them may still fit.
                for entry in batch:
                    self._commit([entry])
            else:
                batch[0].stored.set_exception(_unwritable(self._segment, error))
        except Exception as error:  # noqa: BLE001 -- waiters must get the error, and the thread must survive
            for entry in batch:
                entry.stored.set_exception(StoreError(self._segment, f"can't store: {error!r}"))
        else:
            for entry in batch:
                entry.stored.set_result(None)

    def _write(self, batch: Sequence[_Entry]) -> None:
        descriptor, start = self._open()
        records: list[tuple[Head, bytes]] = []
        texts = set[str]()
        for entry in batch:
            for name, text in entry.texts.items():
                if name not in texts and name not in self._index.texts:
                    records.append((Head("text", name, None), encode_text(name, text)))
                    texts.add(name)
            records.append((entry.head, entry.line))
        try:
            _write_all(descriptor, b"".join(line for _, line in records))
            os.fsync(descriptor)
        except OSError:
            # After a failed fsync the file's state is unknown, after a failed write it ends in a
            # partial record: start a new file in both cases.
            self._abandon(cut_at=start)
            raise
        self.commits += 1
        with self._guard:
            for head, line in records:
                self._index.add(head, Place(self._segment, start, len(line), head.status))
                start += len(line)

    def _open(self) -> tuple[int, int]:
        """Return the segment's descriptor and the offset of the next record."""
        if self._descriptor is not None:
            status = os.fstat(self._descriptor)
            if status.st_nlink:  # checked each time: the file may have been removed or truncated
                return self._descriptor, status.st_size
            self._abandon()
        self._folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        self._segment = self._folder / f"{now}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._descriptor = os.open(self._segment, flags, 0o666)
        with suppress(OSError):  # tells other processes that its writer is alive; only a hint
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        with self._guard:
            self._index.own(self._segment)
        sync(self._folder)
        return self._descriptor, 0

    def _abandon(self, cut_at: int | None = None) -> None:
        """Close the segment, truncate it to what is durable and remove it if empty."""
        if self._descriptor is None:
            return
        try:
            if cut_at is not None:
                os.ftruncate(self._descriptor, cut_at)
            status = os.fstat(self._descriptor)
            if status.st_size == 0 and status.st_nlink:
                self._segment.unlink(missing_ok=True)
        except OSError:
            pass  # a partial record at its end is detected when read
        os.close(self._descriptor)
        self._descriptor = None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _unwritable(segment: Path, error: OSError) -> StoreError:
    return StoreError(
        segment,
        f"can't be written: {error.strerror}",
        remedy="free disk space or fix the permissions, then run the same command again; "
        "the paid reply could not be stored and will be requested again",
    )
