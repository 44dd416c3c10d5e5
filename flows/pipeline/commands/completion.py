"""What a shell completes: the overrides of a command; and `staffbench completion`, its script."""

from __future__ import annotations

import argparse
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.adapters.config.described import AXES, options, overrides_to_complete, sentence, weight_names
from flows.common.errors import StaffbenchError

if TYPE_CHECKING:
    from flows.adapters.screen import Screen

SHELLS = {
    "bash": 'eval "$(staffbench completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(staffbench completion zsh)" in ~/.zshrc, after compinit',
    "fish": "staffbench completion fish > ~/.config/fish/completions/staffbench.fish",
}
"""Where the script of a shell belongs."""


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
        weights = weight_names(project, known["scoring"]) if prefix.startswith("scoring.") else []
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
    from flows.pipeline.commands.listing import own_rows

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
