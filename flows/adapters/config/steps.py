"""Hydra's two steps: compose the chosen options, then set values in the result."""

import pickle
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import ConfigAttributeError, InterpolationResolutionError, OmegaConfBaseException
from yaml import YAMLError

from flows.adapters.config.check import (
    below_free_key,
    is_member,
    refuse_member,
    refuse_unknown,
    refuse_unweighted,
)
from flows.adapters.config.described import key_types, options
from flows.adapters.config.messages import missing_option
from flows.adapters.config.sources import NO_SOURCE, Source, compose_from, folders_beside
from flows.common.errors import ConfigError

UNCOMPOSED = (HydraException, OmegaConfBaseException, YAMLError, OSError, TypeError, ValueError, UserWarning)
"""Errors that Hydra passes on: also of files that are no mapping in UTF-8, and of a missing folder."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@cache
def known_options(project: Path, source: Source = NO_SOURCE) -> Mapping[str, list[str]]:
    """Return the options by axis, with those of folders outside the project."""
    return options(project, folders_beside(project, source))


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
        if (missing := missing_option(str(error), known)) is not None:
            raise missing from error
        if (key := _needed_key(error)) in key_types():
            raise ConfigError(str(key), "not set", "a value in the file of its option") from error
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
        raise ConfigError(" ".join(words) or "conf", found, remedy=plain) from error
    return container, dict(choices)


def _needed_key(error: BaseException) -> str | None:
    """Return the key that composing needed and did not find; None for another error."""
    if isinstance(error, ConfigAttributeError):
        return error.full_key
    found = re.match(r"Interpolation key '([\w.]+)' not found", str(error))
    return found[1] if found else None


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


def with_values(config: DictConfig, values: Sequence[Override]) -> dict[str, Any]:
    """Set values in a copy of a composed configuration: Hydra's second step.

    Raises:
        One of UNCOMPOSED: a value can't be set or a reference can't be resolved.
    """
    config = pickle.loads(pickle.dumps(config))  # noqa: S301 -- our own; `deepcopy` takes three times as long
    ConfigLoaderImpl._apply_overrides_to_config(list(values), config)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- it has no public name
    return cast("dict[str, Any]", OmegaConf.to_container(config, resolve=True))


@lru_cache(maxsize=1024)
def parsed_override(override: str) -> Override:
    """Parse an override with Hydra. Cached: it takes 2 ms, and points of a sweep share most overrides."""
    return OverridesParser.create().parse_overrides([override])[0]


@cache
def compose_options(
    project: Path, overrides: tuple[str, ...], source: Source = NO_SOURCE
) -> tuple[DictConfig, dict[str, str], tuple[str, dict[str, str]]]:
    """Compose the options in `overrides`; return the configuration, choices, and mode and grid of a sweep."""
    config = compose_from(project, source, overrides)
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


def as_hydra_takes_it(override: str, known: Mapping[str, list[str]]) -> str:
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
