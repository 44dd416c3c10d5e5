"""Tokens as an endpoint counted them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flows.schema.completion import Usage

_MOST_TOKENS = 1_000_000_000
"""Of one reply: what is beyond counts nothing that there is."""


def read_usage(usage: object) -> Usage:
    """Tokens as the provider counted them; None for what it did not say, or said in no number."""
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
        # Some providers leave what was thought out of the output, though they charge for it as such.
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
    """A number of tokens; None for what is none, or more than any model takes."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _MOST_TOKENS and value == int(value) else None
