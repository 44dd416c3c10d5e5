"""Open files below a folder component by component with `openat`, never through a link."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import unicodedata
from collections.abc import Generator

from flows.pipeline.native.paths import PathRefused

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe must not block.
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

NOT_THERE = frozenset({errno.ENOENT, errno.ENAMETOOLONG, errno.ENOTDIR})
NO_FILE = frozenset({errno.ELOOP, errno.ENXIO, errno.EISDIR})


@contextlib.contextmanager
def open_parent(root: int, parts: tuple[str, ...], *, make: bool = False) -> Generator[int]:
    """Open the parent folder of a path, component by component; create missing folders if `make`."""
    current = os.dup(root)
    try:
        for part in parts[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
            name = part if make else actual_name(current, part)
            try:
                inner = os.open(name, FOLDER, dir_fd=current)
            except NotADirectoryError as error:  # Linux raises it for links too
                if stat.S_ISLNK(os.stat(name, dir_fd=current, follow_symlinks=False).st_mode):
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
                raise
            os.close(current)
            current = inner
        yield current
    finally:
        os.close(current)


def actual_name(folder: int, name: str) -> str:
    """Return the name on disk, which may differ from the model's by Unicode composition."""
    names = os.listdir(folder)
    if name in names:
        return name
    equivalent = [other for other in names if _composed(other) == _composed(name)]
    return equivalent[0] if len(equivalent) == 1 else name


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def open_regular(folder: int, name: str, flags: int, path: str, *, own: bool) -> int:
    """Open a regular file; in the scratch folder (`own`) it must have only one hard link."""
    kind = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(kind.st_mode):
        raise PathRefused(path, "a folder", "a file in it", "call list_files for the names")
    # Check before opening, since opening a device can have side effects.
    _check_regular(kind, path, own=own)
    descriptor = os.open(name, flags | FILE, dir_fd=folder)
    try:
        _check_regular(os.fstat(descriptor), path, own=own)
    except PathRefused:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(kind: os.stat_result, path: str, *, own: bool) -> None:
    if not stat.S_ISREG(kind.st_mode):
        found = "a link" if stat.S_ISLNK(kind.st_mode) else "a device, pipe or socket"
        raise PathRefused(path, f"{found}, which is not opened", "a regular file")
    if own and kind.st_nlink != 1:
        raise PathRefused(path, "linked from elsewhere, and not opened", "a file of its own")
