"""The tools of one attempt: a call in, an answer out, whatever the model wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from flows.common.errors import ReadError, StaffbenchError, StoreError
from flows.pipeline.native.answers import InternalFault, ToolAnswer, ToolFault, held, refusal, unplaced
from flows.pipeline.native.arguments import (
    Arguments,
    Delete,
    FilePage,
    Fill,
    Insert,
    Nothing,
    PageView,
    Row,
    Show,
    Start,
    read_arguments,
)
from flows.pipeline.native.checking import read_report, tell
from flows.pipeline.native.folder import Folder
from flows.pipeline.native.offered import offered_tools
from flows.pipeline.native.paths import REPORT, display_path
from flows.pipeline.native.reading import list_files, read_file, view_page
from flows.pipeline.native.renders import Renders
from flows.pipeline.native.threads import in_thread
from flows.pipeline.native.writing import add_row, delete, fill, insert, show_report, start_report

A = TypeVar("A", bound=Arguments)


class Tools:
    """The tools in one scratch folder.

    Attributes:
        offered: their schemas, as they are sent.
        unread: what could not be read, a sentence for each file: nobody's fault here, and worth knowing.
    """

    def __init__(
        self, folder: Folder, renders: Renders, *, limit: str | None, page_chars: int, images: bool
    ) -> None:
        """Offer them.

        Args:
            folder: what they work in.
            renders: where page counts and pictures are kept.
            limit: the task's limit of length in its author's words; None where it has none.
            page_chars: characters of a file in one answer.
            images: whether the model takes images.
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
            "add_row": _taking(Row, lambda wanted: add_row(folder, wanted)),
            "delete": _taking(Delete, lambda wanted: delete(folder, wanted)),
        }

    async def call(self, name: str, arguments: str, *, asker: str) -> ToolAnswer:
        """Carry out one call. Equal calls in equal folders get equal answers.

        Args:
            name: of the tool, as the model wrote it.
            arguments: JSON as the model wrote it.
            asker: see `Renders.layout`.

        Returns:
            The answer; what the model did wrong is one too.

        Raises:
            StoreError: the disk is full or fails: the run ends, and the same command resumes it.
            InternalFault: the tool itself failed.
        """
        try:
            return await self._carry_out(name, arguments, asker)
        except (StoreError, InternalFault):
            raise
        except ReadError as error:
            line = f"{error.where}: {error.found}"
            if line not in self.unread:
                self.unread.append(held(line))
            return refusal(error)
        except StaffbenchError as error:
            return refusal(error)
        except OSError as error:
            raise StoreError(
                f"tool {name}",
                f"the disk fails ({error.strerror or error})",
                remedy="free space, or mend the disk; the same command resumes",
            ) from error
        except Exception as error:
            # A fault of ours must not look like one of the model's, nor end the attempts beside it.
            found = f"it failed ({type(error).__name__}: {unplaced(str(error))})"
            raise InternalFault(f"tool {name}", found, remedy="report it") from error

    async def _carry_out(self, name: str, arguments: str, asker: str) -> ToolAnswer:
        if name not in self._names:
            raise ToolFault(display_path(name) or "tool", "no such tool", "one of " + ", ".join(self._names))
        if name == "view_page":
            wanted = read_arguments(name, arguments, PageView)
            path, data = await in_thread(self._folder.read, wanted.path)
            return await view_page(self._renders, path, data, wanted, asker)
        if name == "check_report":
            read_arguments(name, arguments, Nothing)
            return await self._check(asker)
        return await in_thread(self._work[name], name, arguments)

    async def _check(self, asker: str) -> ToolAnswer:
        data, why = await in_thread(self._folder.report)
        if data is None:
            raise ToolFault("/".join(REPORT), f"no report ({why})", "one", "call start_report first")
        found = await in_thread(read_report, data)
        return await tell(data, found, self._renders, self._limit, asker)


def _taking(kind: type[A], work: Callable[[A], ToolAnswer]) -> Callable[[str, str], ToolAnswer]:
    """`work` with the arguments read from JSON before it."""
    return lambda name, text: work(read_arguments(name, text, kind))
