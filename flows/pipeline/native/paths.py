"""Validation of the model's file paths, before anything is opened."""

from __future__ import annotations

from flows.common.untrusted import DRIVE, UNPRINTABLE, PathRefused

ATTACHMENTS = "attachments"
OUTPUTS = "outputs"
REPORT = (OUTPUTS, "report.docx")

# Assignments are written for Harbor's sandbox, where the agent works in `/app`.
_SANDBOX = "/app"
_LONGEST = 4_096  # characters; no file system takes a longer path


def parts_of(path: str) -> tuple[str, ...]:
    """Split and check a path from the model; nothing is opened.

    `/app/attachments/x` and `./attachments/x` mean `attachments/x`.

    Args:
        path: as the model wrote it.

    Returns:
        The components below the scratch folder: one of the two folders, and at least one more.

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
    inner = path
    if path == _SANDBOX or path.startswith(_SANDBOX + "/"):
        inner = path[len(_SANDBOX) + 1 :]
    if inner.startswith("/") or DRIVE.match(inner):
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
    """Check that a path to write is the report's.

    Raises:
        PathRefused: it is another file.
    """
    if parts != REPORT:
        raise PathRefused(
            display_path("/".join(parts)), "not to be written", f"{'/'.join(REPORT)}, the only file"
        )


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
