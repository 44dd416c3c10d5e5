"""Atomic file writes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from flows.common.errors import StoreError


def write_whole(
    path: Path, content: str | bytes | Callable[[Path], object], *, durable: bool = False
) -> None:
    """Write a file atomically, creating its folder if needed.

    Args:
        path: the file; an existing one is replaced.
        content: bytes, text (UTF-8, line endings unchanged), or a function that writes the path it is
            given.
        durable: True to return only after the bytes and the name are synced to disk.

    Raises:
        StoreError: it can't be written; the old file is unchanged.
    """
    # A unique name: threads, processes and machines may write the same file concurrently.
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
        with suppress(OSError):  # a partial file would fill a full disk
            part.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that can't be written."""
    return StoreError(
        path, f"can't be written ({error.strerror or error})", remedy="free disk space or fix the permissions"
    )


def sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk.

    Raises:
        OSError: it can't be synced.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # a file system without fsync of folders
            raise
    finally:
        os.close(descriptor)
