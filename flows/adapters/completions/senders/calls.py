"""Read tool calls from replies, and fields that go back with the next turn, whole or in chunks.

Unknown tool names and arguments that are not JSON are kept for the tool loop to handle. Only a call without a
name, which can't be answered, is a fault.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.completions.senders.fields import clean, listed, mapping, storable, string
from flows.common.digests import sha256_text
from flows.schema.completion import ToolCall

_CARRIED_OF_CALL = ("extra_content", "provider_specific_fields")
"""Fields of a tool call that are sent back with it, such as Gemini's thought signatures."""

FIELDS = (
    "reasoning_content",  # DeepSeek and others: reject the next turn of a tool loop without it
    "reasoning",  # vLLM's name for it
    "reasoning_details",  # OpenRouter: blocks, signed by some of its hosts
    "thinking_blocks",  # litellm: Anthropic's signed thinking
)
"""Fields of a message that are sent back; others are not. Some providers sign the reasoning between tool
calls: without it they reject the next turn, or the model starts over."""

_FURTHER = "provider_specific_fields"
"""litellm's place for other fields: some of `FIELDS`, duplicates, and `_SIGNED`."""

_SIGNED = "thought_signatures"  # Gemini's signatures of the text; calls have their own
CALLS = "tool_calls"
"""Field of `carried` that holds, for each tool call in order, the further fields of that call."""

_WRITTEN = frozenset({"thinking", "text", "summary", "signature"})
_IN_PIECES = ("thinking", "reasoning.text", "reasoning.summary")

_ID_CHARS = 9


@dataclass(slots=True)
class _Piece:
    index: int | None
    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    further: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True, eq=False)
class Calls:
    """The tool calls of one reply, in order of their first piece."""

    chars: int = 0  # number of characters received
    _pieces: list[_Piece] = field(default_factory=list[_Piece])

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, message: Mapping[str, Any], *, streamed: bool = False) -> None:
        """Add the calls of a whole message or the pieces in a chunk.

        Raises:
            Fault: they are malformed.
        """
        items = listed(message.get("tool_calls"), "the tool calls")
        if not items and message.get("function_call"):  # the old format: one call without an id
            items = ({"index": 0, "function": message["function_call"]},)
        for item in items:
            self._add(mapping(item, "a tool call"), streamed=streamed)

    def read(self, *, cut: bool = False) -> tuple[tuple[ToolCall, ...], list[Mapping[str, Any]]]:
        """Return the calls, each with its further fields.

        If the reply was `cut` at its output limit, the last call may be incomplete. It is kept unless its
        name is missing.

        Raises:
            Fault: one has no name.
        """
        pieces = [piece for piece in self._pieces if piece.name.strip() or not cut]
        if not all(piece.name.strip() for piece in pieces):
            raise Fault(FaultKind.reply, "a tool call without a name")
        calls: list[ToolCall] = []
        for piece in pieces:
            arguments = clean("".join(piece.arguments))[0]
            if not cut and not arguments.strip():
                arguments = "{}"  # some servers omit empty arguments
            calls.append(ToolCall(clean(piece.call_id)[0], clean(piece.name)[0], arguments))
        return tuple(calls), [piece.further for piece in pieces]

    def _add(self, item: Mapping[str, Any], *, streamed: bool) -> None:
        kind = item.get("type")
        if kind not in (None, "", "function"):
            raise Fault(FaultKind.reply, f"a tool call is {kind!r}, not 'function'")
        function = mapping(item.get("function") or {}, "the function of a tool call")
        index = item.get("index")
        call_id = string(item.get("id"), "the id of a tool call") or ""
        name = string(function.get("name"), "the name of a tool call") or ""
        arguments = function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):  # some servers send the object itself
            arguments = json.dumps(arguments, ensure_ascii=False)
        piece = self._of(index if isinstance(index, int) else None, call_id, name) if streamed else None
        if piece is None:
            piece = _Piece(index if isinstance(index, int) else None)
            self._pieces.append(piece)
        piece.call_id = piece.call_id or call_id
        if name != piece.name:  # some servers repeat it in each piece
            piece.name += name
        piece.arguments.append(arguments)
        for holder in (function, item):
            piece.further.update({key: holder[key] for key in _CARRIED_OF_CALL if holder.get(key)})
        self.chars += len(call_id) + len(name) + len(arguments)

    def _of(self, index: int | None, call_id: str, name: str) -> _Piece | None:
        """Return the call that a piece continues; None if it begins a new one.

        Parallel calls have different `index` values. Some servers omit it or always send 0: then another id,
        or without ids a name after arguments, begins the next call.
        """
        known = (
            [piece for piece in self._pieces if piece.index == index] if index is not None else self._pieces
        )
        if not known:
            return None
        last = known[-1]
        if call_id and last.call_id:
            same = [piece for piece in known if piece.call_id == call_id]
            return same[-1] if same else None
        begins = bool(name) and index is None and (call_id or any(last.arguments))
        return None if begins else last


def with_ids(calls: Sequence[ToolCall], key: str) -> tuple[tuple[ToolCall, ...], str]:
    """Give each call of a reply a unique id for its answer: some servers send none, or duplicates.

    A generated id has nine letters and digits, which every provider accepts (Mistral requires nine), and
    depends on the request's key, so that no two turns of a chat share one.

    Returns:
        The calls, and a note if ids were generated.
    """
    found: list[ToolCall] = []
    made = 0
    for number, call in enumerate(calls):
        if call.call_id and all(other.call_id != call.call_id for other in found):
            found.append(call)
        else:
            found.append(replace(call, call_id=sha256_text(f"{key} {number}")[:_ID_CHARS]))
            made += 1
    return tuple(found), f"tool calls given an id, having none of their own: {made}" if made else ""


@dataclass(slots=True, eq=False)
class ProviderState:
    """Collects the fields to send back, from a whole reply or its chunks."""

    chars: int = 0  # approximate number of characters received
    _pieces: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])

    def add(self, message: Mapping[str, Any]) -> None:
        """Add the fields of a message or a chunk."""
        given: object = message.get(_FURTHER)
        further: Mapping[str, Any] = (
            cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else dict[str, Any]()
        )
        for name in FIELDS:
            self._take(name, message.get(name) or further.get(name))
        if further.get(_SIGNED):
            self._take(_FURTHER, {_SIGNED: further[_SIGNED]})

    def read(self, further: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the fields for `Message.carried`; `further` are those of each call, from `Calls.read`."""
        found = {name: _whole(pieces) for name, pieces in self._pieces.items()}
        calls = [dict(fields) for fields in further]
        if any(calls):
            found[CALLS] = calls
        return storable(found) if found else {}

    def _take(self, name: str, piece: Any) -> None:
        if piece:
            self._pieces.setdefault(name, []).append(piece)
            self.chars += len(str(piece))


def _whole(pieces: Sequence[Any]) -> Any:
    """Join the pieces of a field: text and lists are concatenated, objects are merged."""
    last = pieces[-1]
    if isinstance(last, str):
        return "".join(piece for piece in pieces if isinstance(piece, str))
    if isinstance(last, list):
        lists = [cast("list[Any]", piece) for piece in pieces if isinstance(piece, list)]
        return _blocks([block for blocks in lists for block in blocks])
    if isinstance(last, dict):
        objects = [cast("dict[str, Any]", piece) for piece in pieces if isinstance(piece, dict)]
        return {name: _whole(values) for name, values in _given(objects).items()}
    return last


def _given(pieces: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each field without nulls."""
    names = dict.fromkeys(name for piece in pieces for name in piece)
    given = {name: [piece[name] for piece in pieces if piece.get(name) is not None] for name in names}
    return {name: values for name, values in given.items() if values}


def _blocks(blocks: Sequence[Any]) -> list[Any]:
    """Join the pieces of reasoning blocks, each ended by a signature."""
    groups: list[list[Any]] = []
    for block in blocks:
        if groups and _continues(groups[-1], block):
            groups[-1].append(block)
        else:
            groups.append([block])
    return [group[0] if len(group) == 1 else _block(group) for group in groups]


def _continues(group: Sequence[Any], block: Any) -> bool:
    if not isinstance(group[0], dict) or not isinstance(block, dict):
        return False
    first, next_ = cast("dict[str, Any]", group[0]), cast("dict[str, Any]", block)
    return (
        first.get("type") in _IN_PIECES
        and (first.get("type"), first.get("index")) == (next_.get("type"), next_.get("index"))
        and not group[-1].get("signature")
    )


def _block(group: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        name: _whole(values) if name in _WRITTEN else values[-1] for name, values in _given(group).items()
    }
