"""The tools of a writer: which does what, and the format check of its report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from flows.common.errors import ReadError
from flows.common.gather import in_thread
from flows.pipeline.inputs.submission_check import check_report
from flows.pipeline.native.folder import REPORT, Folder
from flows.pipeline.native.offered import (
    Arguments,
    Delete,
    FilePage,
    Fill,
    Insert,
    Nothing,
    PageView,
    Rows,
    Show,
    Start,
    offered_tools,
)
from flows.pipeline.native.reading import list_files, read_file, view_page
from flows.pipeline.native.renders import Layout, Renders
from flows.pipeline.native.toolbox import (
    InternalFault,
    ToolAnswer,
    Toolbox,
    ToolFault,
    encodable,
    read_arguments,
)
from flows.pipeline.native.writing import (
    add_rows,
    delete,
    fill,
    insert,
    show_report,
    start_report,
    unfilled,
)
from flows.schema.report_task import ReportFile, ReportStatus
from flows.stages.length import length_text, measure_length, parse_length_limit

_REPORT = "/".join(REPORT)

A = TypeVar("A", bound=Arguments)


class Tools(Toolbox):
    """The tools of one attempt."""

    def __init__(
        self, folder: Folder, renders: Renders, *, limit: str | None, page_chars: int, images: bool
    ) -> None:
        """Set up the tools.

        Args:
            folder: the scratch folder.
            renders: store of page counts and images.
            limit: the task's length limit as its author wrote it; None without one.
            page_chars: characters of a file in one answer.
            images: True if the model takes images.
        """
        super().__init__(offered_tools(images=images))
        self._folder = folder
        self._renders = renders
        self._limit = limit
        self._work: Mapping[str, Callable[[str, str], ToolAnswer]] = {
            "list_files": _taking(Nothing, lambda _: list_files(folder)),
            "read_file": _taking(FilePage, lambda wanted: read_file(folder, wanted, page_chars)),
            "start_report": _taking(Start, lambda wanted: start_report(folder, wanted, page_chars)),
            "show_report": _taking(Show, lambda wanted: show_report(folder, wanted, page_chars)),
            "fill": _taking(Fill, lambda wanted: fill(folder, wanted)),
            "insert": _taking(Insert, lambda wanted: insert(folder, wanted)),
            "add_rows": _taking(Rows, lambda wanted: add_rows(folder, wanted)),
            "delete": _taking(Delete, lambda wanted: delete(folder, wanted)),
        }

    async def carry_out(self, name: str, arguments: str, caller: str) -> ToolAnswer:
        """Carry out a call; all but two tools work in a thread."""
        if name == "view_page":
            wanted = read_arguments(name, arguments, PageView)
            path, data = await in_thread(self._folder.read, wanted.path)
            return await view_page(self._renders, path, data, wanted, caller)
        if name == "check_report":
            read_arguments(name, arguments, Nothing)
            return await self._check(caller)
        return await in_thread(self._work[name], name, arguments)

    async def _check(self, caller: str) -> ToolAnswer:
        data, why = await in_thread(self._folder.report)
        if data is None:
            raise ToolFault(_REPORT, f"no report ({why})", "one", "call start_report first")
        found = await in_thread(_checked, data)
        if found.status is not ReportStatus.readable or found.words is None:
            why = f"{_REPORT} is {found.status.value}, and would score 0: {found.reason}."
            return ToolAnswer(encodable(why))
        layout = await self._renders.layout(data, ".docx", caller=caller)
        words = found.words
        counted = f"body {words.body:,}, tables {words.tables:,}, notes {words.notes:,}, text boxes "
        counted = f"{words.counted:,} ({counted}{words.text_boxes:,})"
        lines = [
            f"{_REPORT} is readable.",
            f"Words that count: {counted}; in headers and footers, which don't count: {words.outside:,}.",
            f"Pages: {layout.said}.",
            _limit(self._limit, words.counted, layout),
            unfilled(data) or "Nothing is left to fill in.",
            *(f"Notice: {notice.kind}, {notice.place}: {notice.detail}" for notice in found.notices),
        ]
        return ToolAnswer(encodable("\n".join(lines)))


def _taking(kind: type[A], work: Callable[[A], ToolAnswer]) -> Callable[[str, str], ToolAnswer]:
    """Wrap `work` so that it parses its arguments from JSON."""
    return lambda name, text: work(read_arguments(name, text, kind))


def _checked(data: bytes) -> ReportFile:
    with tempfile.TemporaryDirectory(prefix="report-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / REPORT[-1]
        path.write_bytes(data)
        try:
            return check_report(path)
        except ReadError as error:
            # python-docx opens it, but our reader fails.
            raise InternalFault(_REPORT, error.found, error.expected, error.remedy) from error


def _limit(limit: str | None, words: int, layout: Layout) -> str:
    if limit is None:
        return "Limit of length: the task states none apart from its instruction."
    parsed = parse_length_limit(limit)
    measures = measure_length(parsed, words=words, pages=layout.pages)
    return f"Limit of length ({limit}): {length_text(parsed, measures)}."
