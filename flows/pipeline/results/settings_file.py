"""The settings of each condition under each judge, as YAML beside its results."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic_core import to_jsonable_python

from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.pipeline.work.run_context import Evaluation

SECTIONS = ("benchmark", "harness", "model", "effort", "word_cap", "prompt", "judge", "judge_prompt", "seeds")
"""What a condition and its judge are; budgets, tracking and paths of a run change no result."""


def settings_path(folder: Path, condition: str, judge: str) -> Path:
    """Return the path below `results/<benchmark>/`, from the labels of condition and judge."""
    return folder / "settings" / condition / f"{judge}.yaml"


def write_settings(folder: Path, evaluation: Evaluation) -> Path:
    """Write the settings of an evaluation below `results/<benchmark>/`; return the path.

    Raises:
        StoreError: the file can't be written.
    """
    condition, judge = evaluation.condition, evaluation.judge
    content = {
        "condition": condition.label,
        "judge": judge.label,
        "digests": [condition.digest, judge.digest],
        "changed": changed_keys(evaluation),
        "settings": settings_of(evaluation),
    }
    path = settings_path(folder, condition.label, judge.label)
    write_whole(path, as_yaml(content))
    return path


def settings_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return the settings of a condition and its judge, as plain values."""
    settings = asdict(evaluation.settings)
    return {name: to_jsonable_python(settings[name]) for name in SECTIONS}


def changed_keys(evaluation: Evaluation) -> list[str]:
    """Return the dotted keys in which an evaluation differs from its named options, sorted."""
    return sorted(key for key in evaluation.changed if "." in key)


def read_settings(folder: Path, about: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Read the file that belongs to the metadata of a verdicts table.

    Returns:
        The file's content; None if there is none, or if it is of another run.

    Raises:
        StoreError: it is damaged.
    """
    condition, judge = about["condition"], about["judge"]
    path = settings_path(folder, condition["label"], judge["label"])
    try:
        content: Any = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 -- both are safe
    except FileNotFoundError:
        return None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise StoreError(
            path, "not readable as YAML", remedy="delete it and run that condition again"
        ) from error
    if not isinstance(content, dict):
        raise StoreError(path, "no settings in it", remedy="delete it and run that condition again")
    found = cast("dict[str, Any]", content)
    fits = found.get("digests") == [condition["digest"], judge["digest"]]
    return found if fits and isinstance(found.get("settings"), dict) else None


def as_yaml(value: Any) -> str:
    """Format plain values and enumeration members as YAML."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the C dumper is ten times faster
    return yaml.dump(to_jsonable_python(value), Dumper=dumper, sort_keys=False, allow_unicode=True)
