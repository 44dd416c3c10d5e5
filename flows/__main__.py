"""The command line, `staffbench COMMAND`: parse arguments, dispatch, and turn errors into exit codes."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flows.common.errors import ConfigError, StaffbenchError
from flows.common.telemetry import turn_off_telemetry
from flows.pipeline.commands.arguments import COMMANDS, NEXT, build_parser, complete
from flows.pipeline.commands.own import command_line as own_commands
from flows.pipeline.inspect import require_inspect

if TYPE_CHECKING:
    from flows.adapters.screen import Screen


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None for `sys.argv[1:]`.

    Returns:
        Exit code: 0 success; 1 error; 2 invalid configuration; 3 budget reached; 4 finished with items
        that have no verdict; 130 interrupted.
    """
    _prepare()
    own, passed_on = _split(sys.argv[1:] if arguments is None else arguments)
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:  # set by the completion script of a shell
        complete(parser)
    try:
        _refuse_command(own)
        parsed, overrides = parser.parse_known_args(own)
        if parsed.command is None:
            print(NEXT, end="", file=sys.stderr)  # noqa: T201 -- the command line's own output
            return ConfigError.exit_code
        parsed.passed_on = passed_on
        return _dispatch(parsed, [*getattr(parsed, "overrides", ()), *overrides, *_sources(parsed)])
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


def _sources(parsed: argparse.Namespace) -> list[str]:
    """Return `--config-dir` and `--config-name` as overrides."""
    folders, name = getattr(parsed, "config_dir", None), getattr(parsed, "config_name", None)
    if not folders and not name:
        return []
    from flows.adapters.config.sources import as_overrides

    return as_overrides(folders or [], name)


def _prepare() -> None:
    turn_off_telemetry()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without "≥" must not abort a paid run
            stream.reconfigure(errors="replace")


def _was_interrupted(error: BaseException | None) -> bool:
    """True for Ctrl-C, also if pydantic wrapped it in its own error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _refuse_command(own: Sequence[str]) -> None:
    """Reject a command that is none in one line; argparse would list all of them."""
    if own and not own[0].startswith("-") and own[0] not in (*COMMANDS, "version"):
        near = difflib.get_close_matches(own[0], COMMANDS, n=2)
        raise ConfigError(own[0], "no such command", " or ".join(near), "staffbench --help lists them")


def _help_hint(parsed: argparse.Namespace) -> str:
    if parsed.command == "harbor" and parsed.action == "run":
        return "Harbor's own arguments come after --"
    return f"see staffbench {parsed.command} --help"


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the arguments after `--`, which `harbor run` passes on."""
    arguments = list(arguments)
    if arguments[:2] == ["harbor", "run"] and "--" in arguments:
        at = arguments.index("--")
        return arguments[:at], arguments[at + 1 :]
    return arguments, []


def _dispatch(parsed: argparse.Namespace, overrides: list[str]) -> int:
    unknown = [argument for argument in overrides if argument.startswith("-")]
    if unknown:
        raise ConfigError(unknown[0], "no such option", remedy=_help_hint(parsed))
    # Heavy imports are local, so that --help stays fast.
    from flows.adapters.scenario_files import find_project
    from flows.adapters.screen import Screen

    screen = Screen(
        wide=getattr(parsed, "wide", False), only_this_run=getattr(parsed, "only_this_run", False)
    )
    if parsed.command == "harbor" and parsed.action == "verify":
        from flows.pipeline.harbor.verify import verify

        # A sandbox has no project, and the folders above the current one belong to the agent.
        return verify(overrides, parsed.report, parsed.task, parsed.logs, screen)
    if parsed.command == "completion":
        from flows.pipeline.commands.arguments import completion_script

        screen.note(completion_script(parsed.shell).rstrip())
        return 0
    if parsed.command == "new":
        return own_commands.run_new(parsed, overrides, screen)
    project = find_project(Path.cwd())
    return _COMMANDS[parsed.command](parsed, project, overrides, screen)


def _packets(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.packets import packets

    return packets(project, overrides, parsed.show, screen, places=parsed.places)


def _validate(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.own.watch import watch
    from flows.pipeline.commands.validate import validate

    def check() -> int:
        return validate(project, overrides, screen, index=parsed.index, strict=parsed.strict)

    return watch(project, overrides, check, screen) if parsed.watch else check()


def _report(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.paper import Wanted
    from flows.pipeline.commands.report import report

    wanted = Wanted(parsed.tables, parsed.figures, tuple(parsed.labels))
    return report(project, overrides, screen, versioned=parsed.versioned, wanted=wanted)


def _agreement(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.agreement import Sample, agreement

    sample = Sample(parsed.raters, parsed.briefs, parsed.items, parsed.shared, parsed.draw)
    return agreement(project, overrides, sample, screen, from_mlflow=parsed.source == "mlflow")


def _run(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    def prepare(given: Sequence[str]) -> Sequence[str]:
        from flows.pipeline.commands.grade import overrides_for

        return overrides_for(project, Path(parsed.target), parsed.scenario, given)

    is_grade = parsed.command == "grade"
    if parsed.cfg or parsed.info or parsed.hydra_help or parsed.resolve or parsed.package:
        from flows.adapters.config.show import show_configuration

        show_configuration(project, prepare(overrides) if is_grade else overrides, parsed)
        return 0
    from flows.pipeline.orchestration.server import Server, configure, home

    configure(project, project / "results")
    # One brief is graded without Prefect.
    is_brief = is_grade and Path(parsed.target).suffix.lower() not in (".csv", ".jsonl")
    is_single = is_brief and Path(parsed.target).is_file() and not parsed.multirun
    server = None if is_single else Server(home() / "server.log")
    if server is not None:
        server.start()  # while the rest is imported
    try:
        from flows.adapters.config.compose import compose_points
        from flows.pipeline.commands.own.stages import first_sweep, stale_stages
        from flows.pipeline.evaluate.run import run_points
        from flows.pipeline.orchestration.cached_tasks import TaskRuns

        TaskRuns.enabled = not is_single
        # Prepared here, since it may import Prefect, which reads the server's address when it is imported.
        overrides = list(prepare(overrides) if is_grade else overrides)
        first = [] if is_grade or parsed.multirun else first_sweep(project, overrides)
        if first:
            screen.say(f"No model is named and nothing is graded yet: run as with -m {first[0]}")
        asked = [*overrides, *first], parsed.multirun or bool(first)
        points = compose_points(project, asked[0], multirun=asked[1])
        for benchmark in {one.settings.benchmark.name: one.settings.benchmark for one in points}.values():
            if stale := stale_stages(project, benchmark):
                screen.say(stale)
        watch = not is_grade and parsed.watch
        return run_points(project, points, server=server, screen=screen, watch=watch, asked=asked)
    finally:
        if server is not None:
            server.stop()


def _plan(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.planning.plan import plan

    return plan(project, overrides, multirun=parsed.multirun, screen=screen)


def _harbor(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    if parsed.action == "export":
        from flows.pipeline.harbor.export import export

        return export(
            project,
            overrides,
            parsed.folder,
            install=parsed.install,
            screen=screen,
            keep_verifier=parsed.keep_verifier,
        )
    if parsed.action == "run":
        from flows.pipeline.harbor.run import run_harbor

        return run_harbor(
            project,
            overrides,
            parsed.passed_on,
            install=parsed.install,
            screen=screen,
            keep_verifier=parsed.keep_verifier,
        )
    from flows.pipeline.harbor.jobs import summary as harbor

    if parsed.action == "import":
        return harbor.import_job(project, overrides, parsed.job, screen)
    if overrides:
        raise ConfigError(overrides[0], "summarize takes no overrides")
    return harbor.summarize(project, parsed.job, criteria=parsed.criteria, screen=screen)


def _list(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.listing import show_list

    return show_list(project, parsed.what, overrides, screen)


def _compare(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.compare import compare

    return compare(project, overrides, (parsed.first, parsed.second), screen, every=parsed.all)


def _export(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.formats import exporter
    from flows.pipeline.publish.export import Publication

    names = [word for word in parsed.target if "=" not in word]
    overrides = [*(word for word in parsed.target if "=" in word), *overrides]
    if not any(word.startswith("benchmark=") for word in overrides) and names:
        overrides = [f"benchmark={names.pop(0)}", *overrides]
    folder = parsed.output or (Path(names.pop(0)) if names else None)
    if folder is None or names:
        found = f"{names[0]!r} is one word too many" if names else "no folder"
        raise ConfigError("export", found, "staffbench export BENCHMARK FOLDER, or -o FOLDER")
    publication = Publication(parsed.creator, parsed.url)
    write = exporter(parsed.to)
    return write(project, overrides, folder, screen, allow=parsed.allow, publication=publication)


def _store(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.store import copy

    if overrides:
        raise ConfigError(overrides[0], "store copy takes no overrides")
    return copy(project, parsed.source, parsed.target, screen)


def _import(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    require_inspect()
    from flows.pipeline.inspect.imports import import_logs

    ids = dict(pair.rsplit("=", 1) for pair in parsed.map if "=" in pair)
    code = 0
    for table, model in import_logs(project, overrides, parsed.logs, screen, ids=ids, key=parsed.key):
        label = model.replace("\\", "\\\\").replace("'", "\\'")
        grade = build_parser().parse_args(["grade", str(table)])
        code = max(code, _run(grade, project, [f"model.label='{label}'", *overrides], screen))
    return code


def _remove(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.remove import remove

    return remove(project, overrides, parsed.condition, screen, confirmed=parsed.yes)


def _track(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.own.track import track

    if parsed.command == "version":
        screen.say(
            "staffbench version is now called staffbench track; staffbench --version prints the version."
        )
    return track(project, overrides, screen)


def _ui(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.ui import open_pages

    return open_pages(project, overrides, parsed.port, screen)


_COMMANDS = {
    "packets": _packets,
    "validate": _validate,
    "report": _report,
    "agreement": _agreement,
    "rubric": own_commands.run_rubric,
    "run": _run,
    "grade": _run,
    "plan": _plan,
    "harbor": _harbor,
    "list": _list,
    "compare": _compare,
    "export": _export,
    "import": _import,
    "remove": _remove,
    "store": _store,
    "track": _track,
    "version": _track,
    "ui": _ui,
}


if __name__ == "__main__":
    sys.exit(main())
