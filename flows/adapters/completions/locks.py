"""One lock a key, across tasks, threads and processes, that a crash releases.

The lock of a key is one byte of one lock file, at an offset taken from the key (POSIX record locks,
`fcntl(2)`): the kernel drops it when its holder dies, however it dies. Two rules of POSIX shape this
module. Closing *any* descriptor of the file drops every lock that the process holds on it, so a
process opens the file once, shares it between its stores, and closes it with the last of them. And
such a lock never excludes its own process, so the keys that this process holds are kept beside it.
The file is never unlinked here: a second one would let two holders in. Where somebody else removes it,
whoever has it open goes on with it, and nobody else comes in: the folder is locked too (`flock(2)`), shared
by all who have a lock file open, and a new file is made only by whoever has the folder alone. Where somebody
puts another file in its place, the locks that are held are taken there too.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from flows.common.errors import StoreError

_FIRST_POLL_S = 0.005
_LAST_POLL_S = 0.25
_CREATED_WITHIN_S = 1.0
_OFFSET_BITS = 62  # of the key; an offset must fit into a signed 64-bit number

_open_files: dict[tuple[int, int], KeyLocks] = {}
_registry = threading.Lock()


class KeyLocks:
    """The locks of one lock file, for this process. Get one from `open_locks`.

    Waiting is by polling, within the process too: a record lock can't be awaited, and one mechanism
    serves tasks of several event loops and threads, which an `asyncio.Lock` would not.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: Path, folder: int) -> None:
        """Open the file, which is created where it is missing; `folder` is a descriptor of the folder."""
        self.path = path
        self._folder = folder
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._identity = _identity(os.fstat(self._descriptor))
        self._left: list[int] = []
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
            self._follow()
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
            except OSError as error:
                if error.errno in (errno.EACCES, errno.EAGAIN):
                    return False
                raise StoreError(
                    self.path,
                    f"can't lock: {error.strerror}",
                    remedy="keep the results on a file system with POSIX locks",
                ) from error
            if self._is_replaced():
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, offset)
                return False
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
                for descriptor in (self._descriptor, *self._left, self._folder):
                    os.close(descriptor)

    def share(self) -> KeyLocks:
        """Count one more user. Called under the registry's lock."""
        self._users += 1
        _open_files[self._identity] = self
        return self

    def _is_replaced(self) -> bool:
        """Whether the path names another file now; not where it names none."""
        try:
            return _identity(self.path.stat()) != self._identity
        except OSError:
            return False

    def _follow(self) -> None:
        """Go over to the file that the path names now, with all locks that are held."""
        while self._is_replaced():
            with _registry:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                for offset in self._held:
                    with suppress(
                        OSError
                    ):  # somebody has it there: what is paid twice by that can't be undone
                        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
                del _open_files[self._identity]
                self._left.append(self._descriptor)
                self._descriptor, self._identity = descriptor, _identity(os.fstat(descriptor))
                _open_files[self._identity] = self


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
        removed = [known for known in _open_files.values() if known.path == path] if status is None else []
        known = removed[0] if removed else _open_files.get(_identity(status)) if status else None
        if known is not None:
            return known.share()
        try:
            folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                _enter(folder, path)
                locks = KeyLocks(path, folder)
                with suppress(OSError):
                    fcntl.flock(folder, fcntl.LOCK_SH)
            except BaseException:
                os.close(folder)
                raise
        except OSError as error:
            raise _unusable(path, error) from error
        return locks.share()


def _enter(folder: int, path: Path) -> None:
    """Lock the folder: shared where the lock file is there, else alone.

    Raises:
        StoreError: others have a lock file open, and it was removed.
    """
    give_up_at = time.monotonic() + _CREATED_WITHIN_S
    while True:
        there = path.exists()
        try:
            fcntl.flock(folder, (fcntl.LOCK_SH if there else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:  # another process may be creating the file right now
            if not there and time.monotonic() > give_up_at:
                raise StoreError(
                    path,
                    "was removed while another run uses this folder: two runs could pay for the same calls",
                    remedy="wait until that run has ended, or stop it; then start the same command again",
                ) from None
            time.sleep(_FIRST_POLL_S)
        except OSError:
            return  # a file system without such locks of folders
        else:
            if not there or path.exists():
                return


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        path,
        f"can't be opened for writing: {error.strerror}",
        remedy="make the folder writable; stored replies can be read without",
    )


def _offset(key: str) -> int:
    return int(key[:16], 16) & ((1 << _OFFSET_BITS) - 1)
