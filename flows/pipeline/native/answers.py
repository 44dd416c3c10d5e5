"""Answers of tools, and their errors: the model's, which it is shown, and internal ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flows.common.errors import StaffbenchError
from flows.schema.completion import Image

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")


class ToolFault(StaffbenchError):  # noqa: N818 -- an answer, not a crash
    """A tool call that is invalid as the model wrote it."""


class InternalFault(StaffbenchError):  # noqa: N818 -- the counterpart of `ToolFault`
    """A failure of the tool itself. The attempt ends as an error and is not scored."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Answer to a tool call, as shown to the model.

    Attributes:
        text: valid as UTF-8.
        images: shown with the text.
        is_error: True if the call was not carried out.
    """

    text: str
    images: tuple[Image, ...] = ()
    is_error: bool = False


def refusal(error: StaffbenchError) -> ToolAnswer:
    """Build the answer to an invalid call, without memory addresses, which differ by run."""
    return ToolAnswer(f"Error: {_ADDRESS.sub('0x...', encodable(str(error)))}", is_error=True)


def without_local_paths(text: str) -> str:
    """Remove folders of this machine and memory addresses, so that equal errors have equal texts."""
    return _ADDRESS.sub("0x...", _FOLDERS.sub(".../", text))


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON allows and UTF-8 does not."""
    return text.encode("utf-8", "replace").decode("utf-8")


def page_of(text: str, offset: int, most: int, what: str) -> str:
    """Return one part of a text and how to get the next.

    Args:
        text: the complete text.
        offset: number of characters to skip.
        most: maximum number of characters; the part ends at a line end if there is one in its last fifth.
        what: name of the text in the answer.

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
