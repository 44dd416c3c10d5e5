"""One model call: the request and the completion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from flows.common.digests import canonical_json, sha256_bytes, sha256_text

PROTOCOL_VERSION = "1"
"""Increment when the meaning of a stored reply changes: this changes every key."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a turn.

    Attributes:
        media: `image/png` or `image/jpeg`.
        data: the file's bytes.
    """

    media: str
    data: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        """The digest of the bytes, in hex."""
        return sha256_bytes(self.data)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call requested by the model.

    Attributes:
        call_id: the provider's id of this call, repeated in its answer.
        name: the tool's name, as the model wrote it.
        arguments: JSON as the model wrote it; may be malformed.
    """

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        content: its text; may be empty if there are tool calls.
        images: shown after the text, in order; only in user and tool turns.
        tool_calls: calls requested by an assistant turn.
        tool_call_id: the call that a tool turn answers; None for other roles.
        carried: fields of an assistant turn that the provider requires back unchanged, such as signed
            reasoning.
    """

    role: str
    content: str
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    carried: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def keyed(self) -> list[Any]:
        """Return what enters a request's key: texts and images as their sha256.

        A text-only turn has only role and text, which keeps old keys valid.
        """
        found: list[Any] = [self.role, _digest(self.content)]
        if self.images or self.tool_calls or self.tool_call_id is not None or self.carried:
            found.append(
                {
                    "images": [[image.media, image.sha256] for image in self.images],
                    "tool_calls": [[call.call_id, call.name, call.arguments] for call in self.tool_calls],
                    "tool_call_id": self.tool_call_id,
                    "carried": dict(self.carried),
                }
            )
        return found


@lru_cache(maxsize=64)
def _digest(text: str) -> str:
    """Return its SHA-256. A packet is in the requests of all models and seeds: it is hashed once for many."""
    return sha256_text(text)


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that is sent for one completion.

    Attributes:
        transport: one of `Transport`: `openai_http`, `litellm` or `gguf`.
        model: the provider's name of the model.
        api_base: address of the endpoint, or path of a GGUF file; None for the provider's default.
        messages: the rendered prompt.
        parameters: all other request fields as sent: the mapped effort, output limit, seed if supported,
            response format.
        seed: number of the repeat, from 1; part of the key whether or not it is sent.
        protocol: `PROTOCOL_VERSION`.
    """

    transport: str
    model: str
    api_base: str | None
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any]
    seed: int
    protocol: str = PROTOCOL_VERSION

    @property
    def key(self) -> str:
        """The sha256 over all fields: the completion's key in the store.

        Texts enter as their hash, which is faster than escaping a packet into JSON.
        """
        return sha256_text(
            canonical_json(
                {
                    "transport": self.transport,
                    "model": self.model,
                    "api_base": self.api_base,
                    "messages": [message.keyed() for message in self.messages],
                    "parameters": dict(self.parameters),
                    "seed": self.seed,
                    "protocol": self.protocol,
                }
            )
        )


class CompletionStatus(StrEnum):
    """The outcome of a call. Only `complete` and `cut` have a text."""

    complete = "complete"
    cut = "cut"  # stopped at the provider's output limit; the text is kept
    refused = "refused"  # content filter, also if it stopped a reply midway
    partial = "partial"  # a text that may be incomplete
    error = "error"  # no usable reply after all attempts


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as counted by the provider; None if not reported."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Try:
    """One try of a call.

    Attributes:
        started_at: UTC, ISO 8601.
        seconds: duration.
        outcome: `ok` or the fault: `http 429`, `timeout`, `connection`, ...
        detail: the fault's message, shortened, with secrets removed.
    """

    started_at: str
    seconds: float
    outcome: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """One stored reply.

    Attributes:
        key: the request's key.
        status: what came back.
        text: the reply, possibly empty; None if there is none.
        finish_reason: the provider's word.
        provider_model: the model as the provider named it.
        usage: tokens.
        price_usd: cost of the call; None if a price or a count is unknown.
        attempts: every try, in order.
        asked: what the condition requested, such as `effort`, in addition to what was sent.
        detail: why there is no text; empty otherwise.
        tool_calls: requested calls, in order; the text may then be empty.
        carried: as in `Message`, for the assistant turn made from this reply.
        fragment: text of a reply that is `partial` or was refused midway; paid for, never graded.
        reasoning: the `<think>` block before the text, tags included.
        raw: the body, escaped and shortened, if it could not be used as received.
    """

    key: str
    status: CompletionStatus
    text: str | None
    finish_reason: str | None
    provider_model: str | None
    usage: Usage
    price_usd: float | None
    attempts: tuple[Try, ...]
    asked: Mapping[str, Any] = field(default_factory=dict[str, Any])
    detail: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    carried: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fragment: str = ""
    reasoning: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What stored replies cost, whenever they were paid for.

    A sum with an unknown part is None, never less than it was.

    Attributes:
        calls: number of replies.
        tokens_in, tokens_out: as counted by the provider.
        usd: list price in US dollars.
        seconds: duration of all tries, summed over the calls; calls may have run at once.
    """

    calls: int = 0
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    usd: float | None = 0.0
    seconds: float = 0.0


def spent_on(replies: Iterable[Completion]) -> Spent:
    """Add up the replies, each once."""
    once = [reply for _, reply in sorted({reply.key: reply for reply in replies}.items())]
    return Spent(
        len(once),
        _whole([reply.usage.input_tokens for reply in once]),
        _whole([reply.usage.output_tokens for reply in once]),
        _whole_usd([reply.price_usd for reply in once]),
        round(sum(attempt.seconds for reply in once for attempt in reply.attempts), 3),
    )


def spent_together(parts: Iterable[Spent]) -> Spent:
    """Add up sums."""
    parts = list(parts)
    return Spent(
        sum(part.calls for part in parts),
        _whole([part.tokens_in for part in parts]),
        _whole([part.tokens_out for part in parts]),
        _whole_usd([part.usd for part in parts]),
        round(math.fsum(part.seconds for part in parts), 3),
    )


def _whole(values: Sequence[int | None]) -> int | None:
    return int(total) if (total := _whole_usd(values)) is not None else None


def _whole_usd(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if len(known) == len(values) else None
