"""Sweeps as points: Hydra's launcher would run their jobs one by one, and here they share limits."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from flows.adapters.config.check import refuse_unknown
from flows.adapters.config.messages import quoted, unquoted
from flows.adapters.config.sources import Source, split_hydra
from flows.adapters.config.steps import UNCOMPOSED, as_hydra_takes_it, compose_options, known_options
from flows.common.errors import ConfigError, StaffbenchError

TOGETHER = "together"
"""Key of an experiment's sweep for axes that it varies together, and not each with each: a point's overrides,
separated by spaces; points by commas."""


def expanded(project: Path, overrides: Sequence[str], *, multirun: bool) -> tuple[Source, list[list[str]]]:
    """Return the source, and the overrides of each point of sweeps and the grid `hydra.sweeper.params`."""
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
    found, params = _grid(project, known, source, [*mode, *chosen])
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
            jobs += [job for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]
    except HydraException as error:
        raise ConfigError(" ".join(overrides), str(error).split("\n")[0]) from error
    if not jobs:
        raise ConfigError(
            " ".join(swept), "no option is named like that", "a pattern, such as model=glob(gpt*)"
        )
    return source, jobs


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
                if _grid(project, {}, source, [experiment])[1]:
                    raise ConfigError(experiment, "a grid in a list of experiments", "one grid at a time")


def _grid(
    project: Path, known: Mapping[str, list[str]], source: Source, chosen: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Return the mode and grid of a sweep; none where the options don't compose, which is reported later."""
    words = tuple(as_hydra_takes_it(override, known) for override in chosen)
    with suppress(StaffbenchError, *UNCOMPOSED):
        return compose_options(project, words, source)[2]
    return "", {}


class _Options:
    """The options that `glob` chooses from. Hydra's own loader adds bases, and leaves out other folders."""

    def __init__(self, known: Mapping[str, list[str]]) -> None:
        self._known = known

    def get_group_options(self, group_name: str, **_: Any) -> list[str]:
        return self._known.get(group_name, [])


def _without_m(override: str, known: Mapping[str, list[str]]) -> ConfigError:
    key, _, value = override.partition("=")
    if re.fullmatch(r"\d{1,3}(,\d{3})+", value):  # 3,000
        return ConfigError(override, "a number with commas", f"{key}={value.replace(',', '')}")
    text = "" if key.lstrip("+") in known else f", or type {quoted(override)} for a text with commas"
    return ConfigError(override, "a list of values without -m", remedy=f"add -m for a sweep{text}")
