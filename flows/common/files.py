"""Atomic file writes."""

import errno
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from flows.common.errors import StoreError


def write_whole(
    path: Path,
    content: str | bytes | Callable[[Path], object],
    *,
    durable: bool = False,
    keep: Callable[[], bool] | None = None,
) -> None:
    """Write a file atomically; missing parent folders are created.

    Args:
        path: the file; an existing one is replaced.
        content: bytes, text (written as UTF-8, line ends unchanged), or a function that writes to the path
            it is given.
        durable: True to return only after fsync of the file and its folder.
        keep: returns True to leave an existing file as it is; without it, it is replaced.

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
        if keep is None or not _is_there(path, part, keep):
            part.replace(path)
        if durable:
            sync(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):  # a partial file would take up space on a full disk
            part.unlink(missing_ok=True)


def _is_there(path: Path, part: Path, keep: Callable[[], bool]) -> bool:
    """Put the file there if there is none; return whether the one there may stay."""
    try:
        path.hardlink_to(part)  # unlike a rename, it never replaces a file
    except OSError:  # there is one, or the file system has no links
        return keep()
    return True


def unwritable(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that can't be written."""
    return StoreError(path, f"can't be written ({error.strerror or error})", remedy=to_write_there(error))


def to_write_there(error: OSError) -> str:
    """Return what a person can do about an error of writing."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "fix the permissions"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return "name another folder"
    return "free disk space or fix the permissions"


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
