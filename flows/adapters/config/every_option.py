"""Whether every option of `conf/` composes."""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf, open_dict

from flows.adapters.config import check, fitting
from flows.adapters.config.check import checked
from flows.adapters.config.compose import compose_points, opened
from flows.adapters.config.described import options, shipped
from flows.adapters.config.sources import Source, compose_from
from flows.adapters.config.steps import UNCOMPOSED, compose_options, parsed_override, with_values
from flows.adapters.config.sweeps import expanded
from flows.common.digests import canonical_json, sha256_file, sha256_text
from flows.common.errors import StaffbenchError
from flows.common.version import __version__
from flows.schema import models, settings

_BENCHMARKS = ("mission_report", "ma_bench")
"""Tried before a project's own. An option need not go with the default benchmark: one is enough."""
_NEEDED = {"name": "any", "api_base": "http://127.0.0.1/v1"}


def options_digest(project: Path) -> str:
    """Return a digest of everything that decides whether the options compose."""
    rules = [Path(module.__file__ or "") for module in (check, fitting, models, settings)]
    files = [*sorted((project / "conf").rglob("*.yaml")), *rules]
    return sha256_text(canonical_json([__version__, *((str(one), sha256_file(one)) for one in files)]))


def check_options(
    project: Path, on_step: Callable[[], None] = lambda: None
) -> tuple[int, list[StaffbenchError]]:
    """Compose with each option of each axis in turn; what an option can't do without is given.

    A file that is as it came with an installed staffbench, whose tests composed it, is passed over.

    Returns:
        How many compose, by themselves or with a benchmark of `conf/`; and why each of the others does not,
        by its file.

    Raises:
        ConfigError: no `conf/` there.
    """
    known = options(project)
    every = [(axis, name) for axis, names in known.items() for name in names]
    original = None if shipped().resolve() == (project / "conf").resolve() else shipped()
    unsound: list[tuple[str, str]] = []
    with opened(project):
        benchmarks = sorted(known.get("benchmark", []), key=lambda name: name not in _BENCHMARKS)
        composer = _Composer(project, benchmarks)
        for axis, name in every:
            if not _is_as_shipped(project, original, axis, name) and not composer.is_sound(axis, name):
                unsound.append((axis, name))
            on_step()
    # Composing again in Hydra's usual way takes ten times as long, and says what is wrong.
    problems: list[StaffbenchError] = []
    for axis, name in unsound:
        if (problem := _composed(project, axis, name, composer.benchmarks)) is not None:
            problems.append(StaffbenchError(f"conf/{axis}/{name}.yaml", str(problem)))
    return len(every) - len(problems), problems


def _is_as_shipped(project: Path, original: Path | None, axis: str, name: str) -> bool:
    file = original and original / axis / f"{name}.yaml"
    own = project / "conf" / axis / f"{name}.yaml"
    return file is not None and file.is_file() and file.read_bytes() == own.read_bytes()


@dataclass(frozen=True)
class _Composer:
    """Puts the file of one option into a configuration that was composed once."""

    project: Path
    benchmarks: Sequence[str]
    alone: dict[tuple[str, str], DictConfig | None] = field(
        default_factory=dict[tuple[str, str], DictConfig | None]
    )

    def is_sound(self, axis: str, name: str) -> bool:
        """Whether it composes; False for one that fails, or that needs a composition of its own."""
        try:
            if axis == "experiment":
                return self._is_sound_grid(name)
            chosen, values = _overrides(axis, name)
            others = tuple(f"{other}={option}" for other, option in chosen.items() if other != axis)
            ways = [others, *((f"benchmark={one}", *others) for one in self.benchmarks)]
            given = [parsed_override(f"{key}={value}") for key, value in values.items()]
        except (StaffbenchError, *UNCOMPOSED):
            return False
        return any(self._is_checked(way, {axis: name}, given) for way in ways)

    def _is_sound_grid(self, name: str) -> bool:
        grid = f"+experiment={name}"
        known = options(self.project)
        for job in expanded(self.project, [grid], multirun=True)[1]:
            pairs = [override.partition("=") for override in job if override != grid]
            swapped = {key: value.strip("'") for key, _, value in pairs if key in known}
            values = [parsed_override(f"{key}={value}") for key, _, value in pairs if key not in known]
            if not self._is_checked((grid,), swapped, values):
                return False
        return True

    def _is_checked(self, way: tuple[str, ...], swapped: Mapping[str, str], values: Sequence[Any]) -> bool:
        try:
            config = copy.copy(compose_options(self.project, way)[0])
            for axis, name in swapped.items():
                section = self._section(axis, name)
                if section is None:
                    return False
                with open_dict(config):
                    config[axis] = OmegaConf.create(section)
            checked(with_values(config, values), [])
        except (StaffbenchError, *UNCOMPOSED):
            return False
        return True

    def _section(self, axis: str, name: str) -> DictConfig | None:
        if (axis, name) not in self.alone:
            found: Any = compose_from(self.project, Source(f"{axis}/{name}"), [])
            with open_dict(found):
                del found["hydra"]
            self.alone[axis, name] = cast("DictConfig", found[axis]) if set(found) == {axis} else None
        return self.alone[axis, name]


def _composed(project: Path, axis: str, name: str, benchmarks: Sequence[str] = ()) -> StaffbenchError | None:
    """Why the option does not compose; None where it does, by itself or with one of the benchmarks.

    The reason is that beside a benchmark which chooses the option, such as weights for its own severities.
    """
    chosen, values = _overrides(axis, name)
    sign = "+" if axis == "experiment" else ""
    overrides = [f"{sign}{key}={value}" for key, value in {**chosen, **values}.items()]
    chooses = re.compile(rf"override /{axis}: *{re.escape(name)}\s")
    files = {one: project / "conf" / "benchmark" / f"{one}.yaml" for one in benchmarks}
    own = [one for one, file in files.items() if chooses.search(file.read_text("utf-8", errors="replace"))]
    ways = [[f"benchmark={one}", *overrides] for one in own]
    ways += [overrides, *([f"benchmark={one}", *overrides] for one in benchmarks if one not in own)]
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
