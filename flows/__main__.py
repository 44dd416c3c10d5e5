"""The command line, `staffbench COMMAND`: parse arguments, dispatch, and turn errors into exit codes."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flows import __version__
from flows.common.errors import ConfigError, StaffbenchError

if TYPE_CHECKING:
    from flows.adapters.screen import Screen

_OVERRIDES = "Hydra overrides: model=strong word_cap=500 judge.effort=high; see conf/ for the axes"

_COMMANDS = {
    "run": "one condition, or a sweep (-m): generate, truncate, judge, score, aggregate",
    "plan": "estimate the calls, tokens, price and detectable difference of a run, without any call",
    "grade": "briefs written elsewhere (.md .txt .docx .pdf), graded by the same standard",
    "packets": "build packets from documents; report every unreadable document",
    "validate": "check scenarios, rubrics, evidence, controls and every option of conf/",
    "report": "write leaderboards and site from stored verdicts, by any scoring weights, without any call",
    "agreement": "agreement of judges with labels (LABELS: a CSV file of experts'), others and themselves",
    "harbor": "exchange with Harbor: export scenarios as tasks, import jobs as results",
    "version": "add results that runs made outside DVC to it",
    "ui": "serve the MLflow UI of this project, and say how to open Prefect's",
}


_HARBOR = {
    "import": "import a job's attempts as briefs, verdicts and scores",
    "summarize": "show a job's rewards and missed criteria",
    "export": "export scenarios as Harbor tasks",
    "run": "run scenarios with the installed harbor command",
    "verify": "grade one report and write its reward (called by the verifier of an exported task)",
}


_NO_TELEMETRY = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
"""Settings that libraries read when they are imported: no command reports anything anywhere by itself."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None for `sys.argv[1:]`.

    Returns:
        Exit code: 0 success; 1 error; 2 invalid configuration; 3 budget reached; 4 finished with items
        that have no verdict; 130 interrupted.
    """
    for name, value in _NO_TELEMETRY.items():
        os.environ.setdefault(name, value)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without "≥" must not abort a paid run
            stream.reconfigure(errors="replace")
    own, passed_on = _split(sys.argv[1:] if arguments is None else arguments)
    parsed, overrides = _parser().parse_known_args(own)
    parsed.passed_on = passed_on
    try:
        return _dispatch(parsed, [*parsed.overrides, *overrides])
    except StaffbenchError as error:
        if isinstance(error, ConfigError) and _was_interrupted(error):
            # Hydra turns a Ctrl-C while it composes into a configuration error.
            print("staffbench: stopped", file=sys.stderr)  # noqa: T201 -- the command line's own output
            return 130
        from flows.adapters.screen import literal

        print(f"staffbench: {literal(str(error))}", file=sys.stderr)  # noqa: T201 -- errors of the command line go to stderr
        return error.exit_code
    except BrokenPipeError:
        return 0  # such as `staffbench plan | head`
    except BaseException as error:
        if not _was_interrupted(error):
            raise
        print("staffbench: stopped", file=sys.stderr)  # noqa: T201 -- the same
        return 130


def _was_interrupted(error: BaseException | None) -> bool:
    """True for Ctrl-C, also if pydantic wrapped it in its own error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="staffbench",
        description="Do language models make the determinations a competent staff would make?",
    )
    parser.add_argument("--version", action="version", version=f"staffbench {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, summary in _COMMANDS.items():
        parsers[name] = commands.add_parser(name, help=summary, description=summary)
        if name == "grade":
            parsers[name].add_argument("folder", help="holds <scenario>/<seed>.md, or .txt, .docx, .pdf")
        if name == "harbor":
            _add_harbor(parsers[name])
            continue
        parsers[name].add_argument("overrides", nargs="*", metavar="OVERRIDE", help=_OVERRIDES)
    for name in ("run", "plan", "grade"):
        parsers[name].add_argument("-m", "--multirun", action="store_true", help="sweep over lists of values")
    for name in ("run", "grade", "report"):
        parsers[name].add_argument("--wide", action="store_true", help="show all columns of the leaderboard")
    for name in ("run", "grade"):
        parsers[name].add_argument(
            "--only-this-run", action="store_true", help="show only the rows of this run"
        )
        parsers[name].add_argument("--cfg", choices=["job"], help="show the composed configuration and stop")
    parsers["packets"].add_argument(
        "--show", metavar="SCENARIO", help="print a scenario's packet as a writer sees it"
    )
    parsers["validate"].add_argument(
        "--index", action="store_true", help="write the Parquet index of the task folder"
    )
    parsers["report"].add_argument(
        "--versioned", action="store_true", help="use only verdicts that DVC tracks, as the DVC stages do"
    )
    parsers["ui"].add_argument(
        "--port", type=int, default=5000, help="port of the MLflow UI (default: %(default)s)"
    )
    return parser


def _add_harbor(harbor: argparse.ArgumentParser) -> None:
    actions = harbor.add_subparsers(dest="action", required=True, metavar="ACTION")
    parsers = {name: actions.add_parser(name, help=text, description=text) for name, text in _HARBOR.items()}
    for name in ("import", "summarize"):
        parsers[name].add_argument("job", type=Path, help="folder of one job")
        parsers[name].add_argument(
            "--criteria", action="store_true", help="list missed criteria and triggered penalties"
        )
    parsers["export"].add_argument("folder", type=Path, help="folder to write: new or empty")
    parsers["verify"].add_argument("report", type=Path, help="the agent's report")
    parsers["verify"].add_argument("--task", type=Path, required=True, help="the task's tests/ folder")
    parsers["verify"].add_argument(
        "--logs",
        type=Path,
        default=Path("/logs/verifier"),
        help="folder for reward and judgment (default: %(default)s)",
    )
    for name in ("export", "run"):
        parsers[name].add_argument(
            "--install",
            metavar="WHEEL",
            help="staffbench for the sandboxes: a local wheel or a pip requirement",
        )
    parsers["run"].epilog = "Harbor's own arguments come after --, such as: -- -a opencode -m PROVIDER/MODEL"
    for parser in parsers.values():
        parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help=_OVERRIDES)


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
    project = find_project(Path.cwd())
    command = {"run": _run, "grade": _run, "plan": _plan, "harbor": _harbor, "ui": _ui}.get(parsed.command)
    if command is not None:
        return command(parsed, project, overrides, screen)
    from flows.pipeline.commands import commands

    if parsed.command == "packets":
        return commands.packets(project, overrides, parsed.show, screen)
    if parsed.command == "validate":
        return commands.validate(project, overrides, screen, index=parsed.index)
    if parsed.command == "report":
        return commands.report(project, overrides, screen, versioned=parsed.versioned)
    plain = {
        "agreement": commands.agreement,
        "version": commands.version,
    }
    return plain[parsed.command](project, overrides, screen)


def _run(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    if parsed.command == "grade":
        overrides = ["model=files", f"model.folder='{Path(parsed.folder).resolve()}'", *overrides]
    if parsed.cfg and parsed.multirun:
        raise ConfigError("--cfg", "can't be combined with -m", remedy="remove -m")
    if parsed.cfg:
        from flows.pipeline.evaluate.run import show_configuration

        return show_configuration(project, overrides, screen)
    from flows.pipeline.orchestration.server import Server, configure, home

    configure(project, project / "results")
    server = Server(home() / "server.log")
    server.start()  # while the rest is imported
    try:
        from flows.adapters.config.compose import compose_points
        from flows.pipeline.evaluate.run import run_points

        points = compose_points(project, overrides, multirun=parsed.multirun)
        return run_points(project, points, server=server, screen=screen)
    finally:
        server.stop()


def _plan(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.plan import plan

    return plan(project, overrides, multirun=parsed.multirun, screen=screen)


def _harbor(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    if parsed.action == "export":
        from flows.pipeline.harbor.export import export

        return export(project, overrides, parsed.folder, install=parsed.install, screen=screen)
    if parsed.action == "run":
        from flows.pipeline.harbor.run import run_harbor

        return run_harbor(project, overrides, parsed.passed_on, install=parsed.install, screen=screen)
    from flows.pipeline.harbor import jobs as harbor

    if parsed.action == "import":
        return harbor.import_job(project, overrides, parsed.job, screen)
    if overrides:
        raise ConfigError(overrides[0], "summarize takes no overrides")
    return harbor.summarize(project, parsed.job, criteria=parsed.criteria, screen=screen)


def _ui(parsed: argparse.Namespace, project: Path, overrides: list[str], screen: Screen) -> int:
    from flows.pipeline.commands.ui import open_pages

    return open_pages(project, overrides, parsed.port, screen)


if __name__ == "__main__":
    sys.exit(main())
