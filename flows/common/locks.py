"""A lock file for what one process at a time may do."""

import fcntl
from pathlib import Path
from typing import IO

from flows.common.errors import StoreError


def locked(path: Path) -> IO[str]:
    """Wait for the lock of a file, and return the file: closing it, or the end of the process, releases it.

    Use it in a `with` statement. It also excludes other threads of the process.

    Raises:
        StoreError: the file can't be created, or its file system has no locks.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise StoreError(
            path, f"can't be written ({error.strerror})", remedy="fix the permissions of its folder"
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except BaseException as error:
        file.close()
        if not isinstance(error, OSError):
            raise
        remedy = "keep the results on a file system with locks"
        raise StoreError(path, f"can't be locked ({error.strerror})", remedy=remedy) from error
    return file
