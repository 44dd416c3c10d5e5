"""The arguments of `staffbench new` and `staffbench rubric`, and what they call."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flows.common.errors import ConfigError

if TYPE_CHECKING:
    from flows.adapters.screen import Screen

COMMANDS = {
    "new": "make a benchmark of your own, or a scenario of it from a folder of documents",
    "rubric": "write a scenario's rubric as a spreadsheet, CSV or JSON, and read it back",
}
_RUBRIC = {
    "export": "write a rubric: one row an item; .xlsx, .csv, .json or .jsonl by the file's suffix",
    "import": "replace a rubric by a file of that form, or by one of HealthBench, PRBench or MissionReport",
}
_SCENARIO = "BENCHMARK/SCENARIO"


def add_arguments(parsers: dict[str, argparse.ArgumentParser], overrides: str) -> None:
    """Add the arguments of the commands above; `overrides` is the help of overrides."""
    new = parsers["new"]
    new.add_argument("target", metavar="BENCHMARK[/SCENARIO]", help="small letters, digits, _ and -")
    new.add_argument("--documents", type=Path, metavar="FOLDER", help="of a new scenario; they are copied")
    new.add_argument("--report", type=Path, metavar="FILE", help="the expert's report, of a new report task")
    new.add_argument("--folder", type=Path, help="of a new benchmark's scenarios (default: data/BENCHMARK)")
    new.add_argument(
        "--protocol",
        choices=["ma_bench", "mission_report"],
        default="ma_bench",
        help="of a new benchmark: briefs, or Word reports as Harbor tasks (default: %(default)s)",
    )
    actions = parsers["rubric"].add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in _RUBRIC.items():
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument("scenario", metavar=_SCENARIO)
        if name == "export":
            action.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="to write")
        else:
            action.add_argument("file", type=Path, metavar="FILE", help="to read")
            action.add_argument(
                "--example", metavar="N", help="id or number, in a published file of several examples"
            )
        action.add_argument("overrides", nargs="*", default=[], metavar="OVERRIDE", help=overrides)


def run_new(parsed: argparse.Namespace, overrides: Sequence[str], screen: Screen) -> int:
    """Run `staffbench new`, which needs no project."""
    from flows.pipeline.commands.own.new import new
    from flows.schema.settings import ProtocolName

    if overrides:
        raise ConfigError(overrides[0], "new takes no overrides", "one name", "see staffbench new --help")
    return new(
        parsed.target,
        screen,
        here=Path.cwd(),
        documents=parsed.documents,
        report=parsed.report,
        folder=parsed.folder and Path.cwd() / parsed.folder,
        protocol=ProtocolName(parsed.protocol),
    )


def run_rubric(parsed: argparse.Namespace, project: Path, overrides: Sequence[str], screen: Screen) -> int:
    """Run `staffbench rubric export` or `import`."""
    from flows.pipeline.commands.own.rubric import export_rubric, import_rubric

    benchmark, slash, scenario = parsed.scenario.rpartition("/")
    chosen = [f"benchmark={benchmark}", *overrides] if slash else list(overrides)
    if parsed.action == "export":
        return export_rubric(project, chosen, scenario, parsed.output, screen)
    return import_rubric(project, chosen, scenario, parsed.file, screen, example=parsed.example)
