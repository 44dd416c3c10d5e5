"""Overrides that travel with an exported task, and those that go before them in its sandbox."""

from __future__ import annotations

from collections.abc import Sequence


def axis_of(override: str) -> str:
    """The axis or first key that an override is about."""
    return override.lstrip("+~").split("=", 1)[0].split(".", 1)[0].split("@", 1)[0]


def layered(below: Sequence[str], above: Sequence[str]) -> list[str]:
    """Overrides, with those of `above` in the place of what they contradict.

    An option chosen on an axis takes all that was said of that axis with it: keys of one judge mean
    nothing to another.
    """
    axes = {axis_of(word) for word in above if "." not in word.split("=", 1)[0]}
    keys = {word.lstrip("+~").split("=", 1)[0] for word in above}
    kept = [
        word for word in below if axis_of(word) not in axes and word.lstrip("+~").split("=", 1)[0] not in keys
    ]
    return [*kept, *above]
