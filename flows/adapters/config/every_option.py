"""Check that every option of `conf/` composes, without composing everything for each.

Most options only fill the section of their axis. So many are composed at once, each under its own key, and
then moved to their section one by one. An option that fails this way, or may change other sections, is
composed like a run, which gives the exact error.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf, open_dict

from flows.adapters.config.check import checked
from flows.adapters.config.compose import (
    UNCOMPOSED,
    compose_options,
    compose_points,
    opened,
    options,
    parsed_override,
    with_values,
)
from flows.common.errors import StaffbenchError

_REACHING = ("benchmark", "experiment")  # axes whose options change other axes
_REPORTS = "benchmark=mission_report"
_BESIDE = "_options_"  # an unused key
_AT_ONCE = 25  # Hydra's time grows with the square of the number of options
_NEEDED = {"name": "any", "api_base": "http://127.0.0.1/v1"}

_Option = tuple[str, str]
_Sections = Mapping[_Option, DictConfig]


def check_options(project: Path) -> tuple[int, list[StaffbenchError]]:
    """Compose each option of each axis, with values for its required keys.

    Args:
        project: folder that holds `conf/`.

    Returns:
        The number of options that compose, alone or in a report benchmark, and the errors of the others.

    Raises:
        ConfigError: no `conf/` there.
    """
    every = [(axis, name) for axis, names in options(project).items() for name in names]
    with opened(project):
        sections = _sections(project, [one for one in every if one[0] not in _REACHING])
        bases = [base for chosen in ((), (_REPORTS,)) if (base := _base(project, chosen, sections))]
        slow = [one for one in every if not any(_fits(base, one, sections) for base in bases)]
    problems = [problem for one in slow if (problem := _composed(project, one)) is not None]
    return len(every) - len(problems), problems


def _sections(project: Path, asked: Sequence[_Option]) -> _Sections:
    """Return the section of each option that composes."""
    half = len(asked) // 2
    if len(asked) > _AT_ONCE:
        return {**_sections(project, asked[:half]), **_sections(project, asked[half:])}
    beside = [f"+{axis}@{_BESIDE}.o{at}='{name}'" for at, (axis, name) in enumerate(asked)]
    try:
        config = compose_options(project, tuple(beside))[0]
        plain = compose_options(project, ())[0]
    except UNCOMPOSED:
        if half == 0:
            return {}
        return {**_sections(project, asked[:half]), **_sections(project, asked[half:])}
    config = copy.copy(config)
    with open_dict(config):
        found = config.pop(_BESIDE)
    if _raw(config) != _raw(plain):
        return {}  # one of them changes other sections
    return {one: found[f"o{at}"] for at, one in enumerate(asked)}


def _base(project: Path, chosen: tuple[str, ...], sections: _Sections) -> DictConfig | None:
    """Return the configuration for the sections; None if options don't fill it completely."""
    try:
        config, choices, _ = compose_options(project, chosen)
    except UNCOMPOSED:
        return None
    for axis, name in choices.items():
        if (axis, name) in sections and _raw(config[axis]) != _raw(sections[axis, name]):
            return None
    return config


def _fits(base: DictConfig, option: _Option, sections: _Sections) -> bool:
    """True if the configuration with the option in its section is valid."""
    placed: dict[str, DictConfig] = {}
    values: list[str] = []
    known = {axis for axis, _ in sections}
    for override in _asked(option):
        key, _, value = override.partition("=")
        if key not in known:
            values.append(override)
        elif (key, value) in sections:
            placed[key] = sections[key, value]
        else:
            return False
    if option[0] not in placed:
        return False
    config = copy.copy(base)
    with open_dict(config):
        for axis, section in placed.items():
            config[axis] = section
    try:
        checked(with_values(config, [parsed_override(value) for value in values]), _asked(option))
    except (*UNCOMPOSED, StaffbenchError):
        return False
    return True


def _raw(config: DictConfig) -> object:
    """Return its content with unresolved references."""
    return OmegaConf.to_container(config, resolve=False)


def _asked(option: _Option) -> list[str]:
    """Return the overrides that choose an option and set its required keys."""
    axis, name = option
    if axis == "experiment":
        return [f"+{axis}={name}"]
    needing = {"model": "model", "judge": "judge", "effort": "model"}.get(axis)
    filled = [f"{needing}.{key}={value}" for key, value in _NEEDED.items()] if needing else []
    if axis == "effort":  # a model that supports every effort
        filled = ["model=openai_compatible", *filled]
    return [f"{axis}={name}", *filled]


def _composed(project: Path, option: _Option) -> StaffbenchError | None:
    """Return why an option does not compose; None if it does, alone or in a report benchmark."""
    overrides, multirun = _asked(option), option[0] == "experiment"
    ways = [overrides, [_REPORTS, *overrides]]
    if option[0] == "judge":
        ways.append([f"judge={option[1]}"])  # the offline judge needs no name
    first: StaffbenchError | None = None
    for way in ways:
        try:
            compose_points(project, way, multirun=multirun)
        except StaffbenchError as error:
            first = first or error
        else:
            return None
    return first
