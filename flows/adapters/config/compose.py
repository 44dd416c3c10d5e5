"""Compose `conf/` and overrides into validated settings with Hydra.

Hydra composes; pydantic validates the result against `flows.schema.settings`, so unknown keys, wrong types
and invalid values are rejected before anything runs.
"""

import errno
import os
import re
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from hydra import version
from omegaconf import DictConfig

from flows.adapters.config.check import MEMBERS, checked, refuse_member, refuse_unknown, refuse_unweighted
from flows.adapters.config.effect import changed_keys, refuse_without_effect, rename_if_overridden
from flows.adapters.config.messages import uncomposed
from flows.adapters.config.sources import (
    NO_SOURCE,
    Source,
    folders_beside,
    hydra_of,
    own_resolvers,
)
from flows.adapters.config.steps import (
    UNCOMPOSED,
    as_hydra_takes_it,
    compose_options,
    known_options,
    parsed_override,
    with_values,
)
from flows.adapters.config.sweeps import expanded
from flows.common.errors import ConfigError
from flows.schema.settings import BenchmarkSettings, ProtocolName, Settings
from flows.schema.store_address import StoreAddress

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LABELLED = ("effort", "word_cap")  # their values are part of a condition's name


@dataclass(frozen=True)
class Point:
    """One composed point of the design."""

    settings: Settings  # the validated settings
    choices: Mapping[str, str]  # the option chosen on each axis
    # The sections (`model`, `prompt`, `judge`, `judge.members.first`, ...) that differ from their named
    # option, and the keys that differ in them (`model.parameters.temperature`); a condition with a changed
    # section has a digest in its name.
    changed: frozenset[str]


def compose_points(project: Path, overrides: Sequence[str], *, multirun: bool) -> list[Point]:
    """Compose the points of `overrides`: one, or all of a sweep (`-m`) or an experiment's grid.

    Raises:
        ConfigError: an unknown key, option or value, a wrong type, or invalid settings.
    """
    with opened(project):
        source, jobs = expanded(project, overrides, multirun=multirun)
        points = [_compose_point(project, source, job) for job in jobs]
    for results in dict.fromkeys(point.settings.results for point in points):
        _refuse_file(project, "results", project / results)
    for store in {point.settings.store for point in points} - {None}:
        address = StoreAddress.of(str(store), project)  # raises what is wrong with it
        if address.scheme == "file":
            _refuse_file(project, "store", Path(address.bucket))
    return points


def _refuse_file(project: Path, key: str, folder: Path) -> None:
    """Reject a path that can't be a folder; here, as every command that uses it composes first."""
    named = f"{key}={' '.join(str(folder).split())}"
    if folder == project:
        raise ConfigError(key, "not set", f"a folder, as in {key}={key}")
    try:
        os.lstat(folder / ("x" * 250) / ("x" * 250))  # as long as the names of result files
    except ValueError:
        raise ConfigError(named, "a sign that no path has", "a folder") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ConfigError(named, "the name is too long", "a folder with a shorter name or path") from None
    there = folder
    with suppress(OSError):  # an unreadable path is reported when writing to it
        there = next(path for path in (folder, *folder.parents) if path.exists())
    if there.exists() and not there.is_dir():
        raise ConfigError(f"{key}={folder}", f"{there} is a file", "a folder, or a name that is free")


@contextmanager
def opened(project: Path) -> Generator[None]:
    """Compose from the current files in the project's `conf/` during the block.

    Raises:
        ConfigError: no `conf/` there.
    """
    for cached in (known_options, compose_options, _named, folders_beside, hydra_of):
        cached.cache_clear()  # conf/ may have been edited since
    conf = project / "conf"
    if not (conf / "config.yaml").is_file():
        raise ConfigError(conf / "config.yaml", "not there", remedy="run staffbench in the project's folder")
    version.setbase("1.3")
    with own_resolvers(), warnings.catch_warnings():
        # A folder that conf/config.yaml names is not there.
        warnings.filterwarnings("error", "provider=", UserWarning)
        # Of an option that is composed alone, as if it were the primary configuration.
        warnings.filterwarnings("ignore", "In '.+/.+': Defaults list is missing `_self_`", UserWarning)
        yield


def _compose_point(project: Path, source: Source, overrides: Sequence[str]) -> Point:
    container, choices = compose(project, overrides, source)
    settings = checked(container, overrides)
    settings = replace(settings, benchmark=_of_release(project, settings.benchmark))
    axes = known_options(project)  # another group of a user's own may be optional, and not there
    chosen = tuple(f"{axis}={option}" for axis, option in choices.items() if axis in axes)
    # Without value overrides, the composed configuration equals its named options.
    only_chooses = all(override.partition("=")[0] in axes for override in overrides)
    named = container if only_chooses and source == NO_SOURCE else _named(project, source, chosen)
    settings = replace(settings, scoring=rename_if_overridden(settings.scoring, named["scoring"]))
    changed = {key for key, value in container.items() if key not in _LABELLED and value != named.get(key)}
    members: dict[str, Any] = container["judge"].get("members", {})
    presets = {
        name: _named(project, source, (f"judge={choices[f'judge@{MEMBERS}{name}']}",))["judge"]
        for name in members
    }
    refuse_without_effect(container, named, presets)
    changed |= _keys(container, named, changed)
    for name, member in members.items():
        keys = changed_keys(member, presets[name])
        changed |= {f"{MEMBERS}{name}" for _ in keys[:1]} | {f"{MEMBERS}{name}.{key}" for key in keys}
    return Point(settings, choices, frozenset(changed))


def compose(
    project: Path, overrides: Sequence[str], source: Source = NO_SOURCE
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the composed container, and the choices.

    Hydra first composes the chosen options, which takes a quarter of a second, then sets values. Both steps
    are done by Hydra, but the first is cached for sweeps over values.
    """
    known = known_options(project, source)
    refuse_unknown(overrides, known)
    words = [as_hydra_takes_it(override, known) for override in overrides]
    try:
        parsed = [parsed_override(word) for word in words]
        # Sweeps and packages that are not axes are left for Hydra to reject.
        values = [
            one
            for one in parsed
            if one.key_or_group not in known and one.package is None and not one.is_sweep_override()
        ]
        options = tuple(str(o.input_line) for o in parsed if o not in values)
        config, choices, _ = compose_options(project, options, source)
        refuse_unweighted([str(one.input_line) for one in values], config)
        container = with_values(config, values)
        if all(one.key_or_group != "benchmark.name" for one in values):
            _name_after_data(container.get("benchmark"), config.get("benchmark"), known["benchmark"])
    except UNCOMPOSED as error:
        refuse_member(overrides)
        fault = uncomposed(error, words, known)
        # That of a resolver is in the chain of `error` already: as its cause it would close a circle.
        raise fault from None if fault.__traceback__ is not None else error
    return container, dict(choices)


def _name_after_data(benchmark: Any, preset: Any, known: Sequence[str]) -> None:
    """Name a benchmark after its folder of scenarios, if only that was set.

    Under the name of the preset its results would replace those of the preset's own scenarios. Settings
    without a folder are left to the check of all keys.
    """
    if not isinstance(benchmark, dict) or not isinstance(preset, DictConfig):
        return
    data = cast("dict[str, Any]", benchmark).get("data")
    if data in (None, preset.get("data")):
        return
    folder = Path(str(data))
    folder = folder.parent if folder.name == "tasks" else folder
    name = _NOT_IN_NAMES.sub("_", folder.resolve().name).strip("_.") or "benchmark"
    benchmark["name"] = f"{name}_own" if name in known else name


def _keys(container: Mapping[str, Any], named: Mapping[str, Any], sections: Iterable[str]) -> set[str]:
    return {
        f"{section}.{key}"
        for section in sections
        if isinstance(container[section], dict)
        for key in changed_keys(container[section], named.get(section) or {})
    }


def _of_release(project: Path, benchmark: BenchmarkSettings) -> BenchmarkSettings:
    """Take the folder `tasks/` of a release where its root is named."""
    data = project / benchmark.data
    inner = Path(benchmark.data) / "tasks"
    is_root = not any(data.glob("*/task.toml")) and any((project / inner).glob("*/task.toml"))
    if benchmark.protocol is ProtocolName.mission_report and is_root:
        return replace(benchmark, data=str(inner))
    return benchmark


@cache
def _named(project: Path, source: Source, choices: tuple[str, ...]) -> dict[str, Any]:
    """Compose only the named options. Cached for sweeps over values.

    Values in a primary configuration other than `conf/config.yaml` are overrides as those of a command.
    """
    paths = tuple(f"file://{folder}" for folder in folders_beside(project, source))
    return compose(project, choices, Source(paths=paths))[0]
