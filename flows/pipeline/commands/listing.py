"""What can be chosen, and what was graded: `staffbench list`, and what a shell completes."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.adapters.config.described import (
    AXES,
    options,
    overrides_to_complete,
    sentence,
    weight_names,
)
from flows.common.errors import ConfigError, StaffbenchError

if TYPE_CHECKING:
    from flows.adapters.screen import Screen

SHELLS = {
    "bash": 'eval "$(staffbench completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(staffbench completion zsh)" in ~/.zshrc, after compinit',
    "fish": "staffbench completion fish > ~/.config/fish/completions/staffbench.fish",
}
"""Where the script of a shell belongs."""
_PLURALS = {f"{axis}{'es' if axis.endswith('s') else 's'}": axis for axis in AXES}
_OWN = ("scenarios", "conditions")


def show_list(project: Path, what: str | None, overrides: Sequence[str], screen: Screen) -> int:
    """Show the axes, the options of one, or a benchmark's scenarios or graded conditions.

    Raises:
        ConfigError: there is nothing of that name.
    """
    if what in _OWN:
        return _show_own(project, what, overrides, screen)
    axis = _PLURALS.get(what or "", what)
    beside: Sequence[Path] = ()
    if overrides:
        from flows.adapters.config.shown import beside_of

        beside, overrides = beside_of(project, overrides)
    if axis is not None and axis not in AXES:
        expected = ", ".join([*AXES, *_OWN])
        raise ConfigError("list", f"nothing named {what!r}", f"one of {expected}")
    if overrides:
        expected = "nothing after an axis, or a folder with further options (hydra.searchpath)"
        raise ConfigError(f"list {what or ''}".rstrip(), f"{overrides[0]} has no effect", expected)
    known = options(project, beside)
    if axis is None:
        rows = [(name, str(len(known.get(name, []))), text) for name, text in AXES.items()]
        screen.table("axes of a run", [("axis", "options", "what it decides"), *rows], words=3)
        screen.note("staffbench list AXIS shows the options of one; AXIS=OPTION chooses it.")
        screen.note("staffbench list scenarios and staffbench list conditions show a benchmark's.")
        return 0
    described = [(name, sentence(project, axis, name, beside)) for name in known.get(axis, [])]
    rows = [(name, text) for name, text in described if text]  # without bases of other options
    screen.table(f"{axis}: {AXES[axis]}", [("option", "what it is"), *rows], words=2)
    sign = "+" if axis == "experiment" else ""
    screen.note(f"staffbench run {sign}{axis}=OPTION chooses one.")
    return 0


def _show_own(project: Path, what: str, overrides: Sequence[str], screen: Screen) -> int:
    name, rows = own_rows(project, what, overrides)
    if what == "scenarios":
        screen.table(f"{name}: scenarios", [("scenario", "title"), *rows], words=2)
    elif rows:
        screen.table(f"{name}: graded conditions", [("condition", "judge", "differs in"), *rows], words=3)
    else:
        screen.hint(f"Nothing is graded in {name} yet. First", f"staffbench run benchmark={name}")
    return 0


def _differs(folder: Path) -> dict[tuple[str, str], str]:
    """Return what the leaderboard says of the settings of each condition and judge; nothing without one."""
    try:
        rows = json.loads((folder / "leaderboard.json").read_bytes())["rows"]
        return {
            (row["condition"], row["judge_id"]): "; ".join(f"{key} {text}" for key, text in row["differs"])
            for row in rows
        }
    except (OSError, ValueError, KeyError, TypeError):  # made by an older version, or not there
        return {}


def own_rows(project: Path, what: str, overrides: Sequence[str]) -> tuple[str, list[tuple[str, ...]]]:
    """Return a benchmark's name, and its scenarios with titles, or its conditions, judges and differences.

    Raises:
        StaffbenchError: the overrides name no benchmark, or a scenario can't be read.
    """
    from flows.adapters.config.compose import compose_points
    from flows.pipeline.results.condition_files import judges_of
    from flows.pipeline.work.evaluations import kind_of

    settings = compose_points(project, overrides, multirun=False)[0].settings
    benchmark, kind = settings.benchmark, kind_of(settings.benchmark)
    if what == "scenarios":
        names = kind.scenario_ids(project, benchmark, benchmark.scenarios)
        return benchmark.name, [(name, kind.load(project, benchmark, name).title) for name in names]
    folder = project / settings.results / benchmark.name
    pairs = [(label, judge) for label, judges in judges_of(folder).items() for judge in judges]
    differs = _differs(folder)
    not_there = "not on the leaderboard" if differs else ""
    return benchmark.name, [(*pair, differs.get(pair, not_there)) for pair in pairs]


def completed(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the overrides that begin with `prefix`: axes and keys, then options and values."""
    from flows.adapters.scenario_files import find_project  # slower than --help may be

    words = " ".join(getattr(parsed_args, "overrides", None) or [])
    named: list[str] = [*(parsed_args.config_dir or []), *re.findall(r"file://([^,\]\"' ]+)", words)]
    with suppress(StaffbenchError):
        project, beside = find_project(Path.cwd()), [*map(Path, named)]
        known = options(project, beside)
        axis = prefix.partition("=")[0].lstrip("+~")
        if axis in AXES and axis in known:  # without bases of other options, as in `staffbench list`
            known[axis] = [name for name in known[axis] if sentence(project, axis, name, beside)]
        weights = weight_names(project, known["scoring"], beside) if prefix.startswith("scoring.") else []
        is_sweep = getattr(parsed_args, "multirun", False)
        return overrides_to_complete(known, prefix, is_sweep=is_sweep, weights=weights)
    return []


def benchmarks_completed(**_: Any) -> list[str]:
    """Return the names of the benchmarks in conf/."""
    from flows.adapters.scenario_files import find_project

    with suppress(StaffbenchError):
        project = find_project(Path.cwd())
        return [
            name for name in options(project, [])["benchmark"] if sentence(project, "benchmark", name, [])
        ]
    return []


def lists_completed(**_: Any) -> list[str]:
    """Return what `staffbench list` shows."""
    return [*AXES, "scenarios", "conditions"]


def scenarios_completed(parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the scenarios of the benchmark that the overrides name."""
    return _own_names("scenarios", parsed_args)


def conditions_completed(parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the graded conditions of the benchmark that the overrides name, with their judges."""
    return _own_names("conditions", parsed_args)


def _own_names(what: str, parsed_args: argparse.Namespace) -> list[str]:
    from flows.adapters.scenario_files import find_project

    with suppress(StaffbenchError):
        _, rows = own_rows(find_project(Path.cwd()), what, getattr(parsed_args, "overrides", None) or [])
        return ["/".join(row[:2]) if what == "conditions" else row[0] for row in rows]
    return []


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks for completions, and exit."""
    if "_ARGCOMPLETE" in os.environ:  # set by the script of the shell
        import argcomplete

        argcomplete.autocomplete(parser, exclude=["version"])  # the former name of track


def show_completion(screen: Screen, shell: str) -> int:
    """Print the script that makes a shell ask staffbench for completions."""
    screen.verbatim(completion_script(shell).rstrip())
    return 0


def completion_script(shell: str) -> str:
    """Return that script."""
    from argcomplete.shell_integration import shellcode

    # For zsh it would take the whole line, in which staffbench may follow `cd there;` or `NAME=value`.
    script = shellcode(["staffbench"], shell=shell).replace('"$BUFFER"', '"${(j: :)words[1,CURRENT]}"')
    return script.replace('"$CURSOR"', '"${#${(j: :)words[1,CURRENT]}}"')
