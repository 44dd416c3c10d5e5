"""Input and result of an attempt."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flows.schema.brief import BriefStatus
from flows.schema.completion import Completion, Message

NATIVE_VERSION = "2"
"""Raise when equal replies would lead to another report or request."""


TOOL_SECONDS = "tool_seconds"
"""Key of a completion's `asked`: seconds that tools took before the call, when it was made."""

Ask = Callable[[Sequence[Message], Sequence[Mapping[str, Any]], float], Awaitable[Completion]]
"""Completes a chat, from the store or by a paid call. It takes the messages so far, the request's tools, and
the seconds that tools took since the last call. A paid call records them under `TOOL_SECONDS`, so that a
replay counts the same time."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Templates of the first messages."""

    system: str  # system message; empty for none
    # Message for each step of the task; `{{assignment}}` is its instruction, `{{files}}` the list of its
    # files, `{{limit}}` the task's length limit as its author wrote it, or `none stated`.
    user: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one attempt; None for no limit."""

    max_steps: int | None = 60  # replies of the model
    max_tokens: int | None = None  # input and output tokens of all calls, as the provider counted them
    # Minutes: the recorded tries of all calls, and the tools before each call as recorded with it. So a
    # replay ends where the first run did. A shorter limit of a task's step is applied in the same way.
    max_minutes: float | None = 60.0
    count_tools: bool = True  # False to count only the calls
    nudges: int = 1  # number of reminders to a model that stops without a report or is cut off
    page_chars: int = 20_000  # characters of a file in one answer
    images: bool = False  # True if the model takes images


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of one attempt."""

    # `written`, `missing`, `refused` or `error`; the format check of a written report comes later.
    status: BriefStatus
    report: bytes | None  # the file; None unless written
    # `finished`, `limit: steps`, `limit: tokens`, `limit: minutes`, `limit: context`, `refused`, `calls that
    # can't be answered` or `error`.
    ended: str
    detail: str  # remarks on the result; may be empty
    completions: tuple[str, ...]  # keys of the model's replies, in order
    trajectory: list[dict[str, Any]]  # events as JSON, in order
    tokens: int  # input and output of all calls, as far as the provider counted
    uncounted: int  # calls without a complete token count; unless it is 0, `tokens` is a lower bound
    seconds: float  # as counted against `Limits.max_minutes`
