"""Read the token counts of an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flows.schema.completion import Usage

_MOST_TOKENS = 1_000_000_000
"""Maximum plausible count for one reply."""


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
