"""Read typed fields from a response; other types are a fault."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

from flows.adapters.completions.faults import Fault, FaultKind
from flows.common.text import plural
from flows.schema.completion import Usage

RAW_CHARS = 64_000  # maximum length of a body kept for debugging

_TOO_LARGE = 1 << 63
_DIGITS = 20
_DEEPEST = 100  # orjson writes 254, and a record adds some
_MOST_TOKENS = 1_000_000_000  # of one reply, plausibly

_BLOCK = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_UNOPENED = re.compile(r"(?:(?!<think>).)*?</think>\s*", re.DOTALL | re.IGNORECASE)


def load_json(data: bytes) -> tuple[Any, str]:
    """Parse JSON leniently: a strict parser could lose a paid reply.

    Lone surrogates are kept for `clean` to replace. Bytes that are not UTF-8 become U+FFFD.

    Returns:
        The value, and a note if bytes were replaced.

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
        # Python rejects numbers of more than 4,300 digits.
        return json.loads(
            text, parse_int=lambda digits: int(digits) if len(digits) < _DIGITS else math.inf
        ), note
    except (ValueError, RecursionError):
        pass
    raise Fault(FaultKind.reply, f"not JSON: {text!r}", raw=text)


def clean(text: str) -> tuple[str, str]:
    """Make text encodable in UTF-8: surrogate pairs are joined, lone ones become U+FFFD.

    Returns:
        The text, and a note if something was replaced.
    """
    cleaned = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lone = cleaned.count("\ufffd") - text.count("\ufffd")
    return cleaned, f"{plural(lone, 'lone surrogate')} replaced by U+FFFD" if lone else ""


def tame(value: Any, depth: int = 0) -> Any:
    """Make a JSON value storable.

    Lone surrogates become U+FFFD, non-finite numbers null, and integers beyond 64 bits and deeply nested
    values text.
    """
    if isinstance(value, dict | list | tuple):
        if depth >= _DEEPEST:
            return f"[nested more than {_DEEPEST} deep]"
        if isinstance(value, dict):
            fields = cast("dict[Any, Any]", value)
            return {clean(str(name))[0]: tame(item, depth + 1) for name, item in fields.items()}
        return [tame(item, depth + 1) for item in cast("Sequence[Any]", value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < _TOO_LARGE):
        return value
    return clean(str(value))[0] if not isinstance(value, int) else str(value)[:_DIGITS]


def escaped(value: object) -> str:
    """Format a response in ASCII, shortened, for debugging."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, default=str)
        except (ValueError, RecursionError):
            value = json.dumps(tame(value))
    return value[:RAW_CHARS].encode("ascii", "backslashreplace").decode("ascii")


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return an object's fields; a Fault if `value` is none."""
    if not isinstance(value, Mapping):
        raise _other(value, what, "an object")
    return cast("Mapping[str, Any]", value)


def listed(value: object, what: str) -> Sequence[object]:
    """Return a list, an empty one for null; a Fault if `value` is neither."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _other(value, what, "a list")
    return cast("Sequence[object]", value)


def string(value: object, what: str) -> str | None:
    """Return a text or null; a Fault if `value` is neither."""
    if value is None or isinstance(value, str):
        return value
    raise _other(value, what, "text")


def _other(value: object, what: str, wanted: str) -> Fault:
    return Fault(FaultKind.reply, f"{what} is {type(value).__name__}, not {wanted}")


def word(value: object) -> str | None:
    """Return a word of the endpoint; other types are formatted, so as not to lose a paid text."""
    return value if value is None or isinstance(value, str) else escaped(value)


def content(value: object) -> str | None:
    """Return the text of a message, joining parts and omitting reasoning."""
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


def storable(value: Any) -> Any:
    """Return a JSON value as the store returns it; see `tame`."""
    return orjson.loads(orjson.dumps(tame(value)))


def split_thoughts(text: str) -> tuple[str, str]:
    """Split a text into the reasoning before the reply, tags included, and the reply.

    Only blocks at the beginning are split off. One may lack its end, if the output limit was reached, or its
    opening tag, which chat templates of DeepSeek and Qwen put into the prompt. JSON has no such block.
    """
    end = 0
    while block := _BLOCK.match(text, end):
        end = block.end()
    if _UNCLOSED.match(text, end):
        end = len(text)
    elif "</think>" in text[end:].lower() and not text[end:].lstrip().startswith(("{", "[", "```")):
        rest = _UNOPENED.match(text, end)
        end = rest.end() if rest else end
    return text[:end], text[end:]


def read_usage(usage: object) -> Usage:
    """Read the provider's token counts; None for missing or invalid ones."""
    if not isinstance(usage, Mapping):
        return Usage()
    counts = cast("Mapping[str, object]", usage)

    def details(name: str) -> Mapping[str, object]:
        value = counts.get(name)
        return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}

    output, reasoning = (
        _count(counts.get("completion_tokens")),
        _count(details("completion_tokens_details").get("reasoning_tokens")),
    )
    if output is not None and reasoning is not None:
        # Some providers exclude reasoning from the output tokens, although they charge for it.
        sent, total = _count(counts.get("prompt_tokens")), _count(counts.get("total_tokens"))
        beside = sent is not None and total == sent + output + reasoning
        output += reasoning if beside or reasoning > output else 0
    return Usage(
        input_tokens=_count(counts.get("prompt_tokens")),
        output_tokens=output,
        reasoning_tokens=reasoning,
        cached_tokens=_count(details("prompt_tokens_details").get("cached_tokens")),
    )


def _count(value: object) -> int | None:
    """Read a token count; None if it is invalid or implausibly large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _MOST_TOKENS and value == int(value) else None
