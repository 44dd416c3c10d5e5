"""Compose `conf/` and overrides into validated settings with Hydra.

Hydra composes; pydantic validates the result against `flows.schema.settings`, so unknown keys, wrong types
and invalid values are rejected before anything runs. Hydra's launcher would run the jobs of a sweep
sequentially: here a sweep is expanded into its points, which the pipeline runs concurrently under shared
limits.
"""

from __future__ import annotations

import copy
import errno
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import InterpolationResolutionError, OmegaConfBaseException
from yaml import YAMLError

from flows.adapters.config.check import (
    MEMBERS,
    below_free_key,
    checked,
    is_grouped_number,
    is_member,
    refuse_member,
    refuse_unknown,
)
from flows.adapters.config.described import options
from flows.adapters.config.effect import changed_keys, refuse_without_effect
from flows.adapters.config.quoting import quoted, unquoted
from flows.adapters.config.scoring import refuse_unweighted, rename_if_overridden
from flows.common.errors import ConfigError
from flows.schema.settings import BenchmarkSettings, ProtocolName, Settings

UNCOMPOSED = (HydraException, OmegaConfBaseException, YAMLError, OSError, TypeError, ValueError)
"""Errors that Hydra passes on; the last three for files that are not a mapping in UTF-8."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
TOGETHER = "together"
"""Key of an experiment's sweep for axes that it varies together, and not each with each: a point's overrides,
separated by spaces; points by commas."""

_LABELLED = ("effort", "word_cap")  # their values are part of a condition's name


@dataclass(frozen=True)
class Point:
    """One composed point of the design.

    Attributes:
        settings: the validated settings.
        choices: the option chosen on each axis.
        changed: the sections (`model`, `prompt`, `judge`, `judge.members.first`, ...) that differ
            from their named option, and the keys that differ in them (`model.parameters.temperature`); a
            condition with a changed section has a digest in its name.
    """

    settings: Settings
    choices: Mapping[str, str]
    changed: frozenset[str]


def compose_points(project: Path, overrides: Sequence[str], *, multirun: bool) -> list[Point]:
    """Compose the points of `overrides`: one, or all of a sweep or an experiment's grid.

    Args:
        project: folder that holds `conf/`.
        overrides: Hydra's override syntax.
        multirun: True to expand comma-separated values as a sweep (`-m`).

    Raises:
        ConfigError: an unknown key, option or value, a wrong type, or invalid settings.
    """
    with opened(project):
        jobs = _expand(project, list(overrides), multirun=multirun)
        points = [_compose_point(project, job) for job in jobs]
    for results in dict.fromkeys(point.settings.results for point in points):
        _refuse_file(project, project / results)
    return points


def composed_yaml(project: Path, overrides: Sequence[str]) -> str:
    """Return the composed configuration of one point as YAML (`--cfg job`)."""
    with opened(project):
        return OmegaConf.to_yaml(OmegaConf.create(_compose(project, list(overrides))[0]))


def _refuse_file(project: Path, results: Path) -> None:
    """Reject an invalid results path, here because every command that uses results composes first."""
    named = f"results={' '.join(str(results).split())}"
    if results == project:
        raise ConfigError("results", "not set", "a folder, as in results=results")
    try:
        os.lstat(results / ("x" * 250) / ("x" * 250))  # as long as the names of result files
    except ValueError:
        raise ConfigError(named, "a sign that no path has", "a folder") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ConfigError(named, "the name is too long", "a folder with a shorter name or path") from None
    there = results
    with suppress(OSError):  # an unreadable path is reported when writing to it
        there = next(folder for folder in (results, *results.parents) if folder.exists())
    if there.exists() and not there.is_dir():
        raise ConfigError(f"results={results}", f"{there} is a file", "a folder, or a name that is free")


def opened(project: Path) -> Any:
    """Return a context in which Hydra composes from the current files in the project's `conf/`.

    Raises:
        ConfigError: no `conf/` there.
    """
    for cached in (_known, compose_options, _named):
        cached.cache_clear()  # conf/ may have been edited since
    # Of the option of a judge in conf/benchmark/mission_report.yaml.
    OmegaConf.register_new_resolver("with_key", _with_key, replace=True)
    conf = project / "conf"
    if not (conf / "config.yaml").is_file():
        raise ConfigError(conf / "config.yaml", "not there", remedy="run staffbench in the project's folder")
    GlobalHydra.instance().clear()
    return initialize_config_dir(str(conf.resolve()), version_base="1.3")


def _with_key(variable: str, option: str, otherwise: str) -> str:
    """Return `option` if an environment variable has a value: `${with_key:VARIABLE,option,otherwise}`."""
    return option if os.environ.get(variable) else otherwise


def _expand(project: Path, overrides: list[str], *, multirun: bool) -> list[list[str]]:
    """Split sweeps into single points, including an experiment's `hydra.sweeper.params`."""
    parser = OverridesParser.create()
    sweeps = False
    for override in overrides:
        try:
            sweeps = parser.parse_override(override).is_sweep_override() or sweeps
        except Exception as error:
            refuse_unknown([override], _known(project))
            raise unquoted(override, multirun=multirun) from error
    if sweeps and not multirun:
        (first, *_) = (one for one in overrides if parser.parse_override(one).is_sweep_override())
        raise _without_m(first, _known(project))
    grid = [o for o in overrides if o.lstrip("+").startswith("experiment=")]
    if grid:
        params = _compose(project, grid)[2]
        given = {o.lstrip("+~").split("=", 1)[0] for o in overrides}
        overrides = [
            f"{key}={value}" for key, value in params.items() if key not in given | {TOGETHER}
        ] + overrides
        pairs = _together(params.get(TOGETHER, ""), given)
    else:
        pairs = [[]]
    jobs: list[list[str]] = []
    for pair in pairs:
        for batch in BasicSweeper.split_arguments(parser.parse_overrides([*pair, *overrides]), None):
            jobs += [list(job) for job in batch]
    return jobs


def _together(points: str, given: AbstractSet[str]) -> list[list[str]]:
    """Return the overrides of each point of axes that an experiment varies together, less those given."""
    found = [
        [one for one in point.split() if one.partition("=")[0] not in given] for point in points.split(",")
    ]
    return [list(point) for point in dict.fromkeys(map(tuple, found))]


def _without_m(override: str, known: Mapping[str, list[str]]) -> ConfigError:
    key, _, value = override.partition("=")
    if is_grouped_number(value):
        return ConfigError(override, "a number with commas", f"{key}={value.replace(',', '')}")
    text = "" if key.lstrip("+") in known else f", or type {quoted(override)} for a text with commas"
    return ConfigError(override, "a list of values without -m", remedy=f"add -m for a sweep{text}")


def _compose_point(project: Path, overrides: list[str]) -> Point:
    container, choices, _ = _compose(project, overrides)
    settings = checked(container, overrides)
    settings = replace(settings, benchmark=_of_release(project, settings.benchmark))
    chosen = tuple(f"{axis}={option}" for axis, option in choices.items() if "@" not in axis)
    # Without value overrides, the composed configuration equals its named options.
    named = container if _only_chooses(project, overrides) else _named(project, chosen)
    settings = replace(settings, scoring=rename_if_overridden(settings.scoring, named["scoring"]))
    changed = {key for key, value in container.items() if key not in _LABELLED and value != named.get(key)}
    members: dict[str, Any] = container["judge"].get("members", {})
    presets = {
        name: _named(project, (f"judge={choices[f'judge@{MEMBERS}{name}']}",))["judge"] for name in members
    }
    refuse_without_effect(container, named, presets)
    changed |= _keys(container, named, changed)
    for name, member in members.items():
        keys = changed_keys(member, presets[name])
        changed |= {f"{MEMBERS}{name}" for _ in keys[:1]} | {f"{MEMBERS}{name}.{key}" for key in keys}
    return Point(settings, choices, frozenset(changed))


def _keys(container: Mapping[str, Any], named: Mapping[str, Any], sections: Iterable[str]) -> set[str]:
    """Return the dotted keys that differ in the changed sections."""
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
def _known(project: Path) -> Mapping[str, list[str]]:
    return options(project)


def _only_chooses(project: Path, overrides: Sequence[str]) -> bool:
    axes = _known(project).keys() - {"experiment"}
    return all(override.partition("=")[0] in axes for override in overrides)


@cache
def _named(project: Path, choices: tuple[str, ...]) -> dict[str, Any]:
    """Compose only the named options. Cached for sweeps over values."""
    return _compose(project, list(choices))[0]


def _compose(project: Path, overrides: list[str]) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """Return the composed container, the choices and an experiment's sweep.

    Hydra first composes the chosen options, which takes a quarter of a second, then sets values. Both steps
    are done by Hydra, but the first is cached for sweeps over values.
    """
    known = _known(project)
    refuse_unknown(overrides, known)
    typed = overrides
    overrides = [_as_hydra_takes_it(override, known) for override in overrides]
    try:
        parsed = [parsed_override(override) for override in overrides]
        # Sweeps and packages that are not axes are left for Hydra to reject.
        values = [
            one
            for one in parsed
            if one.key_or_group not in known and one.package is None and not one.is_sweep_override()
        ]
        options = tuple(str(o.input_line) for o in parsed if o not in values)
        config, choices, sweep = compose_options(project, options)
        refuse_unweighted([str(one.input_line) for one in values], config)
        container = with_values(config, values)
        if all(one.key_or_group != "benchmark.name" for one in values):
            _name_after_data(container["benchmark"], config.benchmark, known["benchmark"])
    except UNCOMPOSED as error:
        refuse_member(typed)
        lines = str(error).split("\n")
        # YAML errors give the location only after the first line.
        found = " ".join(" ".join(lines).split()) if isinstance(error, YAMLError) else lines[0]
        plain = "for ${ as it stands, write \\${" if isinstance(error, InterpolationResolutionError) else ""
        raise ConfigError(" ".join(typed) or "conf", found, remedy=plain) from error
    return container, dict(choices), sweep


def _name_after_data(benchmark: dict[str, Any], preset: Any, known: Sequence[str]) -> None:
    """Name a benchmark after its folder of scenarios, if only that was set.

    Under the name of the preset its results would replace those of the preset's own scenarios.
    """
    if benchmark["data"] == preset.data:
        return
    folder = Path(str(benchmark["data"]))
    folder = folder.parent if folder.name == "tasks" else folder
    name = _NOT_IN_NAMES.sub("_", folder.resolve().name).strip("_.") or "benchmark"
    benchmark["name"] = f"{name}_own" if name in known else name


def with_values(config: DictConfig, values: Sequence[Override]) -> dict[str, Any]:
    """Set values in a copy of a composed configuration: Hydra's second step.

    Raises:
        One of UNCOMPOSED: a value can't be set or a reference can't be resolved.
    """
    config = copy.deepcopy(config)
    ConfigLoaderImpl._apply_overrides_to_config(list(values), config)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- it has no public name
    return cast("dict[str, Any]", OmegaConf.to_container(config, resolve=True))


@lru_cache(maxsize=1024)
def parsed_override(override: str) -> Override:
    """Parse an override with Hydra. Cached: it takes 2 ms, and points of a sweep share most overrides."""
    return OverridesParser.create().parse_overrides([override])[0]


@cache
def compose_options(
    project: Path,  # noqa: ARG001 -- two projects have two folders of options
    overrides: tuple[str, ...],
) -> tuple[DictConfig, dict[str, str], dict[str, str]]:
    """Compose the options in `overrides`; return the configuration, the choices and the sweep."""
    config = compose("config", overrides=list(overrides), return_hydra_config=True)
    chosen = OmegaConf.to_container(config.hydra.runtime.choices)
    params = OmegaConf.to_container(config.hydra.sweeper.params) if config.hydra.sweeper.params else {}
    with open_dict(config):
        del config["hydra"]
    choices = {
        axis: str(option)
        for axis, option in cast("dict[str, Any]", chosen).items()
        if not axis.startswith("hydra/") and axis != "experiment"
    }
    return config, choices, {key: str(value) for key, value in cast("dict[str, Any]", params).items()}


def _as_hydra_takes_it(override: str, known: Mapping[str, list[str]]) -> str:
    """Translate overrides that Hydra rejects but users expect to work.

    A panel member is chosen like a judge (`judge.members.second=offline`), for which Hydra needs the axis.
    An option named by a number (`word_cap=500`) must be quoted; a number without an option sets
    `word_cap.words`. Free-form keys such as `parameters` need Hydra's `++`.
    """
    key, _, value = override.partition("=")
    if is_member(key):
        prefix = key[: len(key) - len(key.lstrip("+~"))]
        return f"{prefix}judge@{override.removeprefix(prefix)}"
    if key == "word_cap" and value.isdigit():
        return f"word_cap='{value}'" if value in known["word_cap"] else f"word_cap.words={value}"
    if below_free_key(f"{key}.") and not key.startswith("~"):
        return f"++{override.lstrip('+')}"
    return override
