"""Arguments of the tools: parse the model's JSON, or refuse it with a message that it can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows.pipeline.native.answers import ToolFault

MAX_ARGUMENTS = 200_000
"""Longest arguments of one call, in characters of JSON."""

_MOST_FAULTS = 5


class Arguments(BaseModel):
    """Arguments of one call. Unknown keys are refused, since they would have no effect."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Arguments):
    """Arguments of `list_files` and `check_report`."""


class FilePage(Arguments):
    """Arguments of `read_file`."""

    path: str
    offset: int = Field(default=0, ge=0)


class PageView(Arguments):
    """Arguments of `view_page`."""

    path: str
    page: int = Field(default=1, ge=1)


class Start(Arguments):
    """Arguments of `start_report`."""

    template: str | None = None


class Show(Arguments):
    """Arguments of `show_report`."""

    offset: int = Field(default=0, ge=0)


class Entry(Arguments):
    """A place and its new text."""

    place: str
    text: str


class Fill(Arguments):
    """Arguments of `fill`."""

    entries: list[Entry] = Field(min_length=1)


class NewBlock(Arguments):
    """A block to insert."""

    kind: Literal["heading", "paragraph", "bullet", "number", "table"]
    text: str = ""
    level: int = 1
    rows: list[list[str]] = Field(default_factory=list[list[str]])
    header: bool = True


class Insert(Arguments):
    """Arguments of `insert`."""

    after: str | None = None
    blocks: list[NewBlock] = Field(min_length=1)


class Rows(Arguments):
    """Arguments of `add_rows`."""

    cell: str
    rows: list[list[str]] = Field(min_length=1)


class Delete(Arguments):
    """Arguments of `delete`: ids, or ranges of ids."""

    places: list[str] = Field(min_length=1)


A = TypeVar("A", bound=Arguments)


def read_arguments(tool: str, text: str, kind: type[A]) -> A:
    """Parse a call's arguments.

    Args:
        tool: name of the tool.
        text: JSON as the model wrote it; an empty text means no arguments.
        kind: the tool's arguments.

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
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse duplicate keys, of which the standard parser would keep only the last."""
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a key given twice in one object")
    return unique


def _fault(error: Mapping[str, Any]) -> str:
    place = ".".join(map(str, error["loc"]))
    return f"{place}: {str(error['msg'])[:1].lower()}{str(error['msg'])[1:]}"


def _named(kind: type[Arguments]) -> list[str]:
    return [
        name if field.is_required() else f"{name} (optional)" for name, field in kind.model_fields.items()
    ]


def _refuse(name: str) -> object:
    raise ValueError(f"the number {name}")
