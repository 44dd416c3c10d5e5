"""Fields of a reply that its provider requires back unchanged in the next turn.

Some providers sign the reasoning between tool calls: without it they reject the next turn, or the model
starts over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from flows.adapters.completions.fields import storable

FIELDS = (
    "reasoning_content",  # DeepSeek and others: reject the next turn of a tool loop without it
    "reasoning",  # vLLM's name for it
    "reasoning_details",  # OpenRouter: blocks, signed by some of its hosts
    "thinking_blocks",  # litellm: Anthropic's signed thinking
)
"""Fields of a message; others are not sent back."""

FURTHER = "provider_specific_fields"
"""litellm's place for other fields: some of `FIELDS`, duplicates, and `_SIGNED`."""

_SIGNED = "thought_signatures"  # Gemini's signatures of the text; calls have their own
CALLS = "tool_calls"
"""Field of `carried` that holds, for each tool call in order, the further fields of that call."""

_WRITTEN = frozenset({"thinking", "text", "summary", "signature"})
_IN_PIECES = ("thinking", "reasoning.text", "reasoning.summary")


class ProviderState:
    """Collects the fields to send back, from a whole reply or its chunks.

    Attributes:
        chars: approximate number of characters received.
    """

    def __init__(self) -> None:
        self.chars = 0
        self._pieces: dict[str, list[Any]] = {}

    def add(self, message: Mapping[str, Any]) -> None:
        """Add the fields of a message or a chunk."""
        given: object = message.get(FURTHER)
        further: Mapping[str, Any] = (
            cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else dict[str, Any]()
        )
        for name in FIELDS:
            self._take(name, message.get(name) or further.get(name))
        if further.get(_SIGNED):
            self._take(FURTHER, {_SIGNED: further[_SIGNED]})

    def read(self, further: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the fields for `Message.carried`; may be empty.

        Args:
            further: further fields of each tool call, from `Calls.read`.
        """
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
