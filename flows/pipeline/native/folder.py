"""The scratch folder of one attempt: `attachments/` to read, and `outputs/` for the report.

A path from the model is opened component by component, relative to the open parent folder and never through a
link. So no path leads out of the folder, not even by a link that is created between check and open.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from flows.common.errors import ScenarioError, StoreError
from flows.common.untrusted import (
    DRIVE,
    FILE,
    FOLDER,
    NO_FILE,
    NOT_THERE,
    UNPRINTABLE,
    PathRefused,
    actual_name,
    open_parent,
    open_regular,
)
from flows.readers.limits import MAX_BYTES
from flows.schema.report_task import Attachment, ReportTask

ATTACHMENTS = "attachments"
OUTPUTS = "outputs"
REPORT = (OUTPUTS, "report.docx")

# Assignments are written for Harbor's sandbox, where the agent works in `/app`.
_SANDBOX = "/app"
_LONGEST = 4_096  # characters; no file system takes a longer path


def parts_of(path: str) -> tuple[str, ...]:
    """Split a path from the model into one of the two folders and at least one more component.

    `/app/attachments/x` and `./attachments/x` mean `attachments/x`. Nothing is opened.

    Raises:
        PathRefused: the path is absolute, contains `..`, a backslash, a drive or an unprintable character, or
            is not in one of the two folders.
    """
    where = display_path(path)
    if not path.strip() or len(path) > _LONGEST:
        raise _refused(where, "no path" if not path.strip() else f"{len(path):,} characters")
    if UNPRINTABLE.search(path):
        raise _refused(where, "a character that no file's name holds")
    if "\\" in path:
        raise _refused(where, "a backslash", "/ between the parts")
    sandboxed = path == _SANDBOX or path.startswith(_SANDBOX + "/")
    inner = path[len(_SANDBOX) + 1 :] if sandboxed else path
    if inner.startswith("/") or DRIVE.match(inner):
        raise _refused(where, "an absolute path")
    parts = tuple(part for part in inner.split("/") if part not in ("", "."))
    if ".." in parts:
        raise _refused(where, "a path with ..")
    if not parts or parts[0] not in (ATTACHMENTS, OUTPUTS):
        raise _refused(where, "outside the two folders")
    if len(parts) == 1:
        raise _refused(where, "a folder", "a file in it")
    return parts


def display_path(path: str) -> str:
    """Format a path for an answer: shortened, with unprintable characters replaced."""
    printable = UNPRINTABLE.sub("\ufffd", path)
    return printable if len(printable) <= 200 else printable[:200] + "..."  # noqa: PLR2004 -- a line or two


def _refused(where: str, found: str, expected: str = "") -> PathRefused:
    return PathRefused(
        where or "path",
        found,
        expected or f"a path that starts with {ATTACHMENTS}/ or {OUTPUTS}/",
        "call list_files for the names",
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the scratch folder."""

    path: str  # relative to the scratch folder
    size: int | None  # in bytes; None if it is not a regular file, which no tool opens


class Folder:
    """The scratch folder, a context manager that closes its descriptor."""

    def __init__(self, root: Path) -> None:
        """Create the two folders in `root`, which exists and is empty."""
        self._root = os.open(root, FOLDER)
        try:
            for name in (ATTACHMENTS, OUTPUTS):
                os.mkdir(name, 0o700, dir_fd=self._root)
        except OSError:
            os.close(self._root)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        os.close(self._root)

    def lay_out(self, task_folder: Path, attachments: Sequence[Attachment]) -> None:
        """Copy the files of one step; files of the same name from an earlier step are replaced.

        Raises:
            ScenarioError: a file can't be read, or file names collide on this file system (they differ only
                in case).
            StoreError: the disk is full or fails.
        """
        try:
            source = os.open(task_folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise ScenarioError(
                task_folder, f"can't be opened ({error.strerror})", "a task's tree"
            ) from error
        try:
            for attachment in attachments:
                self._copy(source, task_folder, attachment)
        finally:
            os.close(source)
        lost = {each.name for each in attachments} - {entry.path for entry in self.entries()}
        if lost:
            raise ScenarioError(
                task_folder,
                f"{', '.join(sorted(lost))}: the name collides with another file on this file system",
                "names that differ in more than case",
            )

    def entries(self) -> list[Entry]:
        """List all files in the two folders, sorted by path.

        Raises:
            PathRefused: one of the two is no longer a folder.
            StoreError: the disk fails.
        """
        found: list[Entry] = []
        stack: list[tuple[str, ...]] = [(ATTACHMENTS,), (OUTPUTS,)]
        while stack:
            folder = stack.pop()
            with self._refusing("/".join(folder)), open_parent(self._root, (*folder, "")) as inner:
                for name in os.listdir(inner):  # noqa: PTH208 -- pathlib lists no descriptor
                    kind = os.stat(name, dir_fd=inner, follow_symlinks=False)
                    path = (*folder, name)
                    if stat.S_ISDIR(kind.st_mode):
                        stack.append(path)
                    else:
                        size = kind.st_size if stat.S_ISREG(kind.st_mode) and kind.st_nlink == 1 else None
                        found.append(Entry("/".join(path), size))
        return sorted(found, key=lambda entry: entry.path)

    def read(self, path: str) -> tuple[str, bytes]:
        """Read a file that the model named.

        Returns:
            Its path as listed by `entries`, and its bytes.

        Raises:
            PathRefused: see `parts_of`; or the file is missing, not regular, linked, or too large.
            StoreError: the disk fails.
        """
        parts = parts_of(path)
        with self._refusing(path), open_parent(self._root, parts) as inner:
            name = actual_name(inner, parts[-1])
            descriptor = open_regular(inner, name, os.O_RDONLY, display_path(path), own=True)
            with open(descriptor, "rb") as file:  # noqa: PTH123 -- pathlib opens no descriptor
                if os.fstat(descriptor).st_size > MAX_BYTES:
                    raise PathRefused(display_path(path), f"over {MAX_BYTES:,} bytes", "a smaller file")
                return "/".join((*parts[:-1], name)), file.read(MAX_BYTES + 1)

    def write(self, path: str, data: bytes) -> None:
        """Write the report.

        Raises:
            PathRefused: the path is another one, or not an unlinked regular file.
            StoreError: the disk is full or fails.
        """
        parts = parts_of(path)
        if parts != REPORT:
            only = f"{'/'.join(REPORT)}, the only file"
            raise PathRefused(display_path("/".join(parts)), "not to be written", only)
        with self._refusing(path), open_parent(self._root, parts) as inner:
            flags = os.O_WRONLY
            with contextlib.suppress(FileExistsError):
                os.close(os.open(parts[-1], flags | os.O_CREAT | os.O_EXCL | FILE, 0o600, dir_fd=inner))
            descriptor = open_regular(inner, parts[-1], flags, display_path(path), own=True)
            # Truncate only after the check that it is not a link.
            with open(descriptor, "wb") as file:  # noqa: PTH123 -- pathlib opens no descriptor
                os.ftruncate(descriptor, 0)
                file.write(data)

    def report(self) -> tuple[bytes | None, str]:
        """Return the report's bytes and an empty text, or None and the reason why there is none.

        Raises:
            StoreError: the disk fails.
        """
        path = "/".join(REPORT)
        try:
            return self.read(path)[1], ""
        except PathRefused as error:
            return None, f"{path}: {error.found}"

    def _copy(self, source: int, task_folder: Path, attachment: Attachment) -> None:
        parts, origin = parts_of(attachment.name), tuple(attachment.path.split("/"))
        try:
            with open_parent(source, origin) as folder:
                descriptor = open_regular(folder, origin[-1], os.O_RDONLY, attachment.path, own=False)
        except (PathRefused, OSError) as error:
            found = error.found if isinstance(error, PathRefused) else f"can't be read ({error.strerror})"
            raise ScenarioError(task_folder / attachment.path, found, "a readable file") from error
        try:
            with open(descriptor, "rb") as file, open_parent(self._root, parts, make=True) as folder:  # noqa: PTH123 -- pathlib opens no descriptor
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(parts[-1], dir_fd=folder)
                copy = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE, 0o600, dir_fd=folder)
                with open(copy, "wb") as target:  # noqa: PTH123 -- pathlib opens no descriptor
                    shutil.copyfileobj(file, target)
        except OSError as error:
            raise _failed(attachment.name, error) from error

    @contextlib.contextmanager
    def _refusing(self, path: str) -> Generator[None]:
        """Convert OS errors: `PathRefused` for the model's errors, `StoreError` for a failing disk."""
        try:
            yield
        except OSError as error:
            if error.errno in NOT_THERE:
                raise _refused(display_path(path), "no such file", "a file that is there") from error
            if error.errno in NO_FILE:
                raise PathRefused(display_path(path), "a link, device or pipe", "a regular file") from error
            raise _failed(display_path(path), error) from error


@contextlib.contextmanager
def scratch_folder(root: Path) -> Generator[Folder]:
    """Create a scratch folder below `root`, and delete it afterwards.

    Raises:
        StoreError: it can't be created.
    """
    with contextlib.ExitStack() as stack:
        try:
            root.mkdir(parents=True, exist_ok=True)
            temporary = tempfile.TemporaryDirectory(prefix="attempt-", dir=root, ignore_cleanup_errors=True)
            folder = stack.enter_context(Folder(Path(stack.enter_context(temporary))))
        except OSError as error:
            raise _failed(str(root), error) from error
        yield folder


def check_layout(task: ReportTask) -> None:
    """Check that all files of a task belong below `attachments/`.

    Raises:
        ScenarioError: one does not.
    """
    for attachment in task.attachments:
        try:
            parts = parts_of(attachment.name)
        except PathRefused as error:
            raise ScenarioError(attachment.path, error.found, f"a file below {ATTACHMENTS}/") from error
        if parts[0] != ATTACHMENTS or "/".join(parts) != attachment.name:
            raise ScenarioError(attachment.path, f"laid out as {attachment.name}", f"below {ATTACHMENTS}/")


def _failed(path: str, error: OSError) -> StoreError:
    return StoreError(
        path,
        f"the scratch folder fails ({error.strerror or error})",
        remedy="free disk space or check the disk; the same command resumes",
    )
