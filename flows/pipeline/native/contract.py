"""What an attempt is given, and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from flows.schema.brief import BriefStatus
from flows.schema.completion import Completion, Message

NATIVE_VERSION = "1"
"""Raised when equal replies would lead to another report, or another request."""


class Ask(Protocol):
    """Completes a chat: from the store, or by paying for it."""

    async def __call__(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /
    ) -> Completion:
        """The completion of `messages`, with `tools` offered as the request's parameter of that name."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is told at the start.

    Attributes:
        system: first turn; may be empty for none.
        user: for each step of the task; `{{assignment}}` is its instruction, `{{files}}` the list of its
            files, `{{limit}}` the task's limit of length in its author's words, or `none stated`.
    """

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one attempt; None for no limit.

    Attributes:
        max_steps: replies of the model.
        max_tokens: input and output tokens of all its calls, as the provider counted them.
        max_minutes: minutes, summed over the recorded tries of its calls: the time that tools take is
            not counted, since it differs by machine and a replay must end where the first run did. A
            step's own limit in its task is held in the same way, if it is shorter.
        nudges: how often a model that stops without a report, or is cut off, is told so.
        page_chars: characters of a file in one answer.
        images: whether the model takes images.
    """

    max_steps: int | None = 60
    max_tokens: int | None = None
    max_minutes: float | None = 60.0
    nudges: int = 1
    page_chars: int = 20_000
    images: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What one attempt came to.

    Attributes:
        status: `written`, `missing`, `refused` or `error`; whether a written report opens and says
            anything is found by the format check.
        report: the file; None unless written.
        ended: `finished`, `limit: steps`, `limit: tokens`, `limit: minutes`, `limit: context`, `refused`
            or `error`.
        detail: what a reader must know; empty otherwise.
        completions: keys of the model's replies, in order.
        trajectory: JSON of what happened, in order.
        tokens: input and output of all calls, as far as the provider counted.
        uncounted: calls of which it counted one of both, or neither; where it is not 0, `tokens` is a
            lower bound.
        seconds: recorded seconds of all calls.
    """

    status: BriefStatus
    report: bytes | None
    ended: str
    detail: str
    completions: tuple[str, ...]
    trajectory: list[dict[str, Any]]
    tokens: int
    uncounted: int
    seconds: float
