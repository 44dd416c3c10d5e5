"""`staffbench run` and `grade`, and `import`, which grades what it has read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.inspect import require_inspect
from flows.schema.settings import JudgeKind, Writer

if TYPE_CHECKING:
    from flows.adapters.config.compose import Point  # slow import

_NAMED = 8  # files that are not graded, in a message
_NUMBERED = re.compile(r"([1-9][0-9]{0,5})\.(md|txt|docx|pdf)", re.IGNORECASE)


def run(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    multirun: bool = False,
    watch: bool = False,
    target: str | None = None,
    scenario: str | None = None,
    is_import: bool = False,
    **shown: Any,
) -> int:
    """Compose the conditions, and run them or show what was composed.

    For briefs of an import the prompt is a name of what they were written with.
    """

    def prepared() -> list[str]:
        if target is None:
            return list(overrides)
        return _overrides_for(project, Path(target), scenario, overrides, screen)

    if any(value for name, value in shown.items() if name != "parser"):
        from flows.adapters.config.shown import show_configuration

        show_configuration(project, prepared(), multirun=multirun, **shown)
        return 0
    from flows.pipeline.orchestration.server import Server, configure, ctrl_c_held_back, home

    configure(project, project / "results")
    # One brief is graded without Prefect.
    is_brief = target is not None and Path(target).suffix.lower() not in (".csv", ".jsonl")
    is_single = is_brief and Path(str(target)).is_file() and not multirun
    server = None if is_single else Server(home() / "server.log")
    if server is not None:
        server.start()  # while the rest is imported
    try:
        from flows.adapters.config.compose import compose_points
        from flows.pipeline.commands.own.stages import first_sweep, stale_stages
        from flows.pipeline.commands.own.unwritten import unwritten_notes

        asked = prepared()
        first = [] if target is not None or multirun else first_sweep(project, asked)
        if first:
            screen.say(f"No model is named and nothing is graded yet: run as with -m {first[0]}")
            asked, multirun = [*asked, *first], True
        points = compose_points(project, asked, multirun=multirun)
        if not is_import:
            _refuse_idle_prompt(asked, points)
        with ctrl_c_held_back():  # with Prefect: a mistake is named before
            from flows.pipeline.evaluate.flow import run_points
            from flows.pipeline.orchestration.cached_tasks import TaskRuns

        TaskRuns.enabled = not is_single
        for benchmark in {one.settings.benchmark.name: one.settings.benchmark for one in points}.values():
            stale = stale_stages(project, benchmark)
            for note in [*([stale] if stale else []), *unwritten_notes(project, benchmark)]:
                screen.say(note)
        return run_points(project, points, server=server, screen=screen, watch=watch, asked=(asked, multirun))
    finally:
        if server is not None:
            server.stop()


def _refuse_idle_prompt(overrides: Sequence[str], points: Sequence[Point]) -> None:
    """Reject a prompt for a writer or a judge that reads none; its row would be a second one of the same.

    A prompt that is set together with the word cap goes with that cap.
    """
    keys = {override.lstrip("+~").partition("=")[0].partition(".")[0] for override in overrides}
    idle = [one.settings.model.label for one in points if one.settings.model.writer is not Writer.remote]
    if idle and "prompt" in keys and "word_cap" not in keys:
        expected = "a model that is asked, such as model=openai_compatible"
        raise ConfigError("prompt", f"has no effect: {idle[0]} asks no model", expected)
    if "judge_prompt" in keys and any(one.settings.judge.kind is JudgeKind.offline for one in points):
        expected = "a judge that is asked, such as judge=openai_compatible"
        raise ConfigError("judge_prompt", "has no effect: the judge offline reads no prompt", expected)


def _overrides_for(
    project: Path, target: Path, scenario: str | None, overrides: Sequence[str], screen: Screen
) -> list[str]:
    """Return the overrides with which a run grades `target`; those that are given take precedence.

    What a folder holds beside briefs is named on the screen.

    Raises:
        ConfigError: the file, the folder or the scenario does not fit.
        Problems: every invalid row of a table.
    """
    # Here, since they may import Prefect, which reads the server's address when it is imported.
    from flows.adapters.config.compose import compose_points
    from flows.pipeline.evaluate.showing import display_path
    from flows.pipeline.inputs.brief_table import find_table, read_brief_table
    from flows.pipeline.work.evaluations import kind_of

    if not target.exists():
        raise ConfigError(target, "no such file or folder", "a brief, or a folder of <scenario>/1.md")
    given = [override.lstrip("+~").partition("=")[0] for override in overrides]
    path = str(target.resolve()).replace("\\", "\\\\").replace("'", "\\'")
    chosen = ["model=files", f"model.folder='{path}'"]
    points = compose_points(project, [*chosen, *overrides], multirun=True)
    benchmark = points[0].settings.benchmark
    kind = kind_of(benchmark)
    known = kind.scenario_ids(project, benchmark, benchmark.scenarios)
    if scenario is not None and scenario not in known:
        hint = "" if "benchmark" in given else "for another benchmark's, add benchmark=NAME"
        raise ConfigError(
            "--scenario", f"no scenario {scenario!r} in {benchmark.name}", "one of " + ", ".join(known), hint
        )
    table = find_table(target)
    if table is None and target.is_file():
        if scenario is None:
            remedy = f"add --scenario, such as --scenario {known[0]}; or name a folder of {kind.brief}s"
            raise ConfigError(
                target, "one file, and its scenario is not given", "one of " + ", ".join(known), remedy
            )
        label = re.sub(r"[\W_]+", "-", target.stem.lower()).strip("-") or kind.brief
        found = {
            "model.label": f"'file-{label[:40]}'",
            "benchmark.scenarios": f"[{scenario}]",
            "seeds": "1",
            "tracking": "none",
        }
    else:
        numbers: dict[str, set[int]] = {}
        every = kind.scenario_ids(project, benchmark, None)
        if table is None:
            numbers = _in_folder(target, known)
            if others := _no_briefs(target, every, kind.suffixes):
                more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
                screen.say(
                    f"Not graded in {display_path(target)}: {', '.join(others[:_NAMED])}{more}. "
                    f"A {kind.brief} is read from SCENARIO/1{kind.suffixes[0]}"
                )
        else:
            for name, seed in read_brief_table(table, every, suffixes=kind.suffixes):
                numbers.setdefault(name, set()).add(seed)
        wanted = {name: numbers[name] for name in known if scenario in (None, name) and name in numbers}
        if not wanted:
            raise _nothing_found(
                target, known if scenario is None else [scenario], is_table=table is not None
            )
        seeds = max((max(found) for found in wanted.values() if found), default=1)
        if kind.has_tasks and "seeds" not in given:
            _refuse_gaps(target, wanted, seeds)
        some = len(wanted) < len(known)
        found = {"benchmark.scenarios": f"[{','.join(wanted)}]"} if some else {}
        found["seeds"] = str(seeds)
    added = [f"{key}={value}" for key, value in found.items() if key not in given]
    return [*chosen, *added, *overrides]


def _in_folder(folder: Path, scenarios: Sequence[str]) -> dict[str, set[int]]:
    """Return the numbers of the files of each scenario that has a folder.

    Raises:
        ConfigError: a folder has files, and none is named by a number: its briefs would count as missing.
    """
    found: dict[str, set[int]] = {}
    for name in scenarios:
        if not (folder / name).is_dir():
            continue
        files = _visible(folder / name)
        numbers = found[name] = {int(match[1]) for file in files if (match := _NUMBERED.fullmatch(file))}
        if files and not numbers:
            suffix = Path(files[0]).suffix.lower()
            expected = f"its number: 1{suffix if _NUMBERED.fullmatch(f'1{suffix}') else '.md'}"
            raise ConfigError(folder / name / files[0], "not the name of a brief", expected)
    return found


def _no_briefs(folder: Path, scenarios: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return what looks like briefs of other scenarios, or under other names."""
    found: list[str] = []
    for name in _visible(folder):
        path = folder / name
        if name in scenarios and path.is_dir():
            found += [f"{name}/{file}" for file in _visible(path) if not _NUMBERED.fullmatch(file)]
        elif path.is_dir() or path.suffix.lower() in suffixes:
            found.append(name)
    return found


def _visible(folder: Path) -> list[str]:
    """Return the names in a folder, without hidden ones."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def _nothing_found(target: Path, scenarios: Sequence[str], *, is_table: bool) -> ConfigError:
    names = scenarios[0] if len(scenarios) == 1 else "one of " + ", ".join(scenarios)
    if is_table:
        return ConfigError(target, "no row of a scenario that is wanted", names)
    return ConfigError(
        target, "no folder of a scenario in it", f"<scenario>/1.md, where the scenario is {names}"
    )


def _refuse_gaps(target: Path, numbers: Mapping[str, set[int]], seeds: int) -> None:
    """Reject tasks with fewer reports than others, which would score 0."""
    for name, found in numbers.items():
        if missing := sorted(set(range(1, seeds + 1)) - found):
            later = missing[0] < max(found, default=0)
            raise ConfigError(
                f"{target}: {name}, report {missing[0]}",
                f"not there, and report {max(found)} is"
                if later
                else "not there, and other tasks have a report of that number",
                "the same numbers for each task",
                f"add it, or give seeds={seeds}: a report that is not there then scores 0",
            )


def import_logs(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    logs: Path,
    pairs: Sequence[str],
    key: str | None,
) -> int:
    """Take in logs of Inspect, and grade the briefs of those that have no verdicts of ours."""
    require_inspect()
    from flows.pipeline.inspect import imports

    ids = dict(pair.rsplit("=", 1) for pair in pairs if "=" in pair)
    code = 0
    for table, model in imports.import_logs(project, overrides, logs, screen, ids=ids, key=key):
        label = model.replace("\\", "\\\\").replace("'", "\\'")
        named = [f"model.label='{label}'", *overrides]
        code = max(code, run(project, named, screen, target=str(table), is_import=True))
    return code
