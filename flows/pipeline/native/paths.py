"""The names that a model gives to files, before anything is opened."""

from __future__ import annotations

import re

from flows.common.errors import StaffbenchError

ATTACHMENTS = "attachments"
OUTPUTS = "outputs"
REPORT = (OUTPUTS, "report.docx")

# The assignment's words are the task author's, who knows Harbor's sandbox: the agent works in `/app`.
_SANDBOX = "/app"
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST = 4_096  # characters; no file system takes a longer path


class PathRefused(StaffbenchError):  # noqa: N818 -- it is a rule doing its work, and the model's to mend
    """A path that a tool does not open: it leads elsewhere, or nothing that can be read lies there."""


def parts_of(path: str) -> tuple[str, ...]:
    """Take apart a path that a model wrote; nothing is opened.

    `/app/attachments/x` and `./attachments/x` are other spellings of `attachments/x`.

    Args:
        path: as the model wrote it.

    Returns:
        The names from the scratch folder on: one of the two folders, and at least one more.

    Raises:
        PathRefused: it is absolute, has `..`, a backslash, a drive or a character that no name holds, or
            does not lie in one of the two folders.
    """
    where = display_path(path)
    if not path.strip() or len(path) > _LONGEST:
        raise _refused(where, "no path" if not path.strip() else f"{len(path):,} characters")
    if _UNPRINTABLE.search(path):
        raise _refused(where, "a character that no file's name holds")
    if "\\" in path:
        raise _refused(where, "a backslash", "/ between the parts")
    inner = path
    if path == _SANDBOX or path.startswith(_SANDBOX + "/"):
        inner = path[len(_SANDBOX) + 1 :]
    if inner.startswith("/") or _DRIVE.match(inner):
        raise _refused(where, "an absolute path")
    parts = tuple(part for part in inner.split("/") if part not in ("", "."))
    if ".." in parts:
        raise _refused(where, "a path with ..")
    if not parts or parts[0] not in (ATTACHMENTS, OUTPUTS):
        raise _refused(where, "outside the two folders")
    if len(parts) == 1:
        raise PathRefused(where, "a folder", "a file in it", "call list_files for the names")
    return parts


def check_written(parts: tuple[str, ...]) -> None:
    """Hold a path that is to be written to the one file that may be.

    Raises:
        PathRefused: it is any other.
    """
    if parts != REPORT:
        raise PathRefused(
            display_path("/".join(parts)), "not to be written", f"{'/'.join(REPORT)}, the only file"
        )


def display_path(path: str) -> str:
    """A path as it is quoted in an answer: short, and of characters that any text may hold."""
    printable = _UNPRINTABLE.sub("\ufffd", path)
    return printable if len(printable) <= 200 else printable[:200] + "..."  # noqa: PLR2004 -- a line or two


def _refused(where: str, found: str, expected: str = "") -> PathRefused:
    return PathRefused(
        where or "path",
        found,
        expected or f"a path that starts with {ATTACHMENTS}/ or {OUTPUTS}/",
        "call list_files for the names",
    )
