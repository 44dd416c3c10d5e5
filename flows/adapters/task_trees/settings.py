"""Read `task.toml` (Harbor's schema 1.0 to 1.4), and report ignored keys."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from flows.adapters.task_trees.safe_files import read_toml
from flows.common.errors import ScenarioError, StaffbenchError
from flows.common.untrusted import plain_name

SCHEMAS = ("1.0", "1.1", "1.2", "1.3", "1.4")
_NEWEST = "1.4"

# The keys of Harbor's schema 1.0 to 1.4, with old spellings (Harbor 0.26.0, `TaskConfig`). A section with
# None may have any keys. All other keys are reported.
_SANDBOX: Mapping[str, Any] = dict.fromkeys(
    [
        *("build_timeout_sec", "docker_image", "os", "cpus", "memory", "memory_mb", "storage", "storage_mb"),
        *("gpus", "gpu_types", "tpu", "mcp_servers", "env", "skills_dir", "healthcheck", "workdir"),
        *("allow_internet", "network_mode", "allowed_hosts"),
    ]
)
_AGENT: Mapping[str, Any] = dict.fromkeys(["timeout_sec", "user", "network_mode", "allowed_hosts"])
_VERIFIER: Mapping[str, Any] = {
    **dict.fromkeys(["timeout_sec", "env", "user", "environment_mode", "collect"]),
    **dict.fromkeys(["network_mode", "allowed_hosts"]),
    "environment": _SANDBOX,
}
_STEP: Mapping[str, Any] = {
    **dict.fromkeys(["name", "min_reward", "healthcheck", "artifacts"]),
    "agent": _AGENT,
    "verifier": _VERIFIER,
}
_KNOWN: Mapping[str, Any] = {
    **dict.fromkeys(["schema_version", "version", "source", "artifacts"]),
    **dict.fromkeys(["multi_step_reward_strategy", "multi_step_reward_mode"]),
    "task": dict.fromkeys(["name", "version", "description", "authors", "keywords"]),
    "metadata": {},
    "agent": _AGENT,
    "verifier": _VERIFIER,
    "environment": _SANDBOX,
    "solution": {"env": None},
    "steps": _STEP,
}

LABELS: Mapping[str, tuple[str, ...]] = {
    "task_id": ("task_id", "id"),
    "title": ("title", "name"),
    "report_family": ("report_family", "family"),
    "setting": ("setting", "service"),
    "reader": ("reader", "audience"),
    "length_limit": ("length_limit", "length"),
}
"""Columns of the specification's table, with their accepted keys in `[metadata]`."""

_RESERVED = re.compile(r'[<>:"/|?*]|[. ]$')  # what Harbor rejects in a step name


@dataclass(frozen=True, slots=True)
class StepSettings:
    """One entry of `[[steps]]`; `name` None stands for a task without any."""

    name: str | None
    agent_seconds: float | None
    verifier_seconds: float | None


@dataclass(slots=True)
class TaskSettings:
    """The contents of `task.toml`.

    Attributes:
        schema_version: as written; `1.4` if missing, as in Harbor.
        labels: the LABELS in `[metadata]`.
        judge: `[metadata.judge]` or `[judge]`, as found.
        steps: at least one.
        mean_score_pct: from `[metadata]`; None if missing.
        unused: values by dotted key that neither this project nor Harbor reads.
        notes: remarks, one sentence each.
    """

    schema_version: str = _NEWEST
    labels: dict[str, str] = field(default_factory=dict[str, str])
    judge: dict[str, Any] = field(default_factory=dict[str, Any])
    steps: list[StepSettings] = field(default_factory=list[StepSettings])
    mean_score_pct: float | None = None
    unused: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])


def read_settings(root: Path, problems: list[StaffbenchError]) -> TaskSettings | None:
    """Read `task.toml`.

    Args:
        root: folder of the task.
        problems: all errors are added here; unknown keys are not errors.

    Returns:
        The settings; None if the file can't be read or a step has no usable name.
    """
    where = root / "task.toml"
    try:
        raw = read_toml(root, "task.toml")
    except StaffbenchError as error:
        problems.append(error)
        return None
    found = TaskSettings()
    _version(raw, found, where, problems)
    _unknown(raw, _KNOWN, "", found.unused)
    _metadata(_section(raw, "metadata", where, problems), found, where, problems)
    judge = raw.get("judge")
    if isinstance(judge, dict):
        found.judge = {**cast("dict[str, Any]", judge), **found.judge}
        found.unused.pop("judge", None)
    steps = _steps(raw, where, problems)
    if steps is None:
        return None
    found.steps = steps
    return found


def _version(raw: dict[str, Any], found: TaskSettings, where: Path, problems: list[StaffbenchError]) -> None:
    said = raw.get("schema_version", raw.get("version"))
    if said is None:
        found.notes.append(f"task.toml: no schema_version; read as {_NEWEST}, as Harbor does.")
        return
    version = str(said)
    found.schema_version = version
    if version in SCHEMAS:
        return
    if re.fullmatch(r"1\.\d{1,3}", version):
        found.notes.append(
            f"task.toml: schema_version {version} is newer than {_NEWEST}; read as far as known."
        )
        return
    problems.append(ScenarioError(where, f"schema_version {said!r}", "one of " + ", ".join(SCHEMAS)))


def _unknown(raw: Mapping[str, Any], known: Mapping[str, Any], at: str, unused: dict[str, Any]) -> None:
    for key, value in raw.items():
        name = f"{at}{key}"
        if key not in known:
            if at or key != "metadata":
                unused[name] = value
            continue
        inner = known[key]
        if not inner:
            continue
        entries = cast("list[Any]", value) if isinstance(value, list) else [value]
        for number, entry in enumerate(entries, 1):
            if isinstance(entry, dict):
                place = f"{name}[{number}]." if isinstance(value, list) else f"{name}."
                _unknown(cast("dict[str, Any]", entry), inner, place, unused)


def _section(raw: dict[str, Any], name: str, where: Path, problems: list[StaffbenchError]) -> dict[str, Any]:
    value = raw.get(name, {})
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    problems.append(ScenarioError(where, f"{name} is a {type(value).__name__}", f"a section [{name}]"))
    return {}


def _metadata(
    entries: dict[str, Any], found: TaskSettings, where: Path, problems: list[StaffbenchError]
) -> None:
    """Metadata may have any keys: ignored ones are kept with the unknown keys."""
    rest = dict(entries)
    for label, names in LABELS.items():
        key = next((name for name in names if name in rest), None)
        if key is None:
            continue
        value = rest.pop(key)
        if isinstance(value, str) and value.strip():
            found.labels[label] = value.strip()
        else:
            problems.append(ScenarioError(where, f"metadata.{key} is {value!r}", "text"))
    judge = rest.pop("judge", None)
    if isinstance(judge, dict):
        found.judge = cast("dict[str, Any]", judge)
    elif judge is not None:
        rest["judge"] = judge
    mean = rest.get("mean_score_pct")
    if isinstance(mean, (int, float)) and not isinstance(mean, bool) and math.isfinite(mean):
        found.mean_score_pct = float(rest.pop("mean_score_pct"))
    found.unused.update({f"metadata.{key}": value for key, value in rest.items()})


def _steps(raw: dict[str, Any], where: Path, problems: list[StaffbenchError]) -> list[StepSettings] | None:
    agent = _seconds(_section(raw, "agent", where, problems), "agent", where, problems)
    verifier = _seconds(_section(raw, "verifier", where, problems), "verifier", where, problems)
    entries = raw.get("steps")
    if not entries:
        return [StepSettings(None, agent, verifier)]
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in cast("list[Any]", entries)):
        problems.append(ScenarioError(where, f"steps is {entries!r:.80}", "a list of sections [[steps]]"))
        return None
    steps: list[StepSettings] = []
    seen: set[str] = set()
    for number, entry in enumerate(cast("list[dict[str, Any]]", entries), 1):
        name, place = entry.get("name"), f"steps[{number}]"
        if not isinstance(name, str) or not plain_name(name) or _RESERVED.search(name):
            problems.append(
                ScenarioError(where, f"{place}: name is {name!r}", "the name of one folder below steps/")
            )
            return None
        key = unicodedata.normalize("NFC", name).casefold()  # one folder on some systems
        if key in seen:
            problems.append(ScenarioError(where, f"{place}: name {name!r} twice", "each name once"))
            return None
        seen.add(key)
        mine = {
            role: _seconds(_section(entry, role, where, problems), f"{place}.{role}", where, problems)
            for role in ("agent", "verifier")
        }
        steps.append(
            StepSettings(
                name,
                agent if mine["agent"] is None else mine["agent"],
                verifier if mine["verifier"] is None else mine["verifier"],
            )
        )
    return steps


def _seconds(
    section: dict[str, Any], name: str, where: Path, problems: list[StaffbenchError]
) -> float | None:
    value = section.get("timeout_sec")
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
        return float(value)
    problems.append(ScenarioError(where, f"{name}.timeout_sec is {value!r}", "seconds above 0"))
    return None
