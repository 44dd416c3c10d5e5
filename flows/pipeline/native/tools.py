"""Dispatch of the model's tool calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from flows.common.errors import ReadError, StaffbenchError, StoreError
from flows.common.gather import in_thread
from flows.pipeline.native.answers import (
    InternalFault,
    ToolAnswer,
    ToolFault,
    encodable,
    refusal,
    without_local_paths,
)
from flows.pipeline.native.arguments import (
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
    read_arguments,
)
from flows.pipeline.native.checking import check_answer, read_report
from flows.pipeline.native.folder import Folder
from flows.pipeline.native.offered import offered_tools
from flows.pipeline.native.paths import REPORT, display_path
from flows.pipeline.native.reading import list_files, read_file, view_page
from flows.pipeline.native.renders import Renders
from flows.pipeline.native.writing import add_rows, delete, fill, insert, show_report, start_report

A = TypeVar("A", bound=Arguments)


class Tools:
    """The tools of one attempt.

    Attributes:
        offered: their schemas, as sent.
        unread: files that could not be read, a sentence each.
    """

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
        self.offered = offered_tools(images=images)
        self.unread: list[str] = []
        self._names = [tool["function"]["name"] for tool in self.offered]
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

    async def call(self, name: str, arguments: str, *, caller: str) -> ToolAnswer:
        """Carry out one call. Equal calls in equal folders get equal answers.

        Args:
            name: of the tool, as the model wrote it.
            arguments: JSON as the model wrote it.
            caller: see `Renders.layout`.

        Returns:
            The answer; for the model's errors too.

        Raises:
            StoreError: the disk is full or fails; the run ends, and the same command resumes it.
            InternalFault: the tool itself failed.
        """
        try:
            return await self._carry_out(name, arguments, caller)
        except (StoreError, InternalFault):
            raise
        except ReadError as error:
            line = f"{error.where}: {error.found}"
            if line not in self.unread:
                self.unread.append(encodable(line))
            return refusal(error)
        except StaffbenchError as error:
            return refusal(error)
        except OSError as error:
            raise StoreError(
                f"tool {name}",
                f"the disk fails ({error.strerror or error})",
                remedy="free disk space or check the disk; the same command resumes",
            ) from error
        except Exception as error:
            # A bug of ours must not count as the model's error, nor end other attempts.
            found = f"it failed ({type(error).__name__}: {without_local_paths(str(error))})"
            raise InternalFault(f"tool {name}", found, remedy="report it") from error

    async def _carry_out(self, name: str, arguments: str, caller: str) -> ToolAnswer:
        if name not in self._names:
            raise ToolFault(display_path(name) or "tool", "no such tool", "one of " + ", ".join(self._names))
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
            raise ToolFault("/".join(REPORT), f"no report ({why})", "one", "call start_report first")
        found = await in_thread(read_report, data)
        return await check_answer(data, found, self._renders, self._limit, caller)


def _taking(kind: type[A], work: Callable[[A], ToolAnswer]) -> Callable[[str, str], ToolAnswer]:
    """Wrap `work` so that it parses its arguments from JSON."""
    return lambda name, text: work(read_arguments(name, text, kind))
