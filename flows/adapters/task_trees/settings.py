"""Read `task.toml` (Harbor's schema 1.0 to 1.4), and report ignored keys."""

import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from flows.adapters.task_trees.safe_files import Found, read_toml
from flows.common.untrusted import plain_name

SCHEMAS = ("1.0", "1.1", "1.2", "1.3", "1.4")
_NEWEST = SCHEMAS[-1]
_FILE = "task.toml"


def _keys(words: str, **sections: Mapping[str, Any]) -> dict[str, Any]:
    return {**dict.fromkeys(words.split()), **sections}


# The keys of Harbor's schema 1.0 to 1.4, with old spellings (Harbor 0.26.0, `TaskConfig`). A section with
# None may have any keys. All other keys are reported.
_SANDBOX = _keys(
    "build_timeout_sec docker_image os cpus memory memory_mb storage storage_mb gpus gpu_types tpu "
    "mcp_servers env skills_dir healthcheck workdir allow_internet network_mode allowed_hosts"
)
_AGENT = _keys("timeout_sec user network_mode allowed_hosts")
_VERIFIER = _keys(
    "timeout_sec env user environment_mode collect network_mode allowed_hosts", environment=_SANDBOX
)
_KNOWN = _keys(
    "schema_version version source artifacts multi_step_reward_strategy multi_step_reward_mode metadata",
    task=_keys("name version description authors keywords"),
    agent=_AGENT,
    verifier=_VERIFIER,
    environment=_SANDBOX,
    solution=_keys("env"),
    steps=_keys("name min_reward healthcheck artifacts", agent=_AGENT, verifier=_VERIFIER),
)

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


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """The contents of `task.toml`."""

    schema_version: str  # as written; `1.4` if missing, as in Harbor
    labels: Mapping[str, str]  # the LABELS in `[metadata]`
    judge: Mapping[str, Any]  # `[metadata.judge]` or `[judge]`, as found
    steps: tuple[StepSettings, ...]  # at least one
    mean_score_pct: float | None  # from `[metadata]`; None if missing


def read_settings(found: Found) -> TaskSettings | None:
    """Read `task.toml`; all errors, notes and unknown keys are added to `found`.

    Returns:
        The settings; None if the file can't be read or a step has no usable name.
    """
    raw = found.read(read_toml, _FILE)
    if raw is None:
        return None
    version = _version(raw, found)
    _unknown(raw, _KNOWN, "", found)
    metadata = dict(_section(raw, "metadata", found))
    labels = _labels(metadata, found)
    judges = [entries.pop("judge") for entries in (raw, metadata) if isinstance(entries.get("judge"), dict)]
    mean = metadata.get("mean_score_pct")
    if _is_number(mean):
        del metadata["mean_score_pct"]
    # Metadata may have any keys: ignored ones are kept with the unknown keys.
    found.unused |= {f"{_FILE}: metadata.{key}": value for key, value in metadata.items()}
    judge: dict[str, Any] = {key: value for entries in judges for key, value in entries.items()}
    steps = _steps(raw, found)
    if steps is None:
        return None
    return TaskSettings(version, labels, judge, steps, float(mean) if _is_number(mean) else None)


def _version(raw: Mapping[str, Any], found: Found) -> str:
    said = raw.get("schema_version", raw.get("version"))
    if said is None:
        found.notes.append(f"{_FILE}: no schema_version; read as {_NEWEST}, as Harbor does.")
        return _NEWEST
    version = str(said)
    if version not in SCHEMAS and re.fullmatch(r"1\.\d{1,3}", version):
        found.notes.append(
            f"{_FILE}: schema_version {version} is newer than {_NEWEST}; read as far as known."
        )
    elif version not in SCHEMAS:
        found.fault(_FILE, f"schema_version {said!r}", "one of " + ", ".join(SCHEMAS))
    return version


def _unknown(raw: Mapping[str, Any], known: Mapping[str, Any], at: str, found: Found) -> None:
    for key, value in raw.items():
        name = f"{at}{key}"
        if key not in known:
            if at or key != "judge" or not isinstance(value, dict):  # [judge] is read
                found.unused[f"{_FILE}: {name}"] = value
        elif inner := known[key]:
            entries = cast("list[Any]", value) if isinstance(value, list) else [value]
            for number, entry in enumerate(entries, 1):
                if isinstance(entry, dict):
                    place = f"{name}[{number}]." if isinstance(value, list) else f"{name}."
                    _unknown(cast("dict[str, Any]", entry), inner, place, found)


def _section(raw: Mapping[str, Any], name: str, found: Found) -> dict[str, Any]:
    value = raw.get(name, {})
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    found.fault(_FILE, f"{name} is a {type(value).__name__}", f"a section [{name}]")
    return {}


def _labels(metadata: dict[str, Any], found: Found) -> dict[str, str]:
    labels: dict[str, str] = {}
    for label, names in LABELS.items():
        key = next((name for name in names if name in metadata), None)
        if key is None:
            continue
        value = metadata.pop(key)
        if isinstance(value, str) and value.strip():
            labels[label] = value.strip()
        else:
            found.fault(_FILE, f"metadata.{key} is {value!r}", "text")
    return labels


def _steps(raw: Mapping[str, Any], found: Found) -> tuple[StepSettings, ...] | None:
    whole = StepSettings(None, *(_seconds(raw, role, "", found) for role in ("agent", "verifier")))
    entries = raw.get("steps")
    if not entries:
        return (whole,)
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in cast("list[Any]", entries)):
        found.fault(_FILE, f"steps is {entries!r:.80}", "a list of sections [[steps]]")
        return None
    steps: list[StepSettings] = []
    seen: set[str] = set()
    for number, entry in enumerate(cast("list[dict[str, Any]]", entries), 1):
        name, place = entry.get("name"), f"steps[{number}]"
        if not isinstance(name, str) or not plain_name(name) or _RESERVED.search(name):
            found.fault(_FILE, f"{place}: name is {name!r}", "the name of one folder below steps/")
            return None
        key = unicodedata.normalize("NFC", name).casefold()  # one folder on some systems
        if key in seen:
            found.fault(_FILE, f"{place}: name {name!r} twice", "each name once")
            return None
        seen.add(key)
        agent, verifier = (_seconds(entry, role, f"{place}.", found) for role in ("agent", "verifier"))
        steps.append(StepSettings(name, agent or whole.agent_seconds, verifier or whole.verifier_seconds))
    return tuple(steps)


def _seconds(entries: Mapping[str, Any], role: str, at: str, found: Found) -> float | None:
    value = _section(entries, role, found).get("timeout_sec")
    if value is None:
        return None
    if _is_number(value) and value > 0:
        return float(value)
    found.fault(_FILE, f"{at}{role}.timeout_sec is {value!r}", "seconds above 0")
    return None


def _is_number(value: Any) -> TypeGuard[float]:
    is_plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_plain and abs(value) <= sys.float_info.max  # TOML has integers of any size
