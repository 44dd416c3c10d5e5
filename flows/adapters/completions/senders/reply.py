"""Read replies in the OpenAI chat format: the finish reason decides the status.

All transports use this, for whole replies (`read_completion`) and streams (`StreamedReply`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from flows.adapters.completions.faults import Fault, FaultKind, error_fault
from flows.adapters.completions.senders.calls import FIELDS, Calls, ProviderState
from flows.adapters.completions.senders.fields import (
    clean,
    content,
    escaped,
    listed,
    mapping,
    read_usage,
    split_thoughts,
    word,
)
from flows.schema.completion import CompletionStatus, ToolCall, Usage

MAX_TEXT_CHARS = 16_000_000  # more than any model writes; stops an endless stream

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
            be empty or repeated.
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
    """Read a whole reply from its JSON; `note` is a remark from parsing, for `detail`.

    If the request offered no tools, tool calls are not an answer.

    Raises:
        Fault: it is not a chat completion or has no reply; with its body and usage.
    """
    reply = StreamedReply(tools=tools)
    try:
        reply.feed_whole(mapping(payload, "the reply"), note)
        return reply.end()
    except Fault as fault:
        fault.raw = fault.raw or escaped(payload)
        if fault.usage is None and isinstance(payload, Mapping):
            fault.usage = read_usage(cast("Mapping[str, Any]", payload).get("usage"))
        raise


class StreamedReply:
    """A reply, received in chunks or as a whole."""

    def __init__(self, *, tools: bool = False) -> None:
        """Create an empty reply; `tools` as for `read_completion`."""
        self._tools = tools
        self._calls = Calls()
        self._carried = ProviderState()
        self._text: list[str] = []
        self._opened = self._given = self._other = self._called = False
        self._refusal: list[str] = []
        self._chars = 0
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage: Usage | None = None
        self._notes: list[str] = []
        self._payload: object = None
        self._chunks: list[object] = []

    def feed(self, payload: object, note: str = "") -> None:
        """Add a chunk.

        Raises:
            Fault: it is not a chunk of a chat completion, reports an error, or there are too many.
        """
        self._payload = self._chunks
        if len(self._chunks) < _KEPT_CHUNKS:
            self._chunks.append(payload)
        try:
            body = mapping(payload, "a chunk")
            self._add_body(body, note)
            for item in listed(body.get("choices"), "the choices"):
                choice = mapping(item, "the choice")
                if choice.get("index") in (0, None):  # only one is asked for
                    delta = mapping(choice.get("delta") or {}, "the delta")
                    self._add_message(delta, choice, streamed=True)
        except Fault as fault:
            fault.raw = fault.raw or escaped(self._chunks)
            fault.usage = fault.usage or self._usage
            raise

    def feed_whole(self, body: Mapping[str, Any], note: str) -> None:
        """Take the body of a whole reply.

        Raises:
            Fault: it is not a chat completion, or reports an error.
        """
        self._payload = body
        self._add_body(body, note)
        choices = listed(body.get("choices"), "the choices")
        if not choices:
            raise Fault(FaultKind.reply, "no choices in the reply")
        choice = mapping(choices[0], "the choice")
        self._add_message(mapping(choice.get("message"), "the message"), choice, streamed=False)

    @property
    def finished(self) -> bool:
        """Whether the finish reason was received: only the usage may follow."""
        return self._finish_reason is not None

    def remark(self, note: str) -> None:
        """Add a note to the reply's detail."""
        if note not in self._notes:
            self._notes.append(note)

    def end(self) -> Reply:
        """Return the reply, whose finish reason decides its status. Empty, refused and failed are different.

        An empty text at the start of a streamed message counts as a text if nothing follows.

        Raises:
            Fault: a broken reply: finished without a text, calls of tools that were not offered, or stopped
                for a tool call without one.
        """
        text, replaced = clean("".join(self._text))
        reasoning, text = split_thoughts(text)
        given = self._given or (self._opened and not self._other)
        absent = not given or bool(reasoning and not text)
        finish = clean(self._finish_reason)[0] if self._finish_reason else None
        unoffered = self._called and not self._tools
        calls: tuple[ToolCall, ...] = ()
        carried: dict[str, Any] = {}
        done = finish in _COMPLETE or (self._tools and finish in _CALLS)
        if self._tools and (done or finish in _CUT) and not self._refusal:
            calls, further = self._calls.read(cut=not done)
            carried = self._carried.read(further)
        ending = "no finish reason" if finish is None else f"finish reason {finish!r}"
        if unoffered:
            ending += " with a tool call that nobody offered"
        notes = [*self._notes, replaced] if replaced else [*self._notes]
        if reasoning:
            notes.append(f"{len(reasoning)} characters of reasoning in tags before the text")
        if self._refusal:
            status = CompletionStatus.refused
            notes.append(f"the model refused: {clean(''.join(self._refusal))[0]}")
        elif finish in _CUT:
            status = CompletionStatus.cut
        elif finish in _REFUSED:
            status = CompletionStatus.refused
            notes.append(f"stopped by the content filter after {len(text)} characters")
        elif finish in _CALLS and done and not calls:
            raise Fault(FaultKind.reply, f"{ending} without a tool call")
        elif done and not unoffered and (calls or not absent):
            status = CompletionStatus.complete
        elif text.strip():
            status = CompletionStatus.partial
            notes.append(f"{ending}, after {len(text)} characters")
        else:
            raise Fault(
                FaultKind.empty,
                f"{ending}, and no text",
                raw=escaped(self._payload),
                usage=self._usage or Usage(),
            )
        kept = status in (CompletionStatus.complete, CompletionStatus.cut)
        return Reply(
            status,
            text if kept else None,
            finish,
            clean(self._model)[0] if self._model else None,
            self._usage or Usage(),
            "; ".join(notes),
            calls,
            carried,
            fragment="" if kept else text,
            reasoning=reasoning,
            raw="" if kept and not self._notes else escaped(self._payload),
        )

    def _add_body(self, body: Mapping[str, Any], note: str) -> None:
        _check_error(body)
        if note:
            self.remark(note)
        self._model = word(body.get("model")) or self._model
        if body.get("usage") is not None:
            self._usage = read_usage(body["usage"])

    def _add_message(self, message: Mapping[str, Any], choice: Mapping[str, Any], *, streamed: bool) -> None:
        text, refusal = content(message.get("content")), word(message.get("refusal"))
        if text is not None:
            self._opened = True
            self._given = self._given or bool(text) or not streamed or "role" not in message
        for parts, part in ((self._text, text), (self._refusal, refusal)):
            if part:
                parts.append(part)
                self._chars += len(part)
        self._called = self._called or bool(message.get("tool_calls") or message.get("function_call"))
        self._other = self._other or self._called or any(message.get(name) for name in FIELDS)
        if self._tools:
            self._calls.add(message, streamed=streamed)
            self._carried.add(message)
        if streamed and self._chars + self._calls.chars + self._carried.chars > MAX_TEXT_CHARS:
            raise Fault(FaultKind.reply, f"more than {MAX_TEXT_CHARS:,} characters")
        self._finish_reason = word(choice.get("finish_reason")) or self._finish_reason


def _check_error(body: Mapping[str, Any]) -> None:
    """Raise an error that a provider reports inside a response of status 200 or a stream."""
    error = body.get("error")
    if not error:
        return
    code = cast("Mapping[str, object]", error).get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and code in _HTTP_ERRORS:
        raise error_fault(code, body, str(body))
    raise Fault(FaultKind.reply, f"an error inside the reply: {error_fault(0, body, str(body)).detail}")
