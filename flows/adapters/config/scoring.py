"""Overridden scorings: valid weights, and distinct names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from omegaconf import DictConfig

from flows.adapters.config.check import is_weight
from flows.adapters.config.messages import nearest
from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ConfigError
from flows.schema.settings import ScoringSettings


def refuse_unweighted(overrides: Sequence[str], config: DictConfig) -> None:
    """Reject single weights that the chosen option lacks, with a suggestion.

    Args:
        overrides: value overrides.
        config: the composed options.

    Raises:
        ConfigError: a weight that the option does not have.
    """
    known = [str(name) for name in config["scoring"]["weights"]]
    for override in overrides:
        key = override.partition("=")[0].lstrip("+~")
        name = key.removeprefix("scoring.weights.")
        if is_weight(key) and name not in known:
            option = f"scoring={config['scoring']['name']}"
            fit = nearest(name, known) if known else "equal_points: here each criterion has its own points"
            raise ConfigError(override, f"no weight {name!r} in {option}", fit)


def rename_if_overridden(scoring: ScoringSettings, named: Mapping[str, Any]) -> ScoringSettings:
    """Rename the scoring if a value differs from its named option.

    As for conditions, the name ends in a digest, so its leaderboard, scores and MLflow runs don't replace
    those of the named option. Changed points are marked as assumed.

    Args:
        scoring: the validated scoring.
        named: the section from its named option alone.
    """
    values = {key: value for key, value in asdict(scoring).items() if key not in ("name", "assumed")}
    defaults = {field.name: field.default for field in fields(scoring)}
    if all(named.get(key, defaults[key]) == value for key, value in values.items()):
        return scoring
    published: Mapping[str, Any] = named.get("weights") or {}
    own = [name for name, points in scoring.weights.items() if published.get(name) != points]
    return replace(
        scoring,
        name=f"{scoring.name}-{sha256_text(canonical_json(values))[:8]}",
        assumed=[*scoring.assumed, *(name for name in own if name not in scoring.assumed)],
    )
