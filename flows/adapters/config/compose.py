"""Compose `conf/` and overrides into validated settings with Hydra.

Hydra composes; pydantic validates the result against `flows.schema.settings`, so unknown keys, wrong types
and invalid values are rejected before anything runs.
"""

import argparse
import errno
import io
import os
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from hydra import version

from flows.adapters.config.check import MEMBERS, checked
from flows.adapters.config.effect import changed_keys, refuse_without_effect, rename_if_overridden
from flows.adapters.config.sources import (
    NO_SOURCE,
    Source,
    folders_beside,
    hydra_of,
    own_resolvers,
    split_hydra,
)
from flows.adapters.config.steps import as_hydra_takes_it, compose, compose_options, known_options
from flows.adapters.config.sweeps import expanded
from flows.common.errors import ConfigError
from flows.schema.settings import BenchmarkSettings, ProtocolName, Settings
from flows.schema.store_address import StoreAddress

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


def beside_of(project: Path, overrides: Sequence[str]) -> tuple[tuple[Path, ...], list[str]]:
    """Return the folders with options outside the project, and the overrides that name none."""
    with opened(project):
        source, mode, own = split_hydra(overrides)
        return folders_beside(project, source), [*mode, *own]


def show_configuration(
    project: Path,
    overrides: Sequence[str],
    *,
    parser: argparse.ArgumentParser,
    multirun: bool,
    cfg: str | None,
    resolve: bool,
    package: str | None,
    info: str | None,
    hydra_help: bool,
) -> None:
    """Print what the command line asks for: the composed configuration, or how Hydra came to it.

    The other arguments are Hydra's flags; `parser` has those that its help shows.

    Raises:
        ConfigError: invalid settings, or flags that don't fit.
    """
    flags = {"--cfg": cfg, "--info": info, "--hydra-help": hydra_help, "--multirun": multirun}
    asked = [flag for flag, value in flags.items() if value]
    if len(asked) > 1:
        raise ConfigError(asked[0], f"can't be combined with {asked[1]}", remedy=f"remove {asked[1]}")
    if cfg is None and (resolve or package):
        raise ConfigError("--resolve" if resolve else "--package", "has no effect", "--cfg job beside it")
    points = compose_points(project, overrides, multirun=False)
    with opened(project):
        source, mode, own = split_hydra(overrides)
        known = known_options(project, source)
        words = [*mode, *(as_hydra_takes_it(override, known) for override in own)]
        hydra, name = hydra_of(project, source), source.config_name
        if hydra_help:
            hydra.hydra_help(name, parser, argparse.Namespace(overrides=[]))
        elif info:
            hydra.show_info(info, name, words)
        else:
            benchmark = points[0].settings.benchmark.name  # it may be that of a folder of scenarios
            with redirect_stderr(io.StringIO()) as said:
                try:
                    hydra.show_cfg(
                        name,
                        [*words, f"benchmark.name={benchmark}"],
                        str(cfg),
                        package,
                        resolve,
                    )
                except SystemExit:
                    raise ConfigError(f"--package {package}", said.getvalue().strip()) from None
