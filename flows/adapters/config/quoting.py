"""Suggest quoting for overrides that Hydra can't parse."""

from __future__ import annotations

import re
import shlex

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from flows.common.errors import ConfigError


def unquoted(override: str, *, multirun: bool) -> ConfigError:
    """Return the error for an override that Hydra can't parse, with what to type instead."""
    where = " ".join(override.split())
    _, has_value, value = override.partition("=")
    if not has_value:
        return ConfigError(where, "not an override", "key=value")
    if value[:1] + value[-1:] in ("{}", "[]"):
        expected = f"texts in double quotes within {value[0]} {value[-1]}"
        return ConfigError(where, "not an override", expected)
    suggested = quoted(override, multirun=multirun)
    if not suggested or "\n" in suggested:
        return ConfigError(where, "not an override", "key=value, with brackets and quotes closed")
    return ConfigError(where, "a value that has to be quoted", suggested)


def quoted(override: str, *, multirun: bool = False) -> str:
    """Quote the value for Hydra and the whole for a shell; empty if it is not an override."""
    key, _, value = override.partition("=")
    parts = value.split(",") if multirun else [value]
    parser = OverridesParser.create()
    parts_quoted: list[str] = []
    for part in parts:
        escaped = re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), part)
        parts_quoted.append(f'"{escaped}"')
        try:
            if parser.parse_override(f"{key}={parts_quoted[-1]}").value() != part:
                return ""
        except HydraException:
            return ""
    return shlex.quote(f"{key}={','.join(parts_quoted)}")
