"""One lock a key, across tasks, threads and processes, that a crash releases.

The lock of a key is one byte of one lock file, at an offset taken from the key (POSIX record locks,
`fcntl(2)`): the kernel drops it when its holder dies, however it dies. Two rules of POSIX shape this
module. Closing *any* descriptor of the file drops every lock that the process holds on it, so a
process opens the file once, shares it between its stores, and closes it with the last of them. And
such a lock never excludes its own process, so the keys that this process holds are kept beside it.
The file is never unlinked: a second one would let two holders in.
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

from flows.schema.errors import StoreError

_FIRST_POLL_S = 0.005
_LAST_POLL_S = 0.25
_OFFSET_BITS = 62  # of the key; an offset must fit into a signed 64-bit number

_open_files: dict[tuple[int, int], KeyLocks] = {}
_registry = threading.Lock()


class KeyLocks:
    """The locks of one lock file, for this process. Get one from `open_locks`.

    Waiting is by polling, within the process too: a record lock can't be awaited, and one mechanism
    serves tasks of several event loops and threads, which an `asyncio.Lock` would not.
    """

    def __init__(self, path: Path, descriptor: int, identity: tuple[int, int]) -> None:
        self._path = path
        self._descriptor = descriptor
        self._identity = identity
        self._users = 0
        self._held: set[int] = set()
        self._guard = threading.Lock()

    def try_acquire(self, key: str) -> bool:
        """Take the lock of `key` if nobody has it.

        Raises:
            StoreError: the file system has no such locks.
        """
        offset = _offset(key)
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

    def release(self, key: str) -> None:
        """Give the lock of `key` back."""
        offset = _offset(key)
        with self._guard:
            self._held.discard(offset)
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, offset)

    @asynccontextmanager
    async def hold(self, key: str, waiting: Callable[[], None] | None = None) -> AsyncGenerator[None]:
        """Hold the lock of `key`; `waiting` is called before each try and may raise to give up."""
        pause = _FIRST_POLL_S
        while True:
            if waiting is not None:
                waiting()
            if self.try_acquire(key):
                break
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_POLL_S)
        try:
            yield
        finally:
            self.release(key)

    def close(self) -> None:
        """Give up this user's share; the last one closes the file."""
        with _registry:
            self._users -= 1
            if self._users == 0:
                del _open_files[self._identity]
                os.close(self._descriptor)

    def share(self) -> KeyLocks:
        """Count one more user. Called under the registry's lock."""
        self._users += 1
        return self


def open_locks(path: Path) -> KeyLocks:
    """The locks of the file at `path`, which is created; one object a process and file.

    Raises:
        StoreError: the file can't be created or written.
    """
    with _registry:
        # A second descriptor of a file that is already open here must not be opened, not even to
        # look whether it is the same one: closing it would drop the locks.
        try:
            status = path.stat()
        except FileNotFoundError:
            status = None
        except OSError as error:
            raise _unusable(path, error) from error
        if status is not None and (known := _open_files.get((status.st_dev, status.st_ino))):
            return known.share()
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise _unusable(path, error) from error
        status = os.fstat(descriptor)
        identity = (status.st_dev, status.st_ino)
        locks = _open_files[identity] = KeyLocks(path, descriptor, identity)
        return locks.share()


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        path,
        f"can't be opened for writing: {error.strerror}",
        remedy="make the folder writable; stored replies can be read without",
    )


def _offset(key: str) -> int:
    return int(key[:16], 16) & ((1 << _OFFSET_BITS) - 1)
