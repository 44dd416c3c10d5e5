"""The command line, `staffbench COMMAND`: parse arguments, call its function, turn errors into exit codes."""

import argparse
import difflib
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name

from flows.common.errors import ConfigError, StaffbenchError
from flows.common.garbage import collect_rarely
from flows.common.telemetry import turn_off_telemetry
from flows.pipeline.commands import COMMANDS, FUNCTIONS

_NEXT = """staffbench: name a command. To begin:
  staffbench new NAME     make a benchmark of your own
  staffbench run          grade a baseline, without a key or a model
  staffbench list models  see what can be run
  staffbench --help       all commands, with examples
"""
_OURS = ("command", "action", "overrides", "config_dir", "config_name", "wide", "only_this_run", "help_text")
"""Arguments that no command is called with."""
_OPTIONS = ("-h", "--help", "--version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None for `sys.argv[1:]`.

    Returns:
        Exit code: 0 success; 1 error; 2 invalid configuration; 3 budget reached; 4 finished with items
        that have no verdict; 130 interrupted.
    """
    try:
        # Imported here, so that Ctrl-C ends this quietly too.
        from flows.pipeline.commands.arguments import build_parser
        from flows.pipeline.commands.listing import complete

        collect_rarely()
        turn_off_telemetry()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a locale without "≥" must not abort a paid run
                stream.reconfigure(errors="replace")
        own, passed_on = _split(sys.argv[1:] if arguments is None else arguments)
        parser = build_parser()
        complete(parser)
        _refuse_command(own)
        parsed, unknown = parser.parse_known_args(own)
        if parsed.command is None:
            print(_NEXT, end="", file=sys.stderr)  # noqa: T201 -- the command line's own output
            return ConfigError.exit_code
        if passed_on:
            parsed.arguments = passed_on
        return _dispatch(parsed, [*getattr(parsed, "overrides", ()), *unknown, *_sources(parsed)])
    except StaffbenchError as error:
        if isinstance(error, ConfigError) and _was_interrupted(error):
            # Hydra turns a Ctrl-C while it composes into a configuration error.
            print("staffbench: stopped", file=sys.stderr)  # noqa: T201 -- the command line's own output
            return 130
        from flows.adapters.screen import Screen

        Screen().error(f"staffbench: {error}")
        return error.exit_code
    except BrokenPipeError:
        return 0  # such as `staffbench plan | head`
    except BaseException as error:
        if not _was_interrupted(error):
            raise
        print("staffbench: stopped", file=sys.stderr)  # noqa: T201 -- the same
        return 130


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the arguments after `--`, which `harbor run` passes on."""
    arguments = list(arguments)
    if arguments[:2] == ["harbor", "run"] and "--" in arguments:
        at = arguments.index("--")
        return arguments[:at], arguments[at + 1 :]
    return arguments, []


def _refuse_command(own: Sequence[str]) -> None:
    """Reject a command or an option that is none in one line; argparse would list all commands."""
    if own and own[0].startswith("-") and own[0] not in _OPTIONS:
        near = difflib.get_close_matches(own[0], _OPTIONS, n=1)
        raise ConfigError(own[0], "no such option", "".join(near), "staffbench --help lists what there is")
    if own and not own[0].startswith("-") and own[0] not in (*COMMANDS, "version"):
        near = difflib.get_close_matches(own[0], COMMANDS, n=2)
        raise ConfigError(own[0], "no such command", " or ".join(near), "staffbench --help lists them")


def _sources(parsed: argparse.Namespace) -> list[str]:
    """Return `--config-dir` and `--config-name` as overrides."""
    folders, name = getattr(parsed, "config_dir", None), getattr(parsed, "config_name", None)
    if not folders and not name:
        return []
    from flows.adapters.config.sources import as_overrides

    return as_overrides(folders or [], name)


def _was_interrupted(error: BaseException | None) -> bool:
    """True for Ctrl-C, also if pydantic wrapped it in one error, or in two: then its name is left."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        if type(error).__module__.startswith("pydantic_core") and "KeyboardInterrupt" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return error is not None


def _dispatch(parsed: argparse.Namespace, overrides: list[str]) -> int:
    """Call the command's function with what it takes."""
    command = f"{parsed.command} {getattr(parsed, 'action', '')}".strip()
    for unknown in (argument for argument in overrides if argument.startswith("-")):
        hint = f"see staffbench {command} --help"
        hint = "Harbor's own arguments come after --" if command == "harbor run" else hint
        known = sorted(set(re.findall(r"--[a-z-]+", parsed.help_text())))
        near = difflib.get_close_matches(unknown.partition("=")[0], known, n=2)
        raise ConfigError(unknown, "no such option", " or ".join(near), hint)
    # Heavy imports are local, so that --help stays fast.
    from flows.adapters.scenario_files import find_project
    from flows.adapters.screen import Screen

    given = vars(parsed)
    own = {name: value for name, value in given.items() if name not in _OURS}
    refused = own.pop("refused", None)
    if overrides and refused is not None:
        raise ConfigError(overrides[0], *refused)
    if refused is None:
        own["overrides"] = overrides
    if not own.pop("is_anywhere", False):
        own["project"] = find_project(Path.cwd())
    screen = Screen(wide=given.get("wide", False), only_this_run=given.get("only_this_run", False))
    return resolve_name(f"flows.pipeline.{FUNCTIONS[command]}")(screen=screen, **own)


if __name__ == "__main__":
    sys.exit(main())
