"""Atomic file writes, and locks."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from flows.common.errors import StoreError


def write_whole(
    path: Path, content: str | bytes | Callable[[Path], object], *, durable: bool = False
) -> None:
    """Write a file atomically; missing parent folders are created.

    Args:
        path: the file; an existing one is replaced.
        content: bytes, text (written as UTF-8, line ends unchanged), or a function that writes to the path
            it is given.
        durable: True to return only after fsync of the file and its folder.

    Raises:
        StoreError: the file can't be written; an existing one is unchanged.
    """
    # A unique name: threads, processes and hosts may write the same file at the same time.
    part = path.with_name(f".{path.name[-100:]}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(part)
        else:
            part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        if durable:
            sync(part)
        part.replace(path)
        if durable:
            sync(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):  # a partial file would take up space on a full disk
            part.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that can't be written."""
    return StoreError(
        path, f"can't be written ({error.strerror or error})", remedy="free disk space or fix the permissions"
    )


def sync(path: Path) -> None:
    """Fsync a file or a folder.

    Raises:
        OSError: it failed.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # some file systems can't fsync folders
            raise
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a file lock, which the kernel releases when the process ends.

    It also excludes other threads of the process.

    Raises:
        StoreError: the lock file can't be created, or its file system has no locks.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise StoreError(
            path, f"can't be written ({error.strerror})", remedy="fix the permissions of its folder"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            remedy = "keep the results on a file system with locks"
            raise StoreError(path, f"can't be locked ({error.strerror})", remedy=remedy) from error
        yield
