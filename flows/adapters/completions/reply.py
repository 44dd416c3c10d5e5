"""Reading what an endpoint sent back: the finish reason decides what it is.

Both transports end here: the OpenAI chat format, whole (`read_completion`) or in chunks
(`StreamedReply`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from flows.adapters.completions.faults import Fault, FaultKind, error_fault
from flows.schema.completion import CompletionStatus, Usage

MAX_TEXT_CHARS = 16_000_000
"""More than any model writes; an endpoint that does not end is cut off there."""

# The OpenAI protocol's words, and those that servers behind it let through. A word that is not here
# is an error: what it stands for is unknown, so the text may be half a reply.
_COMPLETE = frozenset({"stop", "stop_sequence", "end_turn", "eos", "eos_token", "STOP", "COMPLETE"})
_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"})
_REFUSED = frozenset({"content_filter", "refusal"})

_HTTP_ERRORS = range(400, 600)


@dataclass(frozen=True, slots=True)
class Reply:
    """What one try brought.

    Attributes:
        status: never `error` for a fault of the connection; those raise.
        text: None unless complete or cut.
        finish_reason: the provider's word.
        provider_model: the model as the provider named it.
        usage: tokens.
        detail: what a reader must know; empty otherwise.
    """

    status: CompletionStatus
    text: str | None
    finish_reason: str | None
    provider_model: str | None
    usage: Usage
    detail: str


def load_json(data: bytes) -> tuple[Any, str]:
    """JSON, read leniently: what a strict reader refuses must not lose a reply that was paid for.

    Lone surrogates come through; `clean` replaces them. Bytes that are not UTF-8 become U+FFFD.

    Returns:
        the value, and a note where bytes were replaced.

    Raises:
        Fault: it is not JSON.
    """
    try:
        return orjson.loads(data), ""
    except orjson.JSONDecodeError:
        pass
    text = data.decode("utf-8", "replace")
    note = "bytes that are not UTF-8 were replaced by U+FFFD" if text.encode() != data else ""
    try:
        return json.loads(text), note
    except (ValueError, RecursionError):
        pass
    raise Fault(FaultKind.reply, f"not JSON: {text!r}")


def clean(text: str) -> tuple[str, str]:
    """Text that UTF-8 can hold: pairs of surrogates are joined, lone ones become U+FFFD.

    Returns:
        the text, and a note where something was replaced.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text, ""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    lone = sum(1 for character in joined if "\ud800" <= character <= "\udfff")
    note = f"{lone} lone surrogate{'' if lone == 1 else 's'} replaced by U+FFFD" if lone else ""
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in joined), note


def read_completion(payload: object, note: str = "") -> Reply:
    """A whole reply.

    Args:
        payload: the response's JSON.
        note: from reading it, for `detail`.

    Raises:
        Fault: it is no chat completion.
    """
    body = _mapping(payload, "the reply")
    _check_error(body)
    choices = _list(body.get("choices"), "the choices")
    if not choices:
        raise Fault(FaultKind.reply, "no choices in the reply")
    choice = _mapping(choices[0], "the choice")
    message = _mapping(choice.get("message"), "the message")
    return decide(
        text=_content(message.get("content")),
        refusal=_string(message.get("refusal"), "the refusal"),
        finish_reason=_string(choice.get("finish_reason"), "the finish reason"),
        provider_model=_string(body.get("model"), "the model"),
        usage=read_usage(body.get("usage")),
        note=note,
    )


class StreamedReply:
    """A reply that comes in chunks."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._chars = 0
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage = Usage()
        self._notes: list[str] = []

    def feed(self, payload: object, note: str = "") -> None:
        """Take one chunk.

        Raises:
            Fault: it is no chunk of a chat completion, or tells of an error, or there are too many.
        """
        body = _mapping(payload, "a chunk")
        _check_error(body)
        if note:
            self.remark(note)
        self._model = _string(body.get("model"), "the model") or self._model
        if body.get("usage") is not None:
            self._usage = read_usage(body["usage"])
        for item in _list(body.get("choices"), "the choices"):
            choice = _mapping(item, "the choice")
            if choice.get("index") not in (0, None):
                continue  # only one is asked for
            delta = _mapping(choice.get("delta") or {}, "the delta")
            self._add(self._text, _content(delta.get("content")))
            self._add(self._refusal, _string(delta.get("refusal"), "the refusal"))
            self._finish_reason = (
                _string(choice.get("finish_reason"), "the finish reason") or self._finish_reason
            )

    @property
    def finished(self) -> bool:
        """Whether the finish reason has come: the text is whole, only the usage may follow."""
        return self._finish_reason is not None

    def remark(self, note: str) -> None:
        """Add a note to the reply's detail."""
        if note not in self._notes:
            self._notes.append(note)

    def end(self) -> Reply:
        """The reply, when the stream has ended.

        Raises:
            Fault: it ended without a finish reason: the connection broke, and the text is half a reply.
        """
        if self._finish_reason is None:
            raise Fault(FaultKind.connection, "the stream ended without a finish reason")
        return decide(
            text="".join(self._text),
            refusal="".join(self._refusal) or None,
            finish_reason=self._finish_reason,
            provider_model=self._model,
            usage=self._usage,
            note="; ".join(self._notes),
        )

    def _add(self, parts: list[str], part: str | None) -> None:
        if part:
            parts.append(part)
            self._chars += len(part)
            if self._chars > MAX_TEXT_CHARS:
                raise Fault(FaultKind.reply, f"more than {MAX_TEXT_CHARS:,} characters")


def decide(
    *,
    text: str | None,
    refusal: str | None,
    finish_reason: str | None,
    provider_model: str | None,
    usage: Usage,
    note: str = "",
) -> Reply:
    """What a reply is, by its finish reason. Empty is not refused is not failed."""
    text, replaced = clean(text or "")
    notes = [part for part in (note, replaced) if part]
    finish_reason = clean(finish_reason)[0] if finish_reason else None
    if refusal:
        status = CompletionStatus.refused
        notes.append(f"the model refused: {clean(refusal)[0]}")
    elif finish_reason in _COMPLETE:
        status = CompletionStatus.complete
    elif finish_reason in _CUT:
        status = CompletionStatus.cut
    elif finish_reason in _REFUSED:
        status = CompletionStatus.refused
        notes.append(f"stopped by the content filter after {len(text)} characters")
    else:
        status = CompletionStatus.error
        word = "no finish reason" if finish_reason is None else f"finish reason {finish_reason!r}"
        notes.append(f"{word}, after {len(text)} characters")
    kept = status in (CompletionStatus.complete, CompletionStatus.cut)
    return Reply(
        status,
        text if kept else None,
        finish_reason,
        clean(provider_model)[0] if provider_model else None,
        usage,
        "; ".join(notes),
    )


def read_usage(usage: object) -> Usage:
    """Tokens as the provider counted them; None for what it did not say, or said in no number."""
    if not isinstance(usage, Mapping):
        return Usage()
    counts = cast("Mapping[str, object]", usage)

    def details(name: str) -> Mapping[str, object]:
        value = counts.get(name)
        return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}

    return Usage(
        input_tokens=_count(counts.get("prompt_tokens")),
        output_tokens=_count(counts.get("completion_tokens")),
        reasoning_tokens=_count(details("completion_tokens_details").get("reasoning_tokens")),
        cached_tokens=_count(details("prompt_tokens_details").get("cached_tokens")),
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _check_error(body: Mapping[str, Any]) -> None:
    """Some providers report an error inside a response of status 200, also in mid-stream."""
    error = body.get("error")
    if not error:
        return
    code = cast("Mapping[str, object]", error).get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and code in _HTTP_ERRORS:
        raise error_fault(code, body, str(body))
    raise Fault(FaultKind.reply, f"an error inside the reply: {error_fault(0, body, str(body)).detail}")


def _content(value: object) -> str | None:
    """Text of a message; a list of parts is joined, and what the model only thought is left out."""
    if value is None or isinstance(value, str):
        return value
    texts: list[str] = []
    for item in _list(value, "the content"):
        part = _mapping(item, "a part of the content")
        kind = part.get("type")
        if kind == "text":
            texts.append(_string(part.get("text"), "a part's text") or "")
        elif kind not in ("thinking", "reasoning"):
            raise Fault(FaultKind.reply, f"a part of the content is {kind!r}, not text")
    return "".join(texts)


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not an object")
    return cast("Mapping[str, Any]", value)


def _list(value: object, what: str) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not a list")
    return cast("Sequence[object]", value)


def _string(value: object, what: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not text")
