"""A chat in which a model calls tools: of the writer of a report, and of a judge that is an agent.

Requests depend only on files, settings and the replies so far. So an interrupted chat is resumed by running
it again: stored replies are replayed, the tools repeat their work on the same files, and the first missing
call is the next one paid for.
"""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from flows.common.digests import sha256_text
from flows.pipeline.native.contract import TOOL_SECONDS, Ask, Limits
from flows.pipeline.native.toolbox import InternalFault, ToolAnswer, Toolbox
from flows.schema.attempt import End
from flows.schema.completion import Completion, CompletionStatus, Message, ToolCall

MAX_CALLS = 40
"""Maximum number of tool calls carried out per reply; further ones are answered with an error."""

SHOWN_CHARS = 2_000
"""Stored characters of an answer; longer ones can be reproduced, and their SHA-256 is stored."""

FINISHED, REFUSED, ERROR = "finished", "refused", "error"
UNANSWERABLE = "calls that can't be answered"
"""How a chat ended; apart from `limit: steps` and other limits."""

_CUT_CALLS = "It may have been cut off at the limit of your reply's length: call again, with less at a time."
_TOO_MANY = f"Error: not carried out: at most {MAX_CALLS} calls in one reply. Call again."

# Providers' messages for a full context; they share only HTTP status 400 or 413.
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|(?:prompt|input)[\w\s]{0,20} (?:is )?too long"
    r"|too many (?:input |prompt )?tokens|exceeds? (?:the )?(?:max\w* )?(?:number of )?(?:input |prompt )?"
    r"tokens|max(?:imum)?[ _](?:prompt|input)[ _](?:length|tokens)|request_too_large",
    re.IGNORECASE,
)
_NAMELESS = "a tool call without a name"  # see `flows.adapters.completions.senders.calls`


def end_of(ended: str) -> End:
    """Return who ended a chat."""
    return {REFUSED: End.refusal, ERROR: End.fault}.get(ended, End.model)


@dataclass(slots=True)
class Chat:
    """State of one chat, determined by the replies."""

    ask: Ask
    tools: Toolbox
    limits: Limits
    messages: list[Message] = field(default_factory=list[Message])  # sent and received so far
    # Events as JSON: the same at every replay, without local paths or API keys.
    trajectory: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    completions: list[str] = field(default_factory=list[str])  # keys of the replies, in order
    # tokens, uncounted, seconds: as in `Trial`.
    tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0
    detail: str = ""  # why it ended, as far as a provider or tool says; may be empty

    def send(self, step: str | None, messages: list[Message]) -> None:
        """Add a prompt or reminder; it is sent with the next call."""
        self.messages += messages
        self.trajectory.append(
            {
                "kind": "told",
                "step": step,
                "messages": [{"role": message.role, "text": message.content} for message in messages],
            }
        )

    async def run(
        self,
        step: str | None,
        idle: Callable[[Completion], Awaitable[str]],
        *,
        seconds: float | None = None,
        done: Callable[[], bool] = lambda: False,
    ) -> str:
        """Let the model work until it stops or a limit is reached.

        A reply that arrives after the limit of time is not carried out: the attempt is over by then.

        Args:
            step: name of the task's step, for the trajectory.
            idle: called after a reply without tool calls; returns a reminder, or nothing to end the chat.
            seconds: time limit of this step, besides the limits of the chat.
            done: True after a tool call that ends the chat.

        Returns:
            `FINISHED`, `REFUSED`, `ERROR`, `UNANSWERABLE` or `limit: ...`.

        Raises:
            StaffbenchError: raised by `ask` or a tool.
        """
        begun, waited = self.seconds, 0.0
        while True:
            if limit := self._limit(begun, seconds):
                return f"limit: {limit}"
            completion = await self.ask(tuple(self.messages), self.tools.offered, waited)
            self._count(completion)
            if completion.status not in (CompletionStatus.complete, CompletionStatus.cut):
                self._record(step, completion)
                return self._without_reply(completion)
            if self._is_over(begun, seconds, late=True):
                self._record(step, completion)
                return "limit: minutes"
            text = completion.text or ""
            if text or completion.tool_calls or completion.carried:
                self.messages.append(
                    Message("assistant", text, tool_calls=completion.tool_calls, carried=completion.carried)
                )
            start = time.monotonic()
            try:
                await self._answer(step, completion)
            except InternalFault as error:
                self.detail = str(error)
                return ERROR
            waited = time.monotonic() - start
            if done():
                return FINISHED
            if completion.tool_calls:
                continue
            reminder = await idle(completion)
            if not reminder:
                return FINISHED
            self.send(step, [Message("user", reminder)])

    def _limit(self, begun: float, seconds: float | None) -> str:
        """Name the limit that is reached; empty if none is."""
        limits = self.limits
        if limits.max_steps is not None and len(self.completions) >= limits.max_steps:
            return "steps"
        if limits.max_tokens is not None and self.tokens >= limits.max_tokens:
            return "tokens"
        return "minutes" if self._is_over(begun, seconds, late=False) else ""

    def _is_over(self, begun: float, seconds: float | None, *, late: bool) -> bool:
        """True if the time is used up; `late`: if it was exceeded."""
        most = None if self.limits.max_minutes is None else self.limits.max_minutes * 60
        for limit, used in ((most, self.seconds), (seconds, self.seconds - begun)):
            if limit is not None and (used > limit or (used == limit and not late)):
                return True
        return False

    def _count(self, completion: Completion) -> None:
        self.completions.append(completion.key)
        self.seconds += seconds_of(completion)
        if self.limits.count_tools:
            self.seconds += tool_seconds_of(completion)
        if completion.status is CompletionStatus.error:
            return  # failed calls have no token count
        counts = (completion.usage.input_tokens, completion.usage.output_tokens)
        self.tokens += sum(count or 0 for count in counts)
        self.uncounted += None in counts

    def _without_reply(self, completion: Completion) -> str:
        self.detail = completion.detail
        if completion.status is CompletionStatus.refused:
            return REFUSED
        if _OVERFLOW.search(completion.detail):
            return "limit: context"
        return UNANSWERABLE if _NAMELESS in completion.detail else ERROR

    async def _answer(self, step: str | None, completion: Completion) -> None:
        """Carry out and answer the calls of a reply, in order."""
        answers: list[tuple[ToolCall, ToolAnswer]] = []
        try:
            for number, call in enumerate(completion.tool_calls, 1):
                if number > MAX_CALLS:
                    answer = ToolAnswer(_TOO_MANY, is_error=True)
                else:
                    caller = f"{completion.key} {number}"
                    answer = await self.tools.call(call.name, call.arguments, caller=caller)
                    if answer.is_error and completion.status is CompletionStatus.cut:
                        answer = ToolAnswer(f"{answer.text}\n{_CUT_CALLS}", is_error=True)
                answers.append((call, answer))
                self.messages.append(
                    Message("tool", answer.text, images=answer.images, tool_call_id=call.call_id)
                )
        finally:
            self._record(step, completion, answers)

    def _record(
        self, step: str | None, completion: Completion, answers: Sequence[tuple[ToolCall, ToolAnswer]] = ()
    ) -> None:
        """Add the event of one reply and the answers to its calls."""
        event = {
            "kind": "turn",
            "turn": len(self.completions),
            "step": step,
            "completion": completion.key,
            "model": completion.provider_model,
            "status": completion.status.value,
            "finish_reason": completion.finish_reason,
            "detail": completion.detail,
            "text": completion.text,
            "tool_calls": [asdict(call) for call in completion.tool_calls],
            "answers": [_event_of(call, answer) for call, answer in answers],
            "usage": asdict(completion.usage),
            "seconds": seconds_of(completion),
            "tool_seconds": tool_seconds_of(completion),
        }
        self.trajectory.append(event)


def seconds_of(completion: Completion) -> float:
    """Sum the recorded seconds of a completion's tries."""
    return round(sum(attempt.seconds for attempt in completion.attempts), 3)


def tool_seconds_of(completion: Completion) -> float:
    """Return the recorded seconds that tools took before a call; 0 for calls that have none."""
    found = completion.asked.get(TOOL_SECONDS, 0.0)
    return float(found) if isinstance(found, (int, float)) else 0.0


def _event_of(call: ToolCall, answer: ToolAnswer) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "call_id": call.call_id,
        "is_error": answer.is_error,
        "text": answer.text[:SHOWN_CHARS],
        "images": [image.sha256 for image in answer.images],
    }
    if len(answer.text) > SHOWN_CHARS:
        entry |= {"characters": len(answer.text), "sha256": sha256_text(answer.text)}
    return entry
