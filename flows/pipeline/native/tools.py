"""The tools of a writer: which does what, and the format check of its report."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from flows.common.errors import ReadError
from flows.common.gather import in_thread
from flows.pipeline.inputs.submission_check import check_report
from flows.pipeline.native.folder import REPORT, Folder
from flows.pipeline.native.offered import (
    TOOLS,
    Arguments,
    Delete,
    FilePage,
    Fill,
    Insert,
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
from flows.stages.length import length_text, parse_length_limit

_REPORT = "/".join(REPORT)
_Tool = Callable[..., ToolAnswer]
_PAGED: dict[type[Arguments], _Tool] = {FilePage: read_file, Start: start_report, Show: show_report}
_EDITS: dict[type[Arguments], _Tool] = {Fill: fill, Insert: insert, Rows: add_rows, Delete: delete}


class Tools(Toolbox):
    """The tools of one attempt."""

    def __init__(
        self, folder: Folder, renders: Renders, *, limit: str | None, page_chars: int, images: bool
    ) -> None:
        """Set up the tools.

        `limit` is the task's length limit as its author wrote it.
        """
        super().__init__(offered_tools(images=images))
        self._folder = folder
        self._renders = renders
        self._limit = limit
        self._page_chars = page_chars

    async def carry_out(self, name: str, arguments: str, caller: str) -> ToolAnswer:
        """Carry out a call; all but two tools work in a thread."""
        wanted = read_arguments(name, arguments, TOOLS[name].takes)
        if isinstance(wanted, PageView):
            path, data = await in_thread(self._folder.read, wanted.path)
            return await view_page(self._renders, path, data, wanted, caller)
        if name == "check_report":
            return await self._check(caller)
        return await in_thread(self._answer, wanted)

    def _answer(self, wanted: Arguments) -> ToolAnswer:
        kind = type(wanted)
        if kind in _PAGED:
            return _PAGED[kind](self._folder, wanted, self._page_chars)
        return _EDITS[kind](self._folder, wanted) if kind in _EDITS else list_files(self._folder)

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
    return f"Limit of length ({limit}): {length_text(parsed, words=words, pages=layout.pages)}."
