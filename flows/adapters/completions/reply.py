"""Read replies in the OpenAI chat format: the finish reason decides the status.

Both transports use this, for whole replies (`read_completion`) and streams (`StreamedReply`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from flows.adapters.completions.calls import Calls
from flows.adapters.completions.faults import Fault, FaultKind, error_fault
from flows.adapters.completions.fields import clean, content, escaped, listed, mapping, word
from flows.adapters.completions.provider_state import FIELDS, ProviderState
from flows.adapters.completions.thoughts import split_thoughts
from flows.adapters.completions.usage import read_usage
from flows.schema.completion import CompletionStatus, ToolCall, Usage

MAX_TEXT_CHARS = 16_000_000
"""More than any model writes; stops an endless stream."""

# OpenAI's finish reasons and those that compatible servers pass through. An unknown one means that the text
# may be incomplete.
_COMPLETE = frozenset({"stop", "stop_sequence", "end_turn", "eos", "eos_token", "STOP", "COMPLETE"})
_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"})
_REFUSED = frozenset({"content_filter", "refusal"})
_CALLS = frozenset({"tool_calls", "function_call", "tool_use", "TOOL_CALL"})  # or a reason for complete

_HTTP_ERRORS = range(400, 600)
_KEPT_CHUNKS = 200  # of a stream, kept for debugging


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of one try.

    Attributes:
        status: its status; connection faults are raised instead.
        text: None unless complete or cut.
        finish_reason: the provider's word.
        provider_model: the model as the provider named it.
        usage: tokens.
        detail: remarks; may be empty.
        tool_calls: requested calls; if it is cut, the last may be incomplete. Ids are the provider's and may
        be
            empty or repeated.
        carried: fields to send back, if tools were offered: else the chat ends here.
        fragment, reasoning, raw: as in `Completion`.
    """

    status: CompletionStatus
    text: str | None
    finish_reason: str | None
    provider_model: str | None
    usage: Usage
    detail: str
    tool_calls: tuple[ToolCall, ...] = ()
    carried: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fragment: str = ""
    reasoning: str = ""
    raw: str = ""


def read_completion(payload: object, note: str = "", *, tools: bool = False) -> Reply:
    """Read a whole reply.

    Args:
        payload: the response's JSON.
        note: a remark from parsing, for `detail`.
        tools: whether the request offered tools; otherwise tool calls are not an answer.

    Raises:
        Fault: it is not a chat completion or has no reply; with its body and usage.
    """
    try:
        return _read(mapping(payload, "the reply"), note, tools=tools)
    except Fault as fault:
        fault.raw = fault.raw or escaped(payload)
        if fault.usage is None and isinstance(payload, Mapping):
            fault.usage = read_usage(cast("Mapping[str, Any]", payload).get("usage"))
        raise


def _read(body: Mapping[str, Any], note: str, *, tools: bool) -> Reply:
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
        text=content(message.get("content")),
        refusal=word(message.get("refusal")),
        finish_reason=word(choice.get("finish_reason")),
        provider_model=word(body.get("model")),
        usage=read_usage(body.get("usage")),
        note=note,
        asked=asked,
        unoffered=_calls_tools(message),
        payload=body,
    )


class _Asked:
    """A reply's tool calls and the fields to send back with it."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.carried = ProviderState()

    def add(self, message: Mapping[str, Any], *, streamed: bool = False) -> None:
        self.calls.add(message, streamed=streamed)
        self.carried.add(message)


class StreamedReply:
    """A reply received in chunks."""

    def __init__(self, *, tools: bool = False) -> None:
        """Create an empty reply; `tools` as for `read_completion`."""
        self._asked = _Asked() if tools else None
        self._text: list[str] = []
        self._opened = self._given = self._other = self._unoffered = False
        self._refusal: list[str] = []
        self._chars = 0
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage: Usage | None = None
        self._notes: list[str] = []
        self._payloads: list[object] = []

    def feed(self, payload: object, note: str = "") -> None:
        """Add a chunk.

        Raises:
            Fault: it is not a chunk of a chat completion, reports an error, or there are too many.
        """
        if len(self._payloads) < _KEPT_CHUNKS:
            self._payloads.append(payload)
        try:
            self._feed(mapping(payload, "a chunk"), note)
        except Fault as fault:
            fault.raw = fault.raw or escaped(self._payloads)
            fault.usage = fault.usage or self._usage
            raise

    @property
    def finished(self) -> bool:
        """Whether the finish reason was received: only the usage may follow."""
        return self._finish_reason is not None

    def remark(self, note: str) -> None:
        """Add a note to the reply's detail."""
        if note not in self._notes:
            self._notes.append(note)

    def end(self) -> Reply:
        """Return the reply when the stream has ended.

        An empty text at the start of a message counts as a text if nothing follows.

        Raises:
            Fault: it has no reply.
        """
        given = self._given or (self._opened and not self._other)
        return decide(
            text="".join(self._text) if given else None,
            refusal="".join(self._refusal) or None,
            finish_reason=self._finish_reason,
            provider_model=self._model,
            usage=self._usage or Usage(),
            note="; ".join(self._notes),
            asked=self._asked,
            unoffered=self._unoffered,
            payload=self._payloads,
        )

    def _feed(self, body: Mapping[str, Any], note: str) -> None:
        _check_error(body)
        if note:
            self.remark(note)
        self._model = word(body.get("model")) or self._model
        if body.get("usage") is not None:
            self._usage = read_usage(body["usage"])
        for item in listed(body.get("choices"), "the choices"):
            choice = mapping(item, "the choice")
            if choice.get("index") not in (0, None):
                continue  # only one is asked for
            delta = mapping(choice.get("delta") or {}, "the delta")
            self._add_text(content(delta.get("content")), opens="role" in delta)
            self._add(self._refusal, word(delta.get("refusal")))
            self._unoffered = self._unoffered or _calls_tools(delta)
            self._other = self._other or self._unoffered or any(delta.get(name) for name in FIELDS)
            if self._asked is not None:
                self._asked.add(delta, streamed=True)
            self._check_size()
            self._finish_reason = word(choice.get("finish_reason")) or self._finish_reason

    def _add_text(self, part: str | None, *, opens: bool) -> None:
        self._add(self._text, part)
        if part is not None:
            self._opened = True
            self._given = self._given or bool(part) or not opens

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
    unoffered: bool = False,
    payload: object = None,
) -> Reply:
    """Determine a reply's status by its finish reason. Empty, refused and failed are different.

    Args:
        text: None if the reply has none, not even an empty one.
        refusal: the model's refusal text; None if there is none.
        finish_reason: the provider's finish reason.
        provider_model: the model as the provider named it.
        usage: tokens.
        note: for `detail`.
        asked: tool calls; None if no tools were offered.
        unoffered: whether it calls tools.
        payload: the whole reply, kept for debugging if it is not used as received.

    Raises:
        Fault: a broken reply: finished without a text, calls of tools that were not offered, or stopped
            for a tool call without one.
    """
    absent = text is None
    text, replaced = clean(text or "")
    reasoning, text = split_thoughts(text)
    absent = absent or bool(reasoning and not text)
    finish_reason = clean(finish_reason)[0] if finish_reason else None
    unoffered = unoffered and asked is None
    calls: tuple[ToolCall, ...] = ()
    carried: dict[str, Any] = {}
    done = finish_reason in _COMPLETE or (asked is not None and finish_reason in _CALLS)
    if asked is not None and (done or finish_reason in _CUT) and not refusal:
        calls, further = asked.calls.read(cut=not done)
        carried = asked.carried.read(further)
    ending = "no finish reason" if finish_reason is None else f"finish reason {finish_reason!r}"
    if unoffered:
        ending += " with a tool call that nobody offered"
    notes = [part for part in (note, replaced) if part]
    if reasoning:
        notes.append(f"{len(reasoning)} characters of reasoning in tags before the text")
    if refusal:
        status = CompletionStatus.refused
        notes.append(f"the model refused: {clean(refusal)[0]}")
    elif finish_reason in _CUT:
        status = CompletionStatus.cut
    elif finish_reason in _REFUSED:
        status = CompletionStatus.refused
        notes.append(f"stopped by the content filter after {len(text)} characters")
    elif finish_reason in _CALLS and done and not calls:
        raise Fault(FaultKind.reply, f"{ending} without a tool call")
    elif done and not unoffered and (calls or not absent):
        status = CompletionStatus.complete
    elif text.strip():
        status = CompletionStatus.partial
        notes.append(f"{ending}, after {len(text)} characters")
    else:
        raise Fault(FaultKind.empty, f"{ending}, and no text", raw=escaped(payload), usage=usage)
    kept = status in (CompletionStatus.complete, CompletionStatus.cut)
    return Reply(
        status,
        text if kept else None,
        finish_reason,
        clean(provider_model)[0] if provider_model else None,
        usage,
        "; ".join(notes),
        calls,
        carried,
        fragment="" if kept else text,
        reasoning=reasoning,
        raw="" if kept and not note else escaped(payload),
    )


def _calls_tools(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call"))


def _check_error(body: Mapping[str, Any]) -> None:
    """Raise an error that a provider reports inside a response of status 200 or a stream."""
    error = body.get("error")
    if not error:
        return
    code = cast("Mapping[str, object]", error).get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and code in _HTTP_ERRORS:
        raise error_fault(code, body, str(body))
    raise Fault(FaultKind.reply, f"an error inside the reply: {error_fault(0, body, str(body)).detail}")
