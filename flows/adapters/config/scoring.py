"""Names of scorings: an overridden weight must not pass for the published one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from flows.schema.completion import canonical_json, sha256_text
from flows.schema.settings import ScoringSettings


def apart(scoring: ScoringSettings, named: Mapping[str, Any]) -> ScoringSettings:
    """The scoring under a name of its own, where a value differs from what its named option says.

    As with conditions the name then ends in a digest, so that its leaderboard, scores and MLflow runs stand
    beside the named option's and never in their place. Points that differ are assumed ones.

    Args:
        scoring: as composed and checked.
        named: the section as its named option alone composes.
    """
    values = {key: value for key, value in asdict(scoring).items() if key not in ("name", "assumed")}
    if all(named.get(key) == value for key, value in values.items()):
        return scoring
    published: Mapping[str, Any] = named.get("weights") or {}
    own = [name for name, points in scoring.weights.items() if published.get(name) != points]
    return replace(
        scoring,
        name=f"{scoring.name}-{sha256_text(canonical_json(values))[:8]}",
        assumed=[*scoring.assumed, *(name for name in own if name not in scoring.assumed)],
    )
