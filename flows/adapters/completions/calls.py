"""Tool calls as endpoints send them, whole or in pieces.

What follows from a call is for whoever offered the tools: a name that no tool has and arguments that
are no JSON are kept as they came. Only what can't be answered at all is a fault: a call without a name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.completions.fields import clean, listed, mapping, string
from flows.common.digests import sha256_text
from flows.schema.completion import ToolCall

CARRIED_OF_CALL = ("extra_content", "provider_specific_fields")
"""Fields of a tool call that are sent back with it: Gemini's thought signatures lie there."""


_ID_CHARS = 9


@dataclass(slots=True)
class _Piece:
    """A call as far as it has come."""

    index: int | None
    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    further: dict[str, Any] = field(default_factory=dict[str, Any])


class Calls:
    """The tool calls of one reply, in order of their first piece.

    Attributes:
        chars: how much has come.
    """

    def __init__(self) -> None:
        self.chars = 0
        self._pieces: list[_Piece] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, message: Mapping[str, Any], *, streamed: bool = False) -> None:
        """Take the calls of a whole message, or the pieces of calls in a chunk of one.

        Raises:
            Fault: they are none.
        """
        items = listed(message.get("tool_calls"), "the tool calls")
        if not items and message.get("function_call"):  # the protocol's old form: one call, without an id
            items = ({"index": 0, "function": message["function_call"]},)
        for item in items:
            self._add(mapping(item, "a tool call"), streamed=streamed)

    def read(self, *, cut: bool = False) -> tuple[tuple[ToolCall, ...], list[Mapping[str, Any]]]:
        """The calls, each with its further fields.

        Args:
            cut: whether the reply stopped at its limit: then the last call may be half written. It stays
                as far as it came, unless its name did not.

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
                arguments = "{}"  # what some servers leave out for a tool that takes none
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
            piece.further.update({key: holder[key] for key in CARRIED_OF_CALL if holder.get(key)})
        self.chars += len(call_id) + len(name) + len(arguments)

    def _of(self, index: int | None, call_id: str, name: str) -> _Piece | None:
        """The call that a piece continues; None where it begins one.

        Several calls at once are told apart by `index`. Some servers leave it out, or give 0 to every
        call: then another id, or without ids a name after arguments, begins the next call.
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
    """Calls with an id each, which their answers name: some servers give none, or one to several.

    An id that is made has nine letters and digits, the only ones that every provider takes
    (Mistral's are no longer), and is made from the request, so that no two turns of a chat share one.

    Args:
        calls: of one reply.
        key: of its request.

    Returns:
        the calls, and a note where ids were made.
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
