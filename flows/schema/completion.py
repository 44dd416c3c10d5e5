"""One model call: the request and the completion."""

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
    """An image in a turn."""

    media: str  # `image/png` or `image/jpeg`
    data: bytes = field(repr=False)  # the file's bytes

    @property
    def sha256(self) -> str:
        """The digest of the bytes, in hex."""
        return sha256_bytes(self.data)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call requested by the model."""

    call_id: str  # the provider's id of this call, repeated in its answer
    name: str  # the tool's name, as the model wrote it
    arguments: str  # JSON as the model wrote it; may be malformed


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: str  # `system`, `user`, `assistant` or `tool`
    content: str  # its text; may be empty if there are tool calls
    images: tuple[Image, ...] = ()  # shown after the text, in order; only in user and tool turns
    tool_calls: tuple[ToolCall, ...] = ()  # calls requested by an assistant turn
    tool_call_id: str | None = None  # the call that a tool turn answers; None for other roles
    # Fields of an assistant turn that the provider requires back unchanged, such as signed reasoning.
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
    """Everything that is sent for one completion."""

    transport: str  # one of `Transport`: `openai_http`, `litellm` or `gguf`
    model: str  # the provider's name of the model
    api_base: str | None  # address of the endpoint, or path of a GGUF file; None for the provider's default
    messages: tuple[Message, ...]  # the rendered prompt
    # All other request fields as sent: the mapped effort, output limit, seed if supported, response format.
    parameters: Mapping[str, Any]
    seed: int  # number of the repeat, from 1; part of the key whether or not it is sent
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
    """One try of a call."""

    started_at: str  # UTC, ISO 8601
    seconds: float  # duration
    outcome: str  # `ok` or the fault: `http 429`, `timeout`, `connection`, ...
    detail: str = ""  # the fault's message, shortened, with secrets removed


@dataclass(frozen=True, slots=True)
class Completion:
    """One stored reply."""

    key: str  # the request's key
    status: CompletionStatus  # what came back
    text: str | None  # the reply, possibly empty; None if there is none
    finish_reason: str | None  # the provider's word
    provider_model: str | None  # the model as the provider named it
    usage: Usage
    price_usd: float | None  # cost of the call; None if a price or a count is unknown
    attempts: tuple[Try, ...]  # every try, in order
    # What the condition requested, such as `effort`, in addition to what was sent.
    asked: Mapping[str, Any] = field(default_factory=dict[str, Any])
    detail: str = ""  # why there is no text; empty otherwise
    tool_calls: tuple[ToolCall, ...] = ()  # requested calls, in order; the text may then be empty
    # As in `Message`, for the assistant turn made from this reply.
    carried: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fragment: str = ""  # text of a reply that is `partial` or was refused midway; paid for, never graded
    reasoning: str = ""  # the `<think>` block before the text, tags included
    raw: str = ""  # the body, escaped and shortened, if it could not be used as received


@dataclass(frozen=True, slots=True)
class Spent:
    """What stored replies cost, whenever they were paid for.

    A sum with an unknown part is None, never less than it was.
    """

    calls: int = 0  # number of replies
    # As counted by the provider.
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    usd: float | None = 0.0  # list price in US dollars
    seconds: float = 0.0  # duration of all tries, summed over the calls; calls may have run at once


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
