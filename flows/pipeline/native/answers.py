"""What a tool gives back. Of faults there are two kinds: the model's, which it is told, and ours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flows.common.errors import StaffbenchError
from flows.schema.completion import Image

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")


class ToolFault(StaffbenchError):  # noqa: N818 -- as `Fault` of the completions: an answer, and no crash
    """A call that a tool can't carry out as the model wrote it."""


class InternalFault(StaffbenchError):  # noqa: N818 -- the counterpart of `ToolFault`
    """A tool that failed by no fault of the model's. Its attempt ends as an error and is not scored."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the model is shown.

    Attributes:
        text: of characters that UTF-8 can hold.
        images: shown beside it.
        is_error: whether the call was not carried out.
    """

    text: str
    images: tuple[Image, ...] = ()
    is_error: bool = False


def refusal(error: StaffbenchError) -> ToolAnswer:
    """The answer to a call that can't be carried out; addresses in memory, which differ by run, left out."""
    return ToolAnswer(f"Error: {_ADDRESS.sub('0x...', held(str(error)))}", is_error=True)


def unplaced(text: str) -> str:
    """Text without folders of this machine and addresses in memory: equal faults are told in equal words."""
    return _ADDRESS.sub("0x...", _FOLDERS.sub(".../", text))


def held(text: str) -> str:
    """Text without the lone surrogates that JSON can bring in and UTF-8 can't hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def page_of(text: str, offset: int, most: int, what: str) -> str:
    """A stretch of a text, and how to get the next one.

    Args:
        text: all of it.
        offset: characters before the stretch.
        most: characters in it, at most; it ends with a line where one ends in its last fifth.
        what: names it in the answer.

    Raises:
        ToolFault: the text has no character at that offset.
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
