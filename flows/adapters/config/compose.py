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
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
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
from flows.adapters.config.messages import missing_option
from flows.adapters.config.quoting import quoted, unquoted
from flows.adapters.config.scoring import refuse_unweighted, rename_if_overridden
from flows.adapters.config.sources import (
    NO_SOURCE,
    Source,
    compose_from,
    folders_beside,
    hydra_of,
    own_resolvers,
    split_hydra,
)
from flows.common.errors import ConfigError, StaffbenchError
from flows.schema.settings import BenchmarkSettings, ProtocolName, Settings
from flows.schema.store_address import StoreAddress

UNCOMPOSED = (HydraException, OmegaConfBaseException, YAMLError, OSError, TypeError, ValueError, UserWarning)
"""Errors that Hydra passes on: also of files that are no mapping in UTF-8, and of a missing folder."""

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
        jobs = expanded(project, list(overrides), multirun=multirun)
        points = [_compose_point(project, job) for job in jobs]
    for results in dict.fromkeys(point.settings.results for point in points):
        _refuse_file(project, project / results)
    for store in {point.settings.store for point in points} - {None}:
        StoreAddress.of(str(store), project)  # raises what is wrong with it
    return points


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
        warnings.filterwarnings(
            "error", "provider=", UserWarning
        )  # a folder of conf/config.yaml is not there
        yield


def expanded(project: Path, overrides: list[str], *, multirun: bool) -> list[list[str]]:
    """Split sweeps into single points, including the grid of `hydra.sweeper.params`."""
    source, mode, overrides = split_hydra(overrides)
    known = known_options(project, source)
    parser = OverridesParser.create(cast("Any", _Options(known)))
    swept: list[str] = []
    for override in overrides:
        try:
            swept += [override] if parser.parse_override(override).is_sweep_override() else []
        except Exception as error:
            refuse_unknown([override], known)
            raise unquoted(override, multirun=multirun) from error
    chosen = [o for o in overrides if o not in swept and o.partition("=")[0].lstrip("+") in known]
    found, params = _grid(project, known, [*source.overrides, *mode], chosen)
    if swept and not multirun and found != "MULTIRUN":
        raise _without_m(swept[0], known)
    pairs: list[list[str]] = [[]]
    if multirun or found != "RUN":
        given = {o.lstrip("+~").split("=", 1)[0] for o in overrides}
        overrides = [
            f"{key}={value}" for key, value in params.items() if key not in given | {TOGETHER}
        ] + overrides
        pairs = _together(params.get(TOGETHER, ""), given)
    jobs: list[list[str]] = []
    try:
        _refuse_grids(project, source, parser.parse_overrides(overrides))
        for pair in pairs:
            parsed = parser.parse_overrides([*pair, *overrides])
            for batch in BasicSweeper.split_arguments(parsed, None):
                jobs += [[*source.overrides, *job] for job in batch]
    except HydraException as error:
        raise ConfigError(" ".join(overrides), str(error).split("\n")[0]) from error
    if not jobs:
        raise ConfigError(
            " ".join(swept), "no option is named like that", "a pattern, such as model=glob(gpt*)"
        )
    return jobs


def _together(points: str, given: AbstractSet[str]) -> list[list[str]]:
    """Return the overrides of each point of axes that an experiment varies together, less those given."""
    found = [
        [one for one in point.split() if one.partition("=")[0] not in given] for point in points.split(",")
    ]
    return [list(point) for point in dict.fromkeys(map(tuple, found))]


def _refuse_grids(project: Path, source: Source, parsed: Sequence[Override]) -> None:
    """Reject grids in a list of experiments, of which Hydra would run only the default point."""
    for one in parsed:
        if one.key_or_group == "experiment" and one.is_sweep_override():
            for name in one.sweep_string_iterator():
                experiment = f"+experiment={name}"
                if _grid(project, {}, source.overrides, [experiment])[1]:
                    raise ConfigError(experiment, "a grid in a list of experiments", "one grid at a time")


def _grid(
    project: Path, known: Mapping[str, list[str]], hydra: Sequence[str], chosen: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Return the mode and grid of a sweep; none where the options don't compose, which is reported later."""
    words = [_as_hydra_takes_it(override, known) for override in chosen]
    with suppress(StaffbenchError, *UNCOMPOSED):
        return compose_options(project, (*hydra, *words))[2]
    return "", {}


class _Options:
    """The options that `glob` chooses from. Hydra's own loader adds bases, and leaves out other folders."""

    def __init__(self, known: Mapping[str, list[str]]) -> None:
        self._known = known

    def get_group_options(self, group_name: str, **_: Any) -> list[str]:
        return self._known.get(group_name, [])


def _without_m(override: str, known: Mapping[str, list[str]]) -> ConfigError:
    key, _, value = override.partition("=")
    if is_grouped_number(value):
        return ConfigError(override, "a number with commas", f"{key}={value.replace(',', '')}")
    text = "" if key.lstrip("+") in known else f", or type {quoted(override)} for a text with commas"
    return ConfigError(override, "a list of values without -m", remedy=f"add -m for a sweep{text}")


def _compose_point(project: Path, overrides: list[str]) -> Point:
    container, choices = _compose(project, overrides)
    source, _, own = split_hydra(overrides)
    settings = checked(container, own)
    settings = replace(settings, benchmark=_of_release(project, settings.benchmark))
    axes = known_options(project)  # another group of a user's own may be optional, and not there
    chosen = tuple(f"{axis}={option}" for axis, option in choices.items() if axis in axes)
    # Without value overrides, the composed configuration equals its named options.
    named = container if _only_chooses(project, overrides) else _named(project, source, chosen)
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
def known_options(project: Path, source: Source = NO_SOURCE) -> Mapping[str, list[str]]:
    """Return the options by axis, with those of folders outside the project."""
    return options(project, folders_beside(project, source))


def _only_chooses(project: Path, overrides: Sequence[str]) -> bool:
    axes = known_options(project).keys() - {"experiment"}
    return all(override.partition("=")[0] in axes for override in overrides)


@cache
def _named(project: Path, source: Source, choices: tuple[str, ...]) -> dict[str, Any]:
    """Compose only the named options. Cached for sweeps over values.

    Values in a primary configuration other than `conf/config.yaml` are overrides as those of a command.
    """
    paths = tuple(f"file://{folder}" for folder in folders_beside(project, source))
    return _compose(project, [*Source(paths=paths).overrides, *choices])[0]


def _compose(project: Path, overrides: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the composed container, and the choices.

    Hydra first composes the chosen options, which takes a quarter of a second, then sets values. Both steps
    are done by Hydra, but the first is cached for sweeps over values.
    """
    typed = overrides
    source, mode, overrides = split_hydra(overrides)
    known = known_options(project, source)
    refuse_unknown(overrides, known)
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
        config, choices, _ = compose_options(project, (*source.overrides, *mode, *options))
        refuse_unweighted([str(one.input_line) for one in values], config)
        container = with_values(config, values)
        if all(one.key_or_group != "benchmark.name" for one in values):
            _name_after_data(container["benchmark"], config.benchmark, known["benchmark"])
    except UNCOMPOSED as error:
        refuse_member(typed)
        if (missing := missing_option(str(error), known)) is not None:
            raise missing from error
        fault: BaseException | None = error
        while fault is not None and not isinstance(fault, ConfigError):
            fault = fault.__cause__ or fault.__context__
        if fault is not None:
            raise fault from None  # of a resolver
        lines = str(error).split("\n")
        # YAML errors give the location only after the first line.
        is_short = lines[0].endswith(":")
        found = " ".join(" ".join(lines[:2] if is_short else lines).split())
        found = found if is_short or isinstance(error, YAMLError) else lines[0]
        plain = "for ${ as it stands, write \\${" if isinstance(error, InterpolationResolutionError) else ""
        raise ConfigError(" ".join(overrides) or "conf", found, remedy=plain) from error
    return container, dict(choices)


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
    project: Path,
    overrides: tuple[str, ...],
) -> tuple[DictConfig, dict[str, str], tuple[str, dict[str, str]]]:
    """Compose the options in `overrides`; return the configuration, choices, and mode and grid of a sweep."""
    source, mode_override, others = split_hydra(overrides)
    config = compose_from(project, source, [*mode_override, *others])
    chosen = OmegaConf.to_container(config.hydra.runtime.choices)
    params = OmegaConf.to_container(config.hydra.sweeper.params) if config.hydra.sweeper.params else {}
    mode = config.hydra.mode.name if config.hydra.mode else ""
    with open_dict(config):
        del config["hydra"]
    choices = {
        axis: str(option)
        for axis, option in cast("dict[str, Any]", chosen).items()
        if not axis.startswith("hydra/") and axis != "experiment"
    }
    grid = {key: str(value) for key, value in cast("dict[str, Any]", params).items()}
    return config, choices, (mode, grid)


def beside_of(project: Path, overrides: Sequence[str]) -> tuple[tuple[Path, ...], list[str]]:
    """Return the folders with options outside the project, and the overrides that name none."""
    with opened(project):
        source, mode, own = split_hydra(overrides)
        return folders_beside(project, source), [*mode, *own]


def overrides_for_hydra(project: Path, overrides: Sequence[str]) -> tuple[Source, list[str]]:
    """Return where to compose from, and the overrides as Hydra itself takes them."""
    source, mode, own = split_hydra(overrides)
    known = known_options(project, source)
    return source, [*mode, *(_as_hydra_takes_it(override, known) for override in own)]


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
