"""The axes of `conf/`, their options and a sentence on each, read without composing anything."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import yaml

from flows.common.errors import ConfigError
from flows.schema.settings import Settings

AXES = {
    "benchmark": "Which scenarios, and the protocol they belong to.",
    "harness": "How a model is led to what it writes.",
    "model": "Who writes.",
    "effort": "How hard the writer is asked to reason.",
    "word_cap": "How many words of a brief are graded.",
    "prompt": "What the writer reads.",
    "judge": "Who grades.",
    "judge_prompt": "What the judge reads.",
    "scoring": "The points of each severity.",
    "runner": "How calls are made.",
    "budget": "What a run may spend.",
    "tracking": "Whether runs are logged to MLflow.",
    "experiment": "Named grids, chosen with +experiment=NAME.",
}
_SENTENCE = re.compile(r".+?[^.]\.(?=\s|$)")
_SHORT = 60  # characters of a value that is shown beside its option
_SHOWN = 4  # values


def options(project: Path, beside: Sequence[Path] = ()) -> dict[str, list[str]]:
    """Return the options by axis, without files beginning with _, which are included by others.

    Raises:
        ConfigError: a further folder has an option of a name that is taken.
    """
    conf = project / "conf"
    found = {folder.name: _names(folder) for folder in sorted(conf.iterdir()) if folder.is_dir()}
    for folder in beside:
        for axis in AXES:
            known, more = found.setdefault(axis, []), _names(folder / axis)
            for name in more:
                if name in known:
                    why = "has no effect: an option of that name is found first"
                    raise ConfigError(folder / axis / f"{name}.yaml", why, "another name")
            found[axis] = sorted([*known, *more])
    return found


def _names(folder: Path) -> list[str]:
    """Return the options of an axis; in a folder of it they are named with it, as experiment=mine/first."""
    files = sorted(
        (file for file in folder.rglob("*.yaml") if not file.stem.startswith("_")),
        key=lambda file: (file.parent, int(file.stem) if file.stem.isdecimal() else -1, file.stem),
    )
    return [file.relative_to(folder).with_suffix("").as_posix() for file in files]


def shipped() -> Path:
    """Return the folder of the options that come with staffbench: in the package, beside it in a clone."""
    package = Path(__file__).resolve().parents[2]
    return package / "conf" if (package / "conf").is_dir() else package.parent / "conf"


def comment(project: Path, axis: str, option: str) -> str:
    """Return the comment that an option's file begins with, else its values where they are few."""
    text = _text(project, axis, option)
    return " ".join(_comment(text)) or ", ".join(_values(text)[:_SHOWN])


def sentence(project: Path, axis: str, option: str, beside: Sequence[Path] = ()) -> str:
    """Return the first sentence of `comment`; empty for a base, which is not to be chosen."""
    text = _text(project, axis, option, beside)
    found = ""
    for line in _comment(text):
        found = f"{found} {line}".strip()
        if end := _SENTENCE.match(found):
            return "" if found.startswith("Base of ") else end[0]
        if found.endswith("..."):
            break
    return found or ", ".join(_values(text)[:_SHOWN])


def _text(project: Path, axis: str, option: str, beside: Sequence[Path] = ()) -> str:
    files = [folder / axis / f"{option}.yaml" for folder in (project / "conf", *beside)]
    file = next(file for file in files if file.is_file())
    return file.read_text(encoding="utf-8", errors="replace")


def _comment(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("# ") or line.startswith("# @package"):
            if lines or not line.startswith("#"):
                break
            continue
        lines.append(line[2:].strip())
    return lines


def _values(text: str) -> list[str]:
    try:
        content: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return ["not YAML"]
    pairs = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    return [
        f"{key}: {'null' if value is None else value}"
        for key, value in pairs.items()
        if key != "defaults" and not isinstance(value, dict | list) and len(str(value)) < _SHORT
    ]


def key_types(kind: type = Settings, prefix: str = "") -> dict[str, Any]:
    """Return every key of the settings, dotted, with its type."""
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for field in fields(kind):
        found[f"{prefix}{field.name}"] = hints[field.name]
        if is_dataclass(hints[field.name]):
            found |= key_types(hints[field.name], f"{prefix}{field.name}.")
    return found


def overrides_to_complete(
    known: Mapping[str, list[str]], prefix: str, *, is_sweep: bool = False, weights: Sequence[str] = ()
) -> list[str]:
    """Return what an override that begins with `prefix` may be: an axis or key, then an option or value.

    `known` are the options by axis, `weights` the names of the weights of severities.
    """
    key, separator, value = prefix.partition("=")
    name = key.lstrip("+~")
    if not separator:
        keys = [
            key
            for key, kind in key_types().items()
            if not is_dataclass(kind) and ("." in prefix) is ("." in key)
        ]
        keys += [f"scoring.weights.{weight}" for weight in weights if "." in prefix]
        axes = ["+experiment" if axis == "experiment" else axis for axis in known]
        return [f"{one}=" for one in [*axes, *keys] if one.startswith(prefix)]
    is_member = name.startswith("judge.members.")
    values = known.get("judge" if is_member else name) or _words(key_types().get(name))
    begun = value[: value.rfind(",") + 1] if is_sweep else ""
    return [f"{key}={begun}{word}" for word in values]


def weight_names(project: Path, scorings: Sequence[str], beside: Sequence[Path] = ()) -> list[str]:
    """Return the names of the weights that stand in the files of these scorings; others inherit theirs."""
    found: dict[str, None] = {}
    for name in scorings:
        with suppress(yaml.YAMLError, TypeError, KeyError):  # completion has nobody to report a fault to
            found |= dict.fromkeys(yaml.safe_load(_text(project, "scoring", name, beside))["weights"])
    return [str(weight) for weight in found]


def _words(kind: Any) -> list[str]:
    """Return the values of a type that has few; none for another."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(word.value) for word in kind]
    if kind is bool:
        return ["true", "false"]
    return [word for inner in get_args(kind) for word in _words(inner)]
