"""What happened in an attempt, as JSON: equal at every replay, without a machine's paths and without keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.common.digests import sha256_text
from flows.pipeline.native.answers import ToolAnswer
from flows.schema.completion import Completion, Message, ToolCall

SHOWN_CHARS = 2_000
"""Of an answer; what is longer can be had again from the task's files, and its sha256 says which it was."""


def prompt_event(step: str | None, messages: Sequence[Message]) -> dict[str, Any]:
    """An entry for what the model was told at the start of a step, or between its turns."""
    return {
        "kind": "told",
        "step": step,
        "messages": [{"role": message.role, "text": message.content} for message in messages],
    }


def turn(
    number: int,
    step: str | None,
    completion: Completion,
    answers: Sequence[tuple[ToolCall, ToolAnswer]],
) -> dict[str, Any]:
    """An entry for one reply of the model and what its calls were answered."""
    usage = completion.usage
    return {
        "kind": "turn",
        "turn": number,
        "step": step,
        "completion": completion.key,
        "status": completion.status.value,
        "finish_reason": completion.finish_reason,
        "detail": completion.detail,
        "text": completion.text,
        "tool_calls": [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in completion.tool_calls
        ],
        "answers": [_answer(call, answer) for call, answer in answers],
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
            "cached_tokens": usage.cached_tokens,
        },
        "seconds": seconds_of(completion),
    }


def seconds_of(completion: Completion) -> float:
    """Seconds of all its tries, as they were recorded when it was paid for."""
    return round(sum(attempt.seconds for attempt in completion.attempts), 3)


def _answer(call: ToolCall, answer: ToolAnswer) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "call_id": call.call_id,
        "is_error": answer.is_error,
        "text": answer.text[:SHOWN_CHARS],
        "images": [image.sha256 for image in answer.images],
    }
    if len(answer.text) > SHOWN_CHARS:
        entry |= {"characters": len(answer.text), "sha256": sha256_text(answer.text)}
    return entry
