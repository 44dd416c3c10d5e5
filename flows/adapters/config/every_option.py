"""Whether every option of `conf/` composes."""

from __future__ import annotations

from pathlib import Path

from flows.adapters.config.compose import compose_points, opened, options
from flows.common.errors import StaffbenchError

_REPORTS = "benchmark=mission_report"
_NEEDED = {"name": "any", "api_base": "http://127.0.0.1/v1"}


def check_options(project: Path) -> tuple[int, list[StaffbenchError]]:
    """Compose with each option of each axis in turn; what an option can't do without is given.

    Args:
        project: folder that holds `conf/`.

    Returns:
        How many compose, by themselves or where reports are written; and why each of the others does not.

    Raises:
        ConfigError: no `conf/` there.
    """
    every = [(axis, name) for axis, names in options(project).items() for name in names]
    with opened(project):
        problems = [problem for one in every if (problem := _composed(project, *one)) is not None]
    return len(every) - len(problems), problems


def _composed(project: Path, axis: str, name: str) -> StaffbenchError | None:
    """Why the option does not compose; None where it does, by itself or where reports are written."""
    overrides = _overrides(axis, name)
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


def _overrides(axis: str, name: str) -> list[str]:
    """The overrides that choose an option, and give what it can't do without."""
    if axis == "experiment":
        return [f"+{axis}={name}"]
    section = {"model": "model", "judge": "judge", "effort": "model"}.get(axis)
    filled = [f"{section}.{key}={value}" for key, value in _NEEDED.items()] if section else []
    if axis == "effort":  # a model that takes every effort
        filled = ["model=openai_compatible", *filled]
    return [f"{axis}={name}", *filled]
