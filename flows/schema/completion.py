"""One call of a model: what is sent, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from flows.common.digests import canonical_json, sha256_bytes, sha256_text

PROTOCOL_VERSION = "1"
"""Raised when the meaning of a stored reply changes, so that every key changes with it."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a turn.

    Attributes:
        media: `image/png` or `image/jpeg`.
        data: the file's bytes.
    """

    media: str
    data: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        """Of the bytes, in hex."""
        return sha256_bytes(self.data)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model asks for.

    Attributes:
        call_id: the provider's name of this call; the answer carries it.
        name: of the tool, as the model wrote it.
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
        content: its text; may be empty beside tool calls.
        images: shown after the text, in order; of a user's turn or a tool's.
        tool_calls: what an assistant's turn asked for.
        tool_call_id: the call that a tool's turn answers; None for any other role.
        carried: fields of an assistant's turn that the provider wants back unchanged, such as signed
            reasoning; as they came.
    """

    role: str
    content: str
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    carried: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def keyed(self) -> list[Any]:
        """What of it enters a request's key: texts and images by their sha256.

        A turn of text alone has role and text and no more, as before there were others.
        """
        found: list[Any] = [self.role, sha256_text(self.content)]
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


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that is sent for one completion, and nothing else.

    Attributes:
        transport: how it is sent: `openai_http` or `litellm`.
        model: the provider's name of the model, resolved.
        api_base: address of the endpoint; None for the provider's own.
        messages: the rendered prompt.
        parameters: every other field of the request as sent (effort already mapped, output limit,
            seed where the provider takes one, response format).
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
        """sha256 over every field: the completion's address in the store.

        Texts enter by their own hash, which is quicker than escaping a packet into JSON.
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
    """What came back. Only `complete` and `cut` have a text."""

    complete = "complete"
    cut = "cut"  # stopped at the provider's output limit; the text is kept
    refused = "refused"  # content filter, also where it stopped half a text
    partial = "partial"  # a text came, and nobody knows whether it is whole
    error = "error"  # no usable reply after every attempt


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Try:
    """One try at a call.

    Attributes:
        started_at: UTC, ISO 8601.
        seconds: until it ended.
        outcome: `ok`, or the fault: `http 429`, `timeout`, `connection`, ...
        detail: the fault's message, shortened, with every key taken out.
    """

    started_at: str
    seconds: float
    outcome: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """One stored reply.

    Attributes:
        key: of the request.
        status: what came back.
        text: the reply; None where there is none. May be empty: empty is not refused.
        finish_reason: the provider's word.
        provider_model: the model as the provider named it.
        usage: tokens.
        price_usd: what the call cost; None where a price or a count is unknown.
        attempts: every try, in order.
        asked: what the condition asked for, beside what was sent: `effort` and such.
        detail: why there is no text; empty otherwise.
        tool_calls: what it asks for, in order; empty for a plain reply. Beside them the text may be
            empty.
        carried: as in `Message`, for the turn that this reply becomes.
        fragment: text of a reply that is `partial` or was refused half-way; paid for, and never graded.
        reasoning: what stood in `<think>` tags before the text, tags included.
        raw: the body as it came, escaped and shortened, where it could not be taken as it is.
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
