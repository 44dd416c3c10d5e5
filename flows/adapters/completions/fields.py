"""Fields of what an endpoint sent: taken as what they should be, or else a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

from flows.adapters.completions.faults import Fault, FaultKind
from flows.schema.completion import canonical_json


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


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """An object.

    Raises:
        Fault: it is none.
    """
    if not isinstance(value, Mapping):
        raise Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not an object")
    return cast("Mapping[str, Any]", value)


def listed(value: object, what: str) -> Sequence[object]:
    """A list; null is an empty one.

    Raises:
        Fault: it is none.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not a list")
    return cast("Sequence[object]", value)


def string(value: object, what: str) -> str | None:
    """A text, or None for null.

    Raises:
        Fault: it is neither.
    """
    if value is None or isinstance(value, str):
        return value
    raise Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not text")


def storable(value: Any, what: str) -> Any:
    """A JSON value as the store gives it back; lone surrogates in it become U+FFFD.

    Raises:
        Fault: JSON has no form for it, or the store has none.
    """
    try:
        return orjson.loads(orjson.dumps(json.loads(clean(canonical_json(value))[0])))
    except (TypeError, ValueError) as error:
        raise Fault(FaultKind.reply, f"{what} can't be stored: {error}") from None
