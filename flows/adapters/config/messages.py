"""Messages on a configuration: the key, what was found and what to write."""

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf.errors import ConfigAttributeError, InterpolationResolutionError
from yaml import YAMLError

from flows.adapters.config.described import key_types
from flows.common.errors import ConfigError

_FEW = 20  # most words listed in a message
_SOME = 6  # words listed of more
_LONGEST = 60
_KINDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text",
    "string_too_short": "a name",
    "list_type": "a list, such as {key}=[a,b]",
    "dict_type": "keys below it, such as {key}.KEY=...",
    "dataclass_type": "keys below it, such as {key}.KEY=...",
    "dataclass_exact_type": "keys below it, such as {key}.KEY=...",
    "missing": "a value; it can't be removed",
}
"""What is expected, by pydantic's type of error."""
_MISSING = re.compile(r"Could not (?:find|load) '([\w/]+)/([^'/]+)'")


def nearest(word: str, valid: Sequence[str]) -> str:
    """Suggest the words that are spelled alike, with the others if there are few."""
    near = difflib.get_close_matches(word, valid, n=3, cutoff=0.6)
    others = [name for name in valid if name not in near]
    if not near and len(valid) > _FEW:
        return f"one of {len(valid)}: {', '.join(valid[:_SOME])}, ..."
    if not near:
        return f"one of {', '.join(valid)}"
    if len(valid) > _FEW or not others:
        return " or ".join(near)
    if len(others) == 1:
        return " or ".join((*near, *others))
    return f"{' or '.join(near)}, or another of {', '.join(others)}"


def nearest_key(name: str, keys: Sequence[str]) -> str:
    """Suggest keys and axes for an unknown one: the same last part or an axis, then a like spelling."""
    section, _, last = name.rpartition(".")
    axes = [key for key in keys if "." not in key]
    like = difflib.get_close_matches(last, [key.rpartition(".")[2] for key in keys], n=1, cutoff=0.75)
    field = (
        [f"{section}.parameters.{last} for a field of the request"] if section in ("model", "judge") else []
    )
    axis_like = [] if section else difflib.get_close_matches(name, axes, n=1, cutoff=0.85)
    for alike in (
        [*axis_like, *(key for key in keys if key.rpartition(".")[2] == last and key not in axis_like)],
        [axis for axis in axes if name in axis.split("_")],
        difflib.get_close_matches(name, axes if not section else keys, n=2, cutoff=0.75) + field,
        [key for key in keys if key.rpartition(".")[2] in like],
    ):
        if alike:
            return " or ".join(alike[:3])
    return f"one of {', '.join(axes)}, or a key below one; --cfg job shows them all"


def explained(detail: Any, keys: Sequence[str]) -> ConfigError:
    """Return the error for one of pydantic's, without the value of a whole section."""
    key = ".".join(str(part) for part in detail["loc"])
    kind, value = detail["type"], detail["input"]
    if kind == "unexpected_keyword_argument":
        return ConfigError(key, "no such key", nearest_key(key, keys))
    if kind.startswith("greater_than"):
        (bound,) = detail["ctx"].values()
        expected = f"{bound:g} or more" if kind.endswith("_equal") else f"more than {bound:g}"
        return ConfigError(key, str(type(bound)(value)), expected)
    message = str(detail["msg"]).removeprefix("Input should be ")
    if kind == "enum":
        valid = [word.strip(" '") for word in message.replace(" or ", ", ").split(",")]
        return ConfigError(key, found(value), nearest(str(value), valid))
    expected = _KINDS.get(kind, message).replace("{key}", key)
    return ConfigError(key, "not set" if kind == "missing" else found(value), expected)


def missing_option(text: str, known: Mapping[str, Sequence[str]]) -> ConfigError | None:
    """Return the error for an option that another file of `conf/` names and that is not there."""
    match = _MISSING.search(text)
    if match is None or match[1] not in known:
        return None
    axis, name = match.groups()
    return ConfigError(
        f"conf/{axis}/{name}.yaml",
        "not there, and an option in use names it",
        nearest(name, known[axis]),
        f"copy one of conf/{axis}/ to it, or name another",
    )


def uncomposed(error: Exception, words: Sequence[str], known: Mapping[str, Sequence[str]]) -> ConfigError:
    """Return the error for one of Hydra's while it composed the overrides `words`."""
    if (missing := missing_option(str(error), known)) is not None:
        return missing
    if (key := _needed_key(error)) in key_types():
        return ConfigError(str(key), "not set", "a value in the file of its option")
    fault: BaseException | None = error
    while fault is not None and not isinstance(fault, ConfigError):
        fault = fault.__cause__ or fault.__context__
    if fault is not None:
        return fault  # of a resolver
    lines = str(error).split("\n")
    # YAML errors give the location only after the first line.
    is_short = lines[0].endswith(":")
    said = " ".join(" ".join(lines[:2] if is_short else lines).split())
    said = said if is_short or isinstance(error, YAMLError) else lines[0]
    plain = "for ${ as it stands, write \\${" if isinstance(error, InterpolationResolutionError) else ""
    return ConfigError(" ".join(words) or "conf", said, remedy=plain)


def _needed_key(error: BaseException) -> str | None:
    """Return the key that composing needed and did not find; None for another error."""
    if isinstance(error, ConfigAttributeError):
        return error.full_key
    found = re.match(r"Interpolation key '([\w.]+)' not found", str(error))
    return found[1] if found else None


def found(value: object) -> str:
    """Format a value for a message: as it is written in YAML, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "keys below it"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


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
