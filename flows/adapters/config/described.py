"""The axes of `conf/`, their options and a sentence on each, read without composing anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

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


def options(project: Path) -> dict[str, list[str]]:
    """Return the options by axis, without files beginning with _, which are included by others."""
    conf = project / "conf"
    return {
        str(folder.relative_to(conf)): sorted(
            file.stem for file in folder.glob("*.yaml") if not file.stem.startswith("_")
        )
        for folder in sorted(conf.rglob("*"))
        if folder.is_dir()
    }


def shipped() -> Path:
    """Return the folder of the options that come with staffbench: in the package, beside it in a clone."""
    package = Path(__file__).resolve().parents[2]
    return package / "conf" if (package / "conf").is_dir() else package.parent / "conf"


def comment(project: Path, axis: str, option: str) -> str:
    """Return the comment that an option's file begins with, else its values where they are few."""
    text = (project / "conf" / axis / f"{option}.yaml").read_text(encoding="utf-8", errors="replace")
    return " ".join(_comment(text)) or ", ".join(_values(text)[:_SHOWN])


def sentence(project: Path, axis: str, option: str) -> str:
    """Return the first sentence of `comment`; empty for a base, which is not to be chosen."""
    text = (project / "conf" / axis / f"{option}.yaml").read_text(encoding="utf-8", errors="replace")
    found = ""
    for line in _comment(text):
        found = f"{found} {line}".strip()
        if end := _SENTENCE.match(found):
            return "" if found.startswith("Base of ") else end[0]
        if found.endswith("..."):
            break
    return found or ", ".join(_values(text)[:_SHOWN])


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


def overrides_to_complete(known: Mapping[str, list[str]], prefix: str) -> list[str]:
    """Return the overrides that begin with `prefix`: `model=` for an axis, `model=strong` for its options."""
    axis, separator, _ = prefix.partition("=")
    if not separator:
        return [f"+{name}=" if name == "experiment" else f"{name}=" for name in known]
    return [f"{axis}={option}" for option in known.get(axis.lstrip("+"), [])]
