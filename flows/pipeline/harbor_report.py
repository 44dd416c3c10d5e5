"""The report.docx of an attempt, opened: the format check that comes before any score."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import docx

from flows.pipeline.writers import read_brief
from flows.schema.errors import ReadError
from flows.schema.harbor import ReportState

_EMPTY = "there is nothing to read in it"
"""What the readers say of a document without text, be it in tables, headers or text boxes."""


@dataclass(frozen=True)
class Report:
    """What an attempt's report.docx holds.

    Attributes:
        text: None where it can't be read.
        detail: why it has no text; else what the reader left out of it.
    """

    text: str | None
    detail: str


def open_report(path: Path) -> tuple[ReportState, Report]:
    """The format check: whatever fault the .docx library has with a file makes it corrupt.

    Args:
        path: of a report.docx.

    Returns:
        `readable`, `corrupt` or `empty`; and its text, None where it is corrupt.
    """
    try:
        docx.Document(str(path))
    except Exception as error:  # noqa: BLE001 -- the library lets XML, zip and key errors through as they are
        return ReportState.corrupt, Report(None, f"{type(error).__name__}: {' '.join(str(error).split())}")
    try:
        text, left_out = read_brief(path)
    except ReadError as error:
        if error.found == _EMPTY:
            return ReportState.empty, Report("", "no text anywhere in it")
        return ReportState.corrupt, Report(None, error.found)
    return ReportState.readable, Report(text, left_out)
