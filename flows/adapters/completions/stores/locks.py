"""One lock per key across tasks, threads and processes, released on a crash.

The lock of a key is one byte of one lock file, at an offset taken from the key (POSIX record locks,
`fcntl(2)`): the kernel releases it when its holder dies. Two rules of POSIX matter here. Closing *any*
descriptor of the file drops every lock that the process holds on it, so a process opens the file once, shares
it between its stores and closes it with the last one. And such a lock never excludes its own process, so this
process also keeps its own set of held keys. The file is never removed here: a second one would allow two
holders.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from flows.common.errors import StoreError

_FIRST_POLL_S = 0.005
_LAST_POLL_S = 0.25
_OFFSET_BITS = 62  # of the key; an offset is a signed 64-bit number

_open_files: dict[Path, KeyLocks] = {}
_registry = threading.Lock()


class KeyLocks:
    """The locks of one lock file, for this process. Get one from `open_locks`.

    Waiting polls, even within the process: a record lock can't be awaited, and this works across event loops
    and threads, unlike `asyncio.Lock`.
    """

    def __init__(self, path: Path) -> None:
        self.users = 0
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._held: set[int] = set()
        self._guard = threading.Lock()

    @asynccontextmanager
    async def hold(self, key: str, waiting: Callable[[], None] | None = None) -> AsyncGenerator[None]:
        """Hold the lock of `key`; `waiting` is called before each try and may raise to give up.

        Raises:
            StoreError: the file system has no such locks.
        """
        pause, offset = _FIRST_POLL_S, int(key[:16], 16) & ((1 << _OFFSET_BITS) - 1)
        while True:
            if waiting is not None:
                waiting()
            if self._try_acquire(offset):
                break
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_POLL_S)
        try:
            yield
        finally:
            with self._guard:
                self._held.discard(offset)
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, offset)

    def close(self) -> None:
        """Drop one user; the last one closes the file."""
        with _registry:
            self.users -= 1
            if self.users == 0:
                del _open_files[self._path]
                os.close(self._descriptor)

    def _try_acquire(self, offset: int) -> bool:
        with self._guard:
            if offset in self._held:
                return False
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
            except OSError as error:
                if error.errno in (errno.EACCES, errno.EAGAIN):
                    return False
                raise StoreError(
                    self._path,
                    f"can't lock: {error.strerror}",
                    remedy="keep the results on a file system with POSIX locks",
                ) from error
            self._held.add(offset)
            return True


def open_locks(path: Path) -> KeyLocks:
    """Open or create the locks at `path`; one object per process and file.

    Raises:
        StoreError: the file can't be created or written.
    """
    path = path.resolve()
    with _registry:
        locks = _open_files.get(path)
        if locks is None:
            try:
                locks = _open_files[path] = KeyLocks(path)
            except OSError as error:
                raise StoreError(
                    path,
                    f"can't be opened for writing: {error.strerror}",
                    remedy="fix the permissions of the folder; stored replies can be read without them",
                ) from error
        locks.users += 1
        return locks
