"""Precedence of the overrides of an exported task and its sandbox."""

from collections.abc import Sequence


def axis_of(override: str) -> str:
    """Return the axis or first key of an override."""
    return override.lstrip("+~").split("=", 1)[0].split(".", 1)[0].split("@", 1)[0]


def layered(below: Sequence[str], above: Sequence[str]) -> list[str]:
    """Merge overrides; those in `above` replace conflicting ones in `below`.

    Choosing an option on an axis drops all overrides of that axis: keys of one judge mean nothing to another.
    """
    keys = {_key(override) for override in above}
    axes = {axis_of(override) for override in above if "." not in _key(override)}
    kept = [override for override in below if axis_of(override) not in axes and _key(override) not in keys]
    return [*kept, *above]


def _key(override: str) -> str:
    return override.lstrip("+~").split("=", 1)[0]
