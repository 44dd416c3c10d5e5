"""Attachments that are text already: mail, tables of values, logs. The source is the file."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from builders.markdown import SourceError


def copy_text(path: Path) -> bytes:
    """Return the bytes of the source at `path`.

    Raises SourceError where they aren't UTF-8, or have other line ends than git keeps.
    """
    blob = path.read_bytes()
    try:
        blob.decode()
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error
    if b"\r" in blob:
        raise SourceError(f"{path}: carriage returns; git would change them, and a rebuild would differ")
    return blob


BUILDERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {
    ending: (ending, copy_text) for ending in (".eml", ".csv", ".txt")
}
"""Ending of a source to the ending of its file and the function that builds it."""
