"""The tool `check_report`: the format check before grading, for the model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from flows.common.errors import ReadError
from flows.pipeline.inputs.submission_check import check_report
from flows.pipeline.native.answers import InternalFault, ToolAnswer, encodable
from flows.pipeline.native.paths import REPORT
from flows.pipeline.native.renders import Layout, Renders
from flows.pipeline.native.writing import unfilled
from flows.schema.report_task import ReportFile, ReportStatus
from flows.stages.length import length_text, parse_length_limit

_REPORT = "/".join(REPORT)


def read_report(data: bytes) -> ReportFile:
    """Check the format of a report.

    Raises:
        InternalFault: python-docx opens the report, but our reader fails.
    """
    with tempfile.TemporaryDirectory(prefix="report-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / REPORT[-1]
        path.write_bytes(data)
        try:
            return check_report(path)
        except ReadError as error:
            raise InternalFault(_REPORT, error.found, error.expected, error.remedy) from error


async def check_answer(
    data: bytes, found: ReportFile, renders: Renders, limit: str | None, caller: str
) -> ToolAnswer:
    """Build the answer of `check_report`.

    Args:
        data: the report.
        found: result of the format check.
        renders: store of page counts.
        limit: the task's length limit as its author wrote it; None without one.
        caller: see `Renders.layout`.

    Raises:
        StoreError: the page count can't be stored.
    """
    if found.status is not ReportStatus.readable or found.words is None:
        return ToolAnswer(encodable(f"{_REPORT} is {found.status.value}, and would score 0: {found.reason}."))
    layout = await renders.layout(data, ".docx", caller=caller)
    words = found.words
    counted = f"body {words.body:,}, tables {words.tables:,}, notes {words.notes:,}, text boxes "
    counted = f"{words.counted:,} ({counted}{words.text_boxes:,})"
    lines = [
        f"{_REPORT} is readable.",
        f"Words that count: {counted}; in headers and footers, which don't count: {words.outside:,}.",
        f"Pages: {layout.said}.",
        _limit(limit, words.counted, layout),
        unfilled(data) or "Nothing is left to fill in.",
        *(f"Notice: {notice.kind}, {notice.place}: {notice.detail}" for notice in found.notices),
    ]
    return ToolAnswer(encodable("\n".join(lines)))


def _limit(limit: str | None, words: int, layout: Layout) -> str:
    if limit is None:
        return "Limit of length: the task states none apart from its instruction."
    parsed = parse_length_limit(limit)
    return f"Limit of length ({limit}): {length_text(parsed, words=words, pages=layout.pages)}."
