"""One lock per key across tasks, threads and processes, released on a crash.

The lock of a key is one byte of one lock file, at an offset taken from the key (POSIX record locks,
`fcntl(2)`): the kernel releases it when its holder dies. Two rules of POSIX matter here. Closing *any*
descriptor of the file drops every lock that the process holds on it, so a process opens the file once, shares
it between its stores and closes it with the last one. And such a lock never excludes its own process, so this
process also keeps its own set of held keys.
The file is never removed here: a second one would allow two holders. If someone else removes it, processes
that have it open continue, and no other can join: they hold a shared lock on the folder (`flock(2)`), and
creating the file needs an exclusive one. If the file is replaced, held locks are taken on the new one too.
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
_OFFSET_BITS = 62  # of the key; an offset is a signed 64-bit number

_open_files: dict[tuple[int, int], KeyLocks] = {}
_registry = threading.Lock()


class KeyLocks:
    """The locks of one lock file, for this process. Get one from `open_locks`.

    Waiting polls, even within the process: a record lock can't be awaited, and this works across event loops
    and threads, unlike `asyncio.Lock`.

    Attributes:
        path: the lock file.
    """

    def __init__(self, path: Path, folder: int) -> None:
        """Open or create the file; `folder` is a descriptor of its folder."""
        self.path = path
        self._folder = folder
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._identity = _identity(os.fstat(self._descriptor))
        self._left: list[int] = []
        self._users = 0
        self._held: set[int] = set()
        self._guard = threading.Lock()

    def try_acquire(self, key: str) -> bool:
        """Acquire the lock of `key` if it is free.

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
        """Release the lock of `key`."""
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
        """Drop one user; the last one closes the file."""
        with _registry:
            self._users -= 1
            if self._users == 0:
                del _open_files[self._identity]
                for descriptor in (self._descriptor, *self._left, self._folder):
                    os.close(descriptor)

    def share(self) -> KeyLocks:
        """Add one user. Call it with the registry's lock held."""
        self._users += 1
        _open_files[self._identity] = self
        return self

    def _is_replaced(self) -> bool:
        """Whether the path is now another file; False if there is none."""
        try:
            return _identity(self.path.stat()) != self._identity
        except OSError:
            return False

    def _follow(self) -> None:
        """Switch to the file now at the path, with all held locks."""
        while self._is_replaced():
            with _registry:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                for offset in self._held:
                    with suppress(OSError):  # held by another process there: double payments can't be undone
                        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
                del _open_files[self._identity]
                self._left.append(self._descriptor)
                self._descriptor, self._identity = descriptor, _identity(os.fstat(descriptor))
                _open_files[self._identity] = self


def open_locks(path: Path) -> KeyLocks:
    """Open or create the locks at `path`; one object per process and file.

    Raises:
        StoreError: the file can't be created or written.
    """
    with _registry:
        # Never open a second descriptor of a file that is open here, not even to compare files:
        # closing it would release the locks.
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
    """Lock the folder: shared if the lock file exists, else exclusively.

    Raises:
        StoreError: another process has the removed lock file open.
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
            return  # a file system without folder locks
        else:
            if not there or path.exists():
                return


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        path,
        f"can't be opened for writing: {error.strerror}",
        remedy="fix the permissions of the folder; stored replies can be read without them",
    )


def _offset(key: str) -> int:
    return int(key[:16], 16) & ((1 << _OFFSET_BITS) - 1)
