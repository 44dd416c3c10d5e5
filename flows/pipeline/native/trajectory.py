"""Events of an attempt as JSON: the same at every replay, without local paths or API keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.common.digests import sha256_text
from flows.pipeline.native.answers import ToolAnswer
from flows.schema.completion import Completion, Message, ToolCall

SHOWN_CHARS = 2_000
"""Stored characters of an answer; longer ones can be reproduced, and their SHA-256 is stored."""


def prompt_event(step: str | None, messages: Sequence[Message]) -> dict[str, Any]:
    """Build the event of a prompt or reminder."""
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
    """Build the event of one reply and the answers to its calls."""
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
    """Sum the recorded seconds of a completion's tries."""
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
