"""Open files of a folder that others wrote: inside it, regular, and never through a link.

A path is opened component by component, relative to the open parent folder (`openat`). So no path leads out
of the folder, not even by a link that is created between check and open.
"""

import contextlib
import errno
import os
import re
import stat
import unicodedata
from collections.abc import Generator
from pathlib import Path, PurePosixPath

from flows.common.errors import StaffbenchError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe must not block.
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

NOT_THERE = frozenset({errno.ENOENT, errno.ENAMETOOLONG, errno.ENOTDIR})
NO_FILE = frozenset({errno.ELOOP, errno.ENXIO, errno.EISDIR})

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
DRIVE = re.compile(r"[A-Za-z]:")


class PathRefused(StaffbenchError):  # noqa: N818 -- an answer, not a crash
    """A path that is not opened: outside the folder, missing, or not a readable file."""


def plain_name(name: str) -> bool:
    """Whether `name` is a single printable path component."""
    return bool(name.strip()) and "/" not in name and inside(name) == name


def inside(name: str, base: str = "") -> str | None:
    """Normalise a path that a file of the folder gives, without file access.

    Args:
        name: the path, with `/` between its parts.
        base: folder that the path is relative to, from the root.

    Returns:
        The path from the root; None if it is absolute, leads out of the root, or has a drive, a backslash or
        an unprintable character.
    """
    if not name or name.startswith("/") or "\\" in name or DRIVE.match(name) or UNPRINTABLE.search(name):
        return None
    parts: list[str] = []
    for part in (*PurePosixPath(base).parts, *PurePosixPath(name).parts):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or None


def first_link(root: Path, name: str) -> Path | None:
    """Return the first link in the path `name` below `root`; None if there is none."""
    path = root
    for part in PurePosixPath(name).parts:
        path /= part
        if path.is_symlink():
            return path
    return None


def is_file(root: Path, name: str) -> bool:
    """Whether `name` is a regular file below `root`, without links in its path."""
    return first_link(root, name) is None and (root / name).is_file()


def open_inside(root: Path, name: str) -> int:
    """Open a file below `root` for reading; return its descriptor.

    Args:
        root: the folder; it may itself be reached through a link.
        name: path of the file from there.

    Raises:
        PathRefused: it leads out of the folder, or is not a regular file.
        OSError: it is missing, can't be opened, or has a link in its path (`ELOOP`).
    """
    plain = inside(name)
    if plain is None:
        raise PathRefused(root / name, "a path that leads out of its folder", "a file in it")
    parts = tuple(plain.split("/"))
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with open_parent(top, parts, exact=True) as parent:
            return open_regular(parent, parts[-1], os.O_RDONLY, name, own=False)
    finally:
        os.close(top)


@contextlib.contextmanager
def open_parent(
    root: int, parts: tuple[str, ...], *, make: bool = False, exact: bool = False
) -> Generator[int]:
    """Open the parent folder of a path, component by component.

    Args:
        root: descriptor of the folder that the path is relative to.
        parts: components of the path.
        make: True to create missing folders.
        exact: True to take names by their bytes, not by Unicode equivalence.

    Raises:
        OSError: a component is missing, or a link (`ELOOP`).
    """
    current = os.dup(root)
    try:
        for part in parts[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
            name = part if make or exact else actual_name(current, part)
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
    """Return the name on disk, which may differ from the one given by Unicode composition."""
    names = os.listdir(folder)
    if name in names:
        return name
    equivalent = [other for other in names if _composed(other) == _composed(name)]
    return equivalent[0] if len(equivalent) == 1 else name


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def open_regular(folder: int, name: str, flags: int, path: str, *, own: bool) -> int:
    """Open a regular file; one of our own folder (`own`) must have only one hard link.

    Raises:
        PathRefused: it is something else; `path` names it.
        OSError: it is missing or can't be opened.
    """
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
