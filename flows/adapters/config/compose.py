"""`conf/` and overrides to checked settings, by Hydra.

Hydra composes; pydantic checks the result against `flows.schema.settings`, so that an unknown key,
a wrong type and a value that makes no sense are refused before anything runs, with the nearest
valid name. Hydra's own launcher would run a sweep one job after the other: here a sweep is expanded
into all its points, which the pipeline then runs side by side under one limit.
"""

from __future__ import annotations

import copy
import errno
import os
from collections.abc import Mapping, Sequence
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

from flows.adapters.config.check import MEMBERS, below_free_key, checked, is_member, refuse_unknown
from flows.adapters.config.effect import refuse_without_effect
from flows.adapters.config.quoting import quoted, unquoted
from flows.adapters.config.scoring import refuse_unweighted, rename_if_overridden
from flows.common.errors import ConfigError
from flows.schema.settings import Settings

UNCOMPOSED = (HydraException, OmegaConfBaseException, YAMLError, OSError, TypeError, ValueError)
"""What Hydra lets through of the files it composes; the last three where one is no mapping in UTF-8."""

_LABELLED = ("effort", "word_cap")  # their values stand in a condition's name as they are


@dataclass(frozen=True)
class Point:
    """One composed point of the design.

    Attributes:
        settings: checked.
        choices: the option chosen on each axis.
        changed: the sections (`model`, `prompt`, `judge`, `judge.members.first`, ...) that differ
            from what their named option says; a condition with a changed section carries a digest in
            its name.
    """

    settings: Settings
    choices: Mapping[str, str]
    changed: frozenset[str]


def compose_points(project: Path, overrides: Sequence[str], *, multirun: bool) -> list[Point]:
    """Every point that `overrides` name: one, or all of a sweep or an experiment's grid.

    Args:
        project: folder that holds `conf/`.
        overrides: Hydra's override syntax.
        multirun: True where comma-separated values are meant as a sweep (`-m`).

    Raises:
        ConfigError: an unknown key, option or value, a bad type, or a point that can't be run.
    """
    with opened(project):
        jobs = _expand(project, list(overrides), multirun=multirun)
        points = [_compose_point(project, job) for job in jobs]
    for results in dict.fromkeys(point.settings.results for point in points):
        _refuse_file(project / results)
    return points


def composed_yaml(project: Path, overrides: Sequence[str]) -> str:
    """The composed configuration of one point as YAML (`--cfg job`)."""
    with opened(project):
        return OmegaConf.to_yaml(OmegaConf.create(_compose(project, list(overrides))[0]))


def options(project: Path) -> dict[str, list[str]]:
    """The options of every axis, by axis. A file whose name begins with _ is part of others, and none."""
    conf = project / "conf"
    return {
        str(folder.relative_to(conf)): sorted(
            file.stem for file in folder.glob("*.yaml") if not file.stem.startswith("_")
        )
        for folder in sorted(conf.rglob("*"))
        if folder.is_dir()
    }


def _refuse_file(results: Path) -> None:
    """Here, since every command that reads or writes results composes first."""
    named = f"results={' '.join(str(results).split())}"
    try:
        os.lstat(results / ("x" * 250) / ("x" * 250))  # as long as what will lie there
    except ValueError:
        raise ConfigError(named, "a sign that no path has", "a folder") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ConfigError(named, "the name is too long", "a folder with a shorter name or path") from None
    there = results
    with suppress(OSError):  # what can't be looked at is told by what wants to write there
        there = next(folder for folder in (results, *results.parents) if folder.exists())
    if there.is_file():
        raise ConfigError(f"results={results}", f"{there} is a file", "a folder, or a name that is free")


def opened(project: Path) -> Any:
    """A context in which Hydra composes from the project's `conf/`, as its files are now.

    Raises:
        ConfigError: no `conf/` there.
    """
    for cached in (_known, compose_options, _named):
        cached.cache_clear()  # conf/ may have been edited since
    conf = project / "conf"
    if not (conf / "config.yaml").is_file():
        raise ConfigError(conf / "config.yaml", "not there", remedy="run staffbench in the project's folder")
    GlobalHydra.instance().clear()
    return initialize_config_dir(str(conf.resolve()), version_base="1.3")


def _expand(project: Path, overrides: list[str], *, multirun: bool) -> list[list[str]]:
    """Split sweeps into single points, an experiment's `hydra.sweeper.params` included."""
    parser = OverridesParser.create()
    sweeps = False
    for override in overrides:
        try:
            sweeps = parser.parse_override(override).is_sweep_override() or sweeps
        except Exception as error:
            refuse_unknown([override], _known(project))
            raise unquoted(override, str(error), multirun=multirun) from error
    if sweeps and not multirun:
        (first, *_) = (one for one in overrides if parser.parse_override(one).is_sweep_override())
        raise ConfigError(
            first, "a list of values without -m", remedy=f"add -m for a sweep, or type {quoted(first)}"
        )
    grid = [o for o in overrides if o.lstrip("+").startswith("experiment=")]
    if grid:
        params = _compose(project, grid)[2]
        given = {o.lstrip("+~").split("=", 1)[0] for o in overrides}
        overrides = [f"{key}={value}" for key, value in params.items() if key not in given] + overrides
    jobs: list[list[str]] = []
    batches = BasicSweeper.split_arguments(parser.parse_overrides(overrides), None)
    for batch in batches:
        jobs += [list(job) for job in batch]
    return jobs


def _compose_point(project: Path, overrides: list[str]) -> Point:
    container, choices, _ = _compose(project, overrides)
    settings = checked(container, overrides)
    chosen = tuple(f"{axis}={option}" for axis, option in choices.items() if "@" not in axis)
    # Where nothing but options was chosen, what was composed is what they say.
    named = container if _only_chooses(project, overrides) else _named(project, chosen)
    settings = replace(settings, scoring=rename_if_overridden(settings.scoring, named["scoring"]))
    changed = {key for key, value in container.items() if key not in _LABELLED and value != named.get(key)}
    members: dict[str, Any] = container["judge"].get("members", {})
    presets = {
        name: _named(project, (f"judge={choices[f'judge@{MEMBERS}{name}']}",))["judge"] for name in members
    }
    changed |= {f"{MEMBERS}{name}" for name, member in members.items() if member != presets[name]}
    refuse_without_effect(container, named, presets)
    return Point(settings, choices, frozenset(changed))


@cache
def _known(project: Path) -> Mapping[str, list[str]]:
    return options(project)


def _only_chooses(project: Path, overrides: Sequence[str]) -> bool:
    axes = _known(project).keys() - {"experiment"}
    return all(override.partition("=")[0] in axes for override in overrides)


@cache
def _named(project: Path, choices: tuple[str, ...]) -> dict[str, Any]:
    """What the named options alone say. Cached: a sweep over a model's name asks for it every time."""
    return _compose(project, list(choices))[0]


def _compose(project: Path, overrides: list[str]) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """The composed container, the choices, and the sweep that an experiment asks for.

    Hydra composes the options that are chosen, and then sets values in what came of it. The first costs
    a quarter of a second, and a sweep over a model's name would pay it for every point; so both steps
    are Hydra's own, and the first is kept.
    """
    known = _known(project)
    refuse_unknown(overrides, known)
    overrides = [_as_hydra_takes_it(override, known) for override in overrides]
    try:
        parsed = [parsed_override(override) for override in overrides]
        # A sweep, or a package that is no axis's, is left to Hydra, which refuses it in its own words.
        values = [
            one
            for one in parsed
            if one.key_or_group not in known and one.package is None and not one.is_sweep_override()
        ]
        options = tuple(str(o.input_line) for o in parsed if o not in values)
        config, choices, sweep = compose_options(project, options)
        refuse_unweighted([str(one.input_line) for one in values], config)
        container = with_values(config, values)
    except UNCOMPOSED as error:
        lines = str(error).split("\n")
        # YAML's errors say where only in the lines after the first.
        found = " ".join(" ".join(lines).split()) if isinstance(error, YAMLError) else lines[0]
        plain = "for ${ as it stands, write \\${" if isinstance(error, InterpolationResolutionError) else ""
        raise ConfigError(" ".join(overrides) or "conf", found, remedy=plain) from error
    return container, dict(choices), sweep


def with_values(config: DictConfig, values: Sequence[Override]) -> dict[str, Any]:
    """A composed configuration, which stays as it is, with values set in it: Hydra's second step.

    Raises:
        One of UNCOMPOSED: a value that can't be set, or a reference to nothing.
    """
    config = copy.deepcopy(config)
    ConfigLoaderImpl._apply_overrides_to_config(list(values), config)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- it has no public name
    return cast("dict[str, Any]", OmegaConf.to_container(config, resolve=True))


@lru_cache(maxsize=1024)
def parsed_override(override: str) -> Override:
    """As Hydra reads it. Cached: a sweep's points share most of them, and its parser takes 2 ms for one."""
    return OverridesParser.create().parse_overrides([override])[0]


@cache
def compose_options(
    project: Path,  # noqa: ARG001 -- two projects have two folders of options
    overrides: tuple[str, ...],
) -> tuple[DictConfig, dict[str, str], dict[str, str]]:
    """The options that `overrides` choose, composed; their choices; and the sweep that they ask for."""
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
    """Ways of writing that a person expects to work and Hydra refuses.

    A member of a panel is chosen as a judge is (`judge.members.second=offline`), for which Hydra
    wants to be told the axis. An option whose name is a number (`word_cap=500`) must be quoted; a
    number of words that has no option of its own is the key `word_cap.words`. `parameters`, and keys
    below, where anything may stand, need Hydra's `++`.
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
