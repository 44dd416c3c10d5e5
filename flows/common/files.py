"""Files that are written whole or not at all."""

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
    """Write a file so that nobody ever finds half of it; its folder is made if need be.

    Args:
        path: the file; what was there is replaced.
        content: its bytes, its text (UTF-8, line ends as they are), or a function that writes the path it
            is given.
        durable: True to return only when the bytes and the name are on the disk.

    Raises:
        StoreError: it can't be written; what was there before is still there.
    """
    # A name of its own: threads, processes and machines may write the same file at the same moment.
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
        with suppress(OSError):  # half a file would keep what room there is on a full disk
            part.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> StoreError:
    """The fault of a file that can't be written."""
    return StoreError(
        path, f"can't be written ({error.strerror or error})", remedy="free disk space or fix the permissions"
    )


def sync(path: Path) -> None:
    """Wait until a file's bytes, or the names in a folder, are on the disk.

    Raises:
        OSError: they can't be put there.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # a file system without fsync of folders
            raise
    finally:
        os.close(descriptor)
