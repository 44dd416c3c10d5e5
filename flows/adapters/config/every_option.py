"""Whether every option of `conf/` composes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
from flows.adapters.config.sources import Source, compose_from
from flows.common.errors import StaffbenchError

_REPORTS = "benchmark=mission_report"
_NEEDED = {"name": "any", "api_base": "http://127.0.0.1/v1"}


def check_options(
    project: Path, on_step: Callable[[], None] = lambda: None
) -> tuple[int, list[StaffbenchError]]:
    """Compose with each option of each axis in turn; what an option can't do without is given.

    Args:
        project: folder that holds `conf/`.
        on_step: called after each option.

    Returns:
        How many compose, by themselves or where reports are written; and why each of the others does not.

    Raises:
        ConfigError: no `conf/` there.
    """
    every = [(axis, name) for axis, names in options(project).items() for name in names]
    unsound: list[tuple[str, str]] = []
    with opened(project):
        for axis, name in every:
            if not _is_sound(project, axis, name):
                unsound.append((axis, name))
            on_step()
    # Composing again in Hydra's usual way takes ten times as long, and says what is wrong.
    problems = [problem for one in unsound if (problem := _composed(project, *one)) is not None]
    return len(every) - len(problems), problems


def _is_sound(project: Path, axis: str, name: str) -> bool:
    """Compose only the option's own file, put it into a composed configuration, and check that.

    False for an option that fails, or that reaches other axes: it needs a composition of its own.
    """
    try:
        alone: Any = compose_from(project, Source(f"{axis}/{name}"), [])
        with open_dict(alone):
            del alone["hydra"]
        if set(alone) != {axis}:
            return False
        chosen, values = _overrides(axis, name)
        others = tuple(f"{other}={option}" for other, option in chosen.items() if other != axis)
        ways = [others, (_REPORTS, *others)]
    except UNCOMPOSED:
        return False
    return any(_is_checked(project, way, alone[axis], axis, values) for way in ways)


def _is_checked(
    project: Path, others: tuple[str, ...], option: DictConfig, axis: str, values: Mapping[str, str]
) -> bool:
    try:
        config = copy.copy(compose_options(project, others)[0])
        with open_dict(config):
            config[axis] = OmegaConf.create(option)
        given = [f"{key}={value}" for key, value in values.items()]
        checked(with_values(config, [parsed_override(one) for one in given]), given)
    except (StaffbenchError, *UNCOMPOSED):
        return False
    return True


def _composed(project: Path, axis: str, name: str) -> StaffbenchError | None:
    """Why the option does not compose; None where it does, by itself or where reports are written."""
    chosen, values = _overrides(axis, name)
    sign = "+" if axis == "experiment" else ""
    overrides = [f"{sign}{key}={value}" for key, value in {**chosen, **values}.items()]
    ways = [overrides, [_REPORTS, *overrides]]
    if axis == "judge":
        ways.append([f"judge={name}"])  # one that is asked nothing has no use for a name
    first: StaffbenchError | None = None
    for way in ways:
        try:
            compose_points(project, way, multirun=axis == "experiment")
        except StaffbenchError as error:
            first = first or error
        else:
            return None
    return first


def _overrides(axis: str, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """The choices for an option, and the values that it can't do without."""
    section = {"model": "model", "judge": "judge", "effort": "model"}.get(axis)
    values = {f"{section}.{key}": value for key, value in _NEEDED.items()} if section else {}
    # Every effort is taken by some models only.
    other = {"model": "openai_compatible"} if axis == "effort" else {}
    return {**other, axis: name}, values
