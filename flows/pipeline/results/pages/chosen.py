"""Choose graded conditions by the names that a user types."""

from __future__ import annotations

from collections.abc import Sequence

from flows.common.errors import ConfigError
from flows.pipeline.results.graded import Graded


def matching(graded: Sequence[Graded], name: str) -> list[Graded]:
    """Return the entries of a condition's label, its model, or either with `/judge`.

    A label takes precedence over a model of the same name.

    Raises:
        ConfigError: there is none.
    """
    wanted, _, judge = name.partition("/")
    for attribute in ("condition", "model"):
        found = [one for one in graded if getattr(one, attribute) == wanted and judge in ("", one.judge)]
        if found:
            return found
    raise ConfigError(name, "no such condition", "one of " + ", ".join(names(graded)) if graded else "a graded one")


def names(entries: Sequence[Graded]) -> list[str]:
    """Return the entries' unambiguous names."""
    return sorted(f"{one.condition}/{one.judge}" for one in entries)


def pair(graded: Sequence[Graded], first: str, second: str) -> tuple[Graded, Graded]:
    """Return two entries by name; if a name fits several, the only two that share a judge.

    Raises:
        ConfigError: a name fits no entry, the names fit several pairs, or both are the same.
    """
    sides = matching(graded, first), matching(graded, second)
    pairs = [(one, two) for one in sides[0] for two in sides[1] if one is not two]
    if len(pairs) > 1:
        pairs = [(one, two) for one, two in pairs if one.judge == two.judge]
    if not pairs:
        raise ConfigError(f"{first}, {second}", "no two conditions", "two of " + ", ".join(names(graded)))
    if len(pairs) > 1:
        candidates = [one for side in sides for one in side]
        raise ConfigError(
            f"{first}, {second}", "several conditions", "two of " + ", ".join(dict.fromkeys(names(candidates)))
        )
    return pairs[0]
