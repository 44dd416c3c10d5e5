"""What one document may take at most, and how a reader says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

MAX_TEXT = 10_000_000
"""Characters of one document's text; some 4,000 full pages."""

MAX_BYTES = 100 * 1024 * 1024
"""Bytes of one file."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one document may take.

    Attributes:
        seconds: by the clock, from when a reading process has the file.
        memory: bytes over what that process takes at its start.
        page_seconds: more for each page that is read: a long document has time, a stuck one has not.
    """

    seconds: float = 60.0
    memory: int = 1024 * 1024 * 1024
    page_seconds: float = 1.0


PROGRESS: ContextVar[Callable[[int, int], None] | None] = ContextVar("reading_progress", default=None)


def progress(done: int, total: int) -> None:
    """Say that `done` of `total` pages are read; free where nobody listens."""
    report = PROGRESS.get()
    if report is not None:
        report(done, total)
