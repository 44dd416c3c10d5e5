"""Reading what an endpoint sent back: the finish reason decides what it is.

Both transports end here: the OpenAI chat format, whole (`read_completion`) or in chunks
(`StreamedReply`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from flows.adapters.completions.calls import Calls
from flows.adapters.completions.carried import Carried
from flows.adapters.completions.faults import Fault, FaultKind, error_fault
from flows.adapters.completions.fields import clean, listed, mapping, string
from flows.schema.completion import CompletionStatus, ToolCall, Usage

MAX_TEXT_CHARS = 16_000_000
"""More than any model writes; an endpoint that does not end is cut off there."""

# The OpenAI protocol's words, and those that servers behind it let through. A word that is not here
# is an error: what it stands for is unknown, so the text may be half a reply.
_COMPLETE = frozenset({"stop", "stop_sequence", "end_turn", "eos", "eos_token", "STOP", "COMPLETE"})
_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"})
_REFUSED = frozenset({"content_filter", "refusal"})
_CALLS = frozenset({"tool_calls", "function_call", "tool_use", "TOOL_CALL"})  # or a word for complete

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
        tool_calls: what it asks for; where it is cut, the last may be half a call. Ids may be empty or
            repeated, as the provider gave them.
        carried: what must go back with it, where tools were offered: else the chat ends with it.
    """

    status: CompletionStatus
    text: str | None
    finish_reason: str | None
    provider_model: str | None
    usage: Usage
    detail: str
    tool_calls: tuple[ToolCall, ...] = ()
    carried: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_completion(payload: object, note: str = "", *, tools: bool = False) -> Reply:
    """A whole reply.

    Args:
        payload: the response's JSON.
        note: from reading it, for `detail`.
        tools: whether the request offered any; where not, calls of tools are no answer.

    Raises:
        Fault: it is no chat completion.
    """
    body = mapping(payload, "the reply")
    _check_error(body)
    choices = listed(body.get("choices"), "the choices")
    if not choices:
        raise Fault(FaultKind.reply, "no choices in the reply")
    choice = mapping(choices[0], "the choice")
    message = mapping(choice.get("message"), "the message")
    asked = _Asked() if tools else None
    if asked is not None:
        asked.add(message)
    return decide(
        text=_content(message.get("content")),
        refusal=string(message.get("refusal"), "the refusal"),
        finish_reason=string(choice.get("finish_reason"), "the finish reason"),
        provider_model=string(body.get("model"), "the model"),
        usage=read_usage(body.get("usage")),
        note=note,
        asked=asked,
    )


class _Asked:
    """What a reply asks of whoever offered tools, and what must go back with it."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.carried = Carried()

    def add(self, message: Mapping[str, Any], *, streamed: bool = False) -> None:
        self.calls.add(message, streamed=streamed)
        self.carried.add(message)


class StreamedReply:
    """A reply that comes in chunks."""

    def __init__(self, *, tools: bool = False) -> None:
        """Begin; `tools` as for `read_completion`."""
        self._asked = _Asked() if tools else None
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
        body = mapping(payload, "a chunk")
        _check_error(body)
        if note:
            self.remark(note)
        self._model = string(body.get("model"), "the model") or self._model
        if body.get("usage") is not None:
            self._usage = read_usage(body["usage"])
        for item in listed(body.get("choices"), "the choices"):
            choice = mapping(item, "the choice")
            if choice.get("index") not in (0, None):
                continue  # only one is asked for
            delta = mapping(choice.get("delta") or {}, "the delta")
            self._add(self._text, _content(delta.get("content")))
            self._add(self._refusal, string(delta.get("refusal"), "the refusal"))
            if self._asked is not None:
                self._asked.add(delta, streamed=True)
            self._check_size()
            self._finish_reason = (
                string(choice.get("finish_reason"), "the finish reason") or self._finish_reason
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
            asked=self._asked,
        )

    def _check_size(self) -> None:
        chars = self._chars
        if self._asked is not None:
            chars += self._asked.calls.chars + self._asked.carried.chars
        if chars > MAX_TEXT_CHARS:
            raise Fault(FaultKind.reply, f"more than {MAX_TEXT_CHARS:,} characters")

    def _add(self, parts: list[str], part: str | None) -> None:
        if part:
            parts.append(part)
            self._chars += len(part)


def decide(
    *,
    text: str | None,
    refusal: str | None,
    finish_reason: str | None,
    provider_model: str | None,
    usage: Usage,
    note: str = "",
    asked: _Asked | None = None,
) -> Reply:
    """What a reply is, by its finish reason. Empty is not refused is not failed.

    Raises:
        Fault: it stopped to call a tool and calls none, or one without a name.
    """
    text, replaced = clean(text or "")
    notes = [part for part in (note, replaced) if part]
    finish_reason = clean(finish_reason)[0] if finish_reason else None
    if refusal:
        status = CompletionStatus.refused
        notes.append(f"the model refused: {clean(refusal)[0]}")
    elif finish_reason in _COMPLETE or (asked is not None and finish_reason in _CALLS):
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
    calls: tuple[ToolCall, ...] = ()
    carried: dict[str, Any] = {}
    if asked is not None and kept:
        calls, further = asked.calls.read(cut=status is CompletionStatus.cut)
        carried = asked.carried.read(further)
        if finish_reason in _CALLS and not calls:
            raise Fault(FaultKind.reply, f"finish reason {finish_reason!r} without a tool call")
    return Reply(
        status,
        text if kept else None,
        finish_reason,
        clean(provider_model)[0] if provider_model else None,
        usage,
        "; ".join(notes),
        calls,
        carried,
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
    for item in listed(value, "the content"):
        part = mapping(item, "a part of the content")
        kind = part.get("type")
        if kind == "text":
            texts.append(string(part.get("text"), "a part's text") or "")
        elif kind not in ("thinking", "reasoning"):
            raise Fault(FaultKind.reply, f"a part of the content is {kind!r}, not text")
    return "".join(texts)
