"""`staffbench grade`: what a file or a folder of briefs needs of the configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.common.errors import ConfigError
from flows.pipeline.inputs.brief_table import find_table, read_brief_table
from flows.pipeline.work.evaluations import kind_of
from flows.pipeline.work.run_context import BenchmarkKind

_NUMBERED = re.compile(r"([1-9][0-9]{0,5})\.(md|txt|docx|pdf)", re.IGNORECASE)


def overrides_for(project: Path, target: Path, scenario: str | None, overrides: Sequence[str]) -> list[str]:
    """Return the overrides with which a run grades `target`; those that are given take precedence.

    Args:
        project: folder of the project.
        target: one brief, or a folder of them.
        scenario: the scenario of one brief; with a folder, the only one to grade.
        overrides: as given.

    Raises:
        ConfigError: the file, the folder or the scenario does not fit.
    """
    given = [override.lstrip("+~").partition("=")[0] for override in overrides]
    path = str(target.resolve()).replace("\\", "\\\\").replace("'", "\\'")
    chosen = ["model=files", f"model.folder='{path}'"]
    points = compose_points(project, [*chosen, *overrides], multirun=True)
    benchmark = points[0].settings.benchmark
    kind = kind_of(benchmark)
    known = kind.scenario_ids(project, benchmark, benchmark.scenarios)
    if scenario is not None and scenario not in known:
        raise ConfigError(
            "--scenario", f"no scenario {scenario!r} in {benchmark.name}", "one of " + ", ".join(known)
        )
    table = find_table(target)
    if table is None and target.is_file():
        if scenario is None:
            remedy = f"add --scenario, such as --scenario {known[0]}; or name a folder of {kind.brief}s"
            raise ConfigError(
                target, "one file, and its scenario is not given", "one of " + ", ".join(known), remedy
            )
        label = re.sub(r"[^a-z0-9]+", "-", target.stem.lower()).strip("-") or kind.brief
        found = {
            "model.label": f"file-{label[:40]}",
            "benchmark.scenarios": f"[{scenario}]",
            "seeds": "1",
            "tracking": "none",
        }
    else:
        every = kind.scenario_ids(project, benchmark, None)
        numbers = _in_folder(target, known) if table is None else _in_table(table, every, kind)
        only = [name for name in known if scenario in (None, name)]
        found = _found(target, numbers, only, known, kind, has_seeds="seeds" in given)
    added = [f"{key}={value}" for key, value in found.items() if key not in given]
    return [*chosen, *added, *overrides]


def _in_folder(folder: Path, scenarios: Sequence[str]) -> dict[str, set[int]]:
    """Return the seeds of each scenario that has a folder."""
    return {
        name: {
            int(match[1]) for file in (folder / name).iterdir() if (match := _NUMBERED.fullmatch(file.name))
        }
        for name in scenarios
        if (folder / name).is_dir()
    }


def _in_table(table: Path, scenarios: Sequence[str], kind: BenchmarkKind) -> dict[str, set[int]]:
    """Return the seeds of each scenario in a table.

    Raises:
        Problems: every invalid row.
    """
    numbers: dict[str, set[int]] = {}
    for scenario, seed in read_brief_table(table, scenarios, suffixes=kind.suffixes):
        numbers.setdefault(scenario, set()).add(seed)
    return numbers


def _found(
    given: Path,
    in_all: Mapping[str, set[int]],
    wanted: Sequence[str],
    scenarios: Sequence[str],
    kind: BenchmarkKind,
    *,
    has_seeds: bool,
) -> Mapping[str, str]:
    """Return the scenarios, of the wanted ones, and the number of seeds that a folder or a table holds."""
    numbers = {name: in_all[name] for name in wanted if name in in_all}
    if not numbers:
        names = wanted[0] if len(wanted) == 1 else "one of " + ", ".join(wanted)
        if find_table(given):
            raise ConfigError(given, "no row of a scenario that is wanted", names)
        found = "no folder of a scenario in it" if given.is_dir() else "no folder or file"
        raise ConfigError(given, found, f"<scenario>/1.md, where the scenario is {names}")
    seeds = max((max(found) for found in numbers.values() if found), default=1)
    if kind.has_tasks and not has_seeds:
        for name, found in numbers.items():
            if missing := sorted(set(range(1, seeds + 1)) - found):
                raise ConfigError(
                    f"{given}: {name}, report {missing[0]}",
                    "not there, and other tasks have a report of that number",
                    "the same numbers for each task",
                    f"add it, or give seeds={seeds}: a report that is not there then scores 0",
                )
    some = {"benchmark.scenarios": f"[{','.join(numbers)}]"} if len(numbers) < len(scenarios) else {}
    return {**some, "seeds": str(seeds)}
