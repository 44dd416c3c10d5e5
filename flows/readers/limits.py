"""Limits for one document, and progress reports of a reader."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

MAX_TEXT = 10_000_000  # characters of one document's text; some 4,000 full pages

MAX_BYTES = 100 * 1024 * 1024  # bytes of one file


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for reading one document."""

    seconds: float = 60.0  # elapsed time from when the reading process has the file
    memory: int = 1024 * 1024 * 1024  # bytes above what that process uses when it starts
    # Additional time for each page that was read, so that only stuck documents time out.
    page_seconds: float = 1.0


PROGRESS: ContextVar[Callable[[int, int], None] | None] = ContextVar("reading_progress", default=None)


def progress(done: int, total: int) -> None:
    """Report that `done` of `total` pages are read."""
    report = PROGRESS.get()
    if report is not None:
        report(done, total)
