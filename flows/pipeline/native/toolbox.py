"""Calls of tools: their arguments, answers and errors, the model's, which it is shown, and internal ones."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from flows.common.errors import ReadError, StaffbenchError, StoreError
from flows.common.strict_json import strict_json
from flows.pipeline.native.folder import display_path
from flows.pipeline.native.offered import Arguments
from flows.schema.completion import Image

MAX_ARGUMENTS = 200_000
"""Longest arguments of one call, in characters of JSON."""

_MOST_FAULTS = 5
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")


class ToolFault(StaffbenchError):  # noqa: N818 -- an answer, not a crash
    """A tool call that is invalid as the model wrote it."""


class InternalFault(StaffbenchError):  # noqa: N818 -- the counterpart of `ToolFault`
    """A failure of the tool itself. The attempt ends as an error and is not scored."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Answer to a tool call, as shown to the model."""

    text: str  # valid as UTF-8
    images: tuple[Image, ...] = ()  # shown with the text
    is_error: bool = False  # True if the call was not carried out


class Toolbox(ABC):
    """The tools of one chat.

    Attributes:
        offered: their schemas, as sent.
        unread: files that could not be read, a sentence each.
    """

    def __init__(self, offered: Sequence[dict[str, Any]]) -> None:
        self.offered = list(offered)
        self.unread: list[str] = []

    @abstractmethod
    async def carry_out(self, name: str, arguments: str, caller: str) -> ToolAnswer:
        """Carry out a call of a tool that is offered; raise what is wrong with it."""

    async def call(self, name: str, arguments: str, *, caller: str) -> ToolAnswer:
        """Carry out one call. Equal calls in equal folders get equal answers.

        `caller` is the key of the call's completion and its number; see `Renders.layout`.

        Returns:
            The answer; for the model's errors too.

        Raises:
            StoreError: the disk is full or fails; the run ends, and the same command resumes it.
            InternalFault: the tool itself failed.
        """
        try:
            self._check_name(name)
            return await self.carry_out(name, arguments, caller)
        except (StoreError, InternalFault):
            raise
        except StaffbenchError as error:
            line = encodable(f"{error.where}: {error.found}")
            if isinstance(error, ReadError) and line not in self.unread:
                self.unread.append(line)
            # Without memory addresses, which differ by run.
            return ToolAnswer(f"Error: {_ADDRESS.sub('0x...', encodable(str(error)))}", is_error=True)
        except OSError as error:
            raise StoreError(
                f"tool {name}",
                f"the disk fails ({error.strerror or error})",
                remedy="free disk space or check the disk; the same command resumes",
            ) from error
        except Exception as error:
            # A bug of ours must not count as the model's error, nor end other attempts. Equal ones have
            # equal texts, without folders of this machine.
            text = _ADDRESS.sub("0x...", _FOLDERS.sub(".../", str(error)))
            found = f"it failed ({type(error).__name__}: {text})"
            raise InternalFault(f"tool {name}", found, remedy="report it") from error

    def _check_name(self, name: str) -> None:
        names = [tool["function"]["name"] for tool in self.offered]
        if name not in names:
            raise ToolFault(display_path(name) or "tool", "no such tool", "one of " + ", ".join(names))


A = TypeVar("A", bound=Arguments)


def read_arguments(tool: str, text: str, kind: type[A]) -> A:
    """Parse a call's arguments.

    An empty text means no arguments.

    Raises:
        ToolFault: the text is not JSON, too long, or not valid for the tool.
    """
    if len(text) > MAX_ARGUMENTS:
        raise ToolFault(
            tool,
            f"arguments of {len(text):,} characters",
            f"at most {MAX_ARGUMENTS:,}",
            "write less at a time",
        )
    try:
        value: object = _parsed(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ToolFault(
            tool,
            f"the arguments are not JSON ({error or 'nested too deeply'})",
            "one JSON object",
            "call again",
        ) from error
    if not isinstance(value, dict):
        raise ToolFault(tool, f"the arguments are a {type(value).__name__}", "one JSON object", "call again")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        found = [_fault(each) for each in error.errors(include_url=False, include_context=False)]
        more = len(found) - _MOST_FAULTS
        raise ToolFault(
            tool,
            "; ".join(found[:_MOST_FAULTS]) + (f"; and {more} more" if more > 0 else ""),
            "arguments " + ", ".join(_named(kind)) if _named(kind) else "no arguments",
            "call again",
        ) from error


def _parsed(text: str) -> object:
    return strict_json(
        text,
        lambda _: ValueError("a key given twice in one object"),
        lambda name: ValueError(f"the number {name}"),
    )


def _fault(error: Mapping[str, Any]) -> str:
    place = ".".join(map(str, error["loc"]))
    return f"{place}: {str(error['msg'])[:1].lower()}{str(error['msg'])[1:]}"


def _named(kind: type[Arguments]) -> list[str]:
    return [
        name if field.is_required() else f"{name} (optional)" for name, field in kind.model_fields.items()
    ]


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON allows and UTF-8 does not."""
    return text.encode("utf-8", "replace").decode("utf-8")


def page_of(text: str, offset: int, most: int, what: str) -> str:
    """Return one part of a text and how to get the next.

    Of the text from `offset` on, it has `most` characters, or ends at a line end in its last fifth. `what`
    names the text.

    Raises:
        ToolFault: the offset is out of range.
    """
    if not 0 <= offset < max(1, len(text)):
        raise ToolFault(what, f"offset {offset}", f"0 to {max(0, len(text) - 1)}")
    end = min(len(text), offset + most)
    if end < len(text):
        line = text.rfind("\n", offset + most * 4 // 5, end)
        end = end if line < 0 else line + 1
    part = text[offset:end]
    if offset == 0 and end == len(text):
        return f"{what}, {len(text)} characters, whole:\n\n{part}"
    left = len(text) - end
    more = f"[{left} characters are left: go on with offset={end}]" if left else "[This is the end.]"
    return f"{what}, characters {offset} to {end} of {len(text)}:\n\n{part}\n\n{more}"
