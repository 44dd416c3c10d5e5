"""The arguments and the help of the commands."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flows.adapters.config.described import AXES
from flows.common.version import __version__
from flows.pipeline.commands import ACTIONS, COMMANDS, FUNCTIONS
from flows.pipeline.commands.export import FORMATS
from flows.pipeline.commands.listing import (
    SHELLS,
    benchmarks_completed,
    completed,
    conditions_completed,
    lists_completed,
    scenarios_completed,
)

_OVERRIDES = "Hydra overrides: model=strong word_cap=500 judge.effort=high"

_EXAMPLES = """examples:
  staffbench run model=extractive              the baseline: no key, no model
  staffbench run -m model=strong,weak word_cap=500,3000
  staffbench grade my_brief.md --scenario karsa_relief
  staffbench list models                       what can be chosen
  staffbench compare strong weak               two conditions, item by item

staffbench COMMAND --help shows the arguments of a command.
"""

_TARGET = (
    "a brief (.md, .txt, .docx, .pdf or another document), a folder of <scenario>/<seed>.md, or a table "
    "(.csv, .jsonl) of files or texts; model.label=NAME names the row"
)
_LABELS = "a file or folder of labels, or an override, such as benchmark=NAME or judge=NAME"
_CONDITION = (
    "condition, as staffbench list conditions names it, the beginning of its name, or its model; "
    "CONDITION/JUDGE for one judge"
)
_Parsers = Mapping[str, argparse.ArgumentParser]


class _Formatter(argparse.HelpFormatter):
    """Wraps a text between words, unless it has lines of its own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands.

    It sets the arguments of the command's function; `is_anywhere` where that needs no project, and `refused`,
    the error, where it takes no overrides.
    """
    parser = argparse.ArgumentParser(
        prog="staffbench",
        description="Do language models make the determinations a competent staff would make?",
        epilog=_EXAMPLES,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"staffbench {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, summary in COMMANDS.items():
        parsers[name] = commands.add_parser(
            name,
            help=summary,
            description=summary,
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
    # The former name of track; without a help text it is not listed.
    parsers["version"] = commands.add_parser("version", description=COMMANDS["track"], allow_abbrev=False)
    parsers["version"].set_defaults(is_former=True)
    for command, inner in ACTIONS.items():
        actions = parsers[command].add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, text in inner.items():
            parsers[f"{command} {name}"] = actions.add_parser(
                name, help=text, description=text, formatter_class=_Formatter, allow_abbrev=False
            )
    _add_making(parsers)
    _add_running(parsers)
    _add_reading(parsers)
    _add_harbor(parsers)
    for name in FUNCTIONS.keys() - {"list", "completion", "store copy", "export"}:
        _add_overrides(parsers[name], has_sources=not name.startswith("rubric"))
    for each in parsers.values():
        each.set_defaults(help_text=each.format_help)
    return parser


def axes_text() -> str:
    """Return the axes with a sentence each."""
    width = max(map(len, AXES))
    lines = [f"  {name:{width}}  {sentence}" for name, sentence in AXES.items()]
    return "\n".join(["axes (staffbench list AXIS shows the options of one):", *lines])


def _complete(action: Any, completer: Callable[..., list[str]]) -> None:
    """Let argcomplete complete an argument by a function."""
    action.completer = completer


def _switch(parsers: _Parsers, names: str, option: str, text: str, **more: Any) -> None:
    for name in names.split(", "):
        parsers[name].add_argument(option, action="store_true", help=text, **more)


def _add_making(parsers: _Parsers) -> None:
    """Add the arguments of the commands that make, check and list benchmarks."""
    parsers["new"].set_defaults(
        is_anywhere=True, refused=("new takes no overrides", "one name", "see staffbench new --help")
    )
    add = parsers["new"].add_argument
    add("target", metavar="BENCHMARK[/SCENARIO]", help="small letters, digits, _ and -")
    add("--documents", type=Path, metavar="FOLDER", help="of a new scenario; they are copied")
    add("--report", type=Path, metavar="FILE", help="the expert's report, of a new report task")
    add("--folder", type=Path, help="of a new benchmark's scenarios (default: data/BENCHMARK)")
    add(
        "--protocol",
        choices=["ma_bench", "mission_report"],
        default="ma_bench",
        help="of a new benchmark: briefs, or Word reports as Harbor tasks (default: %(default)s)",
    )
    for name in ("rubric export", "rubric import"):
        parsers[name].add_argument("scenario", metavar="BENCHMARK/SCENARIO")
    add = parsers["rubric export"].add_argument
    add("-o", "--output", type=Path, required=True, metavar="FILE", help="to write")
    add = parsers["rubric import"].add_argument
    add("file", type=Path, metavar="FILE", help="to read")
    add("--example", metavar="N", help="id or number, in a published file of several examples")
    add = parsers["packets"].add_argument
    text = "print a scenario's packet as a writer sees it"
    _complete(add("--show", metavar="SCENARIO", help=text), scenarios_completed)
    _switch(parsers, "packets", "--places", "with --show: the place of each block in a margin")
    _switch(parsers, "validate", "--watch", "validate again whenever a file is saved, until Ctrl-C")
    _switch(parsers, "validate", "--index", "write the Parquet index of the task folder")
    _switch(parsers, "validate", "--strict", "refuse fields of a task that nothing uses")
    add = parsers["list"].add_argument
    text = f"{', '.join(AXES)} (also in plural), scenarios or conditions"
    _complete(add("what", nargs="?", metavar="AXIS", help=text), lists_completed)
    text = "with scenarios or conditions: benchmark=NAME"
    _complete(add("overrides", nargs="*", default=[], metavar="OVERRIDE", help=text), completed)
    _add_sources(parsers["list"])


def _add_running(parsers: _Parsers) -> None:
    """Add the arguments of the commands that run models or take in what they wrote."""
    add = parsers["grade"].add_argument
    add("target", help=_TARGET)
    _complete(
        add("--scenario", metavar="SCENARIO", help="the scenario of a single brief"), scenarios_completed
    )
    for name in ("run", "plan", "grade"):
        parsers[name].add_argument("-m", "--multirun", action="store_true", help="sweep over lists of values")
        parsers[name].epilog = axes_text()
    _switch(parsers, "run, grade, report", "--wide", "show the columns of leaderboard.md")
    _switch(parsers, "run, grade", "--only-this-run", "show only the rows of this run")
    _add_shown(parsers["run"])
    _add_shown(parsers["grade"])
    _switch(parsers, "run", "--watch", "write a page that follows the run: results/<benchmark>/run.html")
    add = parsers["import"].add_argument
    add("logs", type=Path, help="a log of Inspect, or a folder of them")
    add(
        "--map",
        action="append",
        default=[],
        dest="pairs",
        metavar="ID=SCENARIO",
        help="scenario of a sample of another task",
    )
    add("--key", metavar="NAME", help="metadata of another task's samples that holds the scenario")


def _add_shown(parser: argparse.ArgumentParser) -> None:
    """Add Hydra's own flags that show a configuration and stop."""
    add = parser.add_argument_group("shown instead of running, by Hydra").add_argument
    add("-c", "--cfg", choices=["job", "hydra", "all"], help="the composed configuration")
    add("--resolve", action="store_true", help="with --cfg: with references resolved")
    add("-p", "--package", metavar="KEY", help="with --cfg: only what is below a key, as judge")
    parts = ["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"]
    add(
        "-i",
        "--info",
        nargs="?",
        const="all",
        choices=parts,
        metavar="PART",
        help=f"how it was composed: {', '.join(parts)}",
    )
    add("--hydra-help", action="store_true", help="Hydra's help")
    parser.set_defaults(parser=parser)


def _add_reading(parsers: _Parsers) -> None:
    """Add the arguments of the commands that use or move results, and of those that need none."""
    for name in ("first", "second"):
        add = parsers["compare"].add_argument
        _complete(add(name, metavar=name.upper(), help=_CONDITION), conditions_completed)
    _switch(parsers, "compare", "--all", "show items with equal verdicts too", dest="every")
    add = parsers["export"].add_argument
    text = "the benchmark's name in conf/benchmark; a folder"
    _complete(add("target", nargs="*", metavar="BENCHMARK FOLDER", help=text), benchmarks_completed)
    text = "the folder: new or empty, or an earlier export"
    add("-o", "--output", type=Path, metavar="FOLDER", help=text)
    add("--to", choices=list(FORMATS), default="parquet", help="what is written (default: %(default)s)")
    _switch(parsers, "export", "--allow", "export despite what the check finds")
    add("--creator", metavar="NAME", help="who made it, for croissant.json")
    add("--url", metavar="ADDRESS", help="where it will be found, for croissant.json")
    add = parsers["remove"].add_argument
    _complete(add("condition", metavar="CONDITION", help=_CONDITION), conditions_completed)
    _switch(parsers, "remove", "--yes", "delete without asking", dest="is_confirmed")
    _switch(parsers, "report", "--versioned", "use only verdicts that DVC tracks, as the DVC stages do")
    add = parsers["report"].add_argument
    for what in ("tables", "figures"):
        text = f"write the paper's {what} there, and no site"
        add(f"--{what}", type=Path, metavar="FOLDER", help=text)
    text = "experts' labels (CSV, filled sheets or a folder) for --tables; may be repeated"
    add("--labels", type=Path, action="append", default=[], metavar="FILE", help=text)
    add = parsers["agreement"].add_argument_group("agreement sheet FOLDER").add_argument
    add("--raters", metavar="NAMES", help="names of the raters, separated by commas")
    add("--briefs", type=int, metavar="N", help="briefs that each rater reads (8)")
    add("--items", type=int, metavar="N", help="items in each brief (15)")
    add("--shared", type=int, metavar="N", help="briefs that all raters read (half)")
    text = "number of the draw: another one gives another sample (1)"
    add("--draw", type=int, metavar="N", help=text)
    text = "also labels that people gave on MLflow's pages; they are kept in results/<benchmark>/labels/"
    parsers["agreement"].add_argument("--from", dest="source", choices=["mlflow"], help=text)
    parsers["store copy"].set_defaults(refused=("store copy takes no overrides",))
    add = parsers["store copy"].add_argument
    add("source", metavar="FROM", help="a folder of results, or a shared store's address")
    add("target", metavar="TO", help="the same; file:///FOLDER is a shared store in a folder")
    text = "port of the MLflow UI (default: %(default)s)"
    parsers["ui"].add_argument("--port", type=int, default=5000, help=text)
    parsers["completion"].set_defaults(is_anywhere=True, refused=("completion takes no overrides",))
    parsers["completion"].add_argument("shell", choices=list(SHELLS))
    parsers["completion"].epilog = "\n".join(SHELLS.values())


def _add_harbor(parsers: _Parsers) -> None:
    for name in ("harbor import", "harbor summarize"):
        parsers[name].add_argument("job", type=Path, help="folder of one job")
    _switch(parsers, "harbor summarize", "--criteria", "list missed criteria and triggered penalties")
    parsers["harbor summarize"].set_defaults(refused=("summarize takes no overrides",))
    add = parsers["harbor export"].add_argument
    add("folder", type=Path, metavar="FOLDER", help="folder to write: new or empty")
    # A sandbox has no project, and the folders above the current one belong to the agent.
    parsers["harbor verify"].set_defaults(is_anywhere=True)
    add = parsers["harbor verify"].add_argument
    add("report", type=Path, help="the agent's report")
    add("--task", type=Path, dest="tests", metavar="TASK", required=True, help="the task's tests/ folder")
    text = "folder for reward and judgment (default: %(default)s)"
    add("--logs", type=Path, default=Path("/logs/verifier"), help=text)
    for name in ("harbor export", "harbor run"):
        text = "staffbench for the sandboxes: a local wheel or a pip requirement"
        parsers[name].add_argument("--install", metavar="WHEEL", help=text)
        _switch(parsers, name, "--keep-verifier", "leave a report task's own verifier in place")
    parsers["harbor run"].set_defaults(arguments=[])
    text = "Harbor's own arguments come after --, such as: -- -a opencode -m PROVIDER/MODEL"
    parsers["harbor run"].epilog = text


def _add_overrides(parser: argparse.ArgumentParser, *, has_sources: bool) -> None:
    is_of_labels = parser.prog.endswith(" agreement")
    metavar, text = ("LABELS|OVERRIDE", _LABELS) if is_of_labels else ("OVERRIDE", _OVERRIDES)
    action = parser.add_argument("overrides", nargs="*", default=[], metavar=metavar, help=text)
    if has_sources:
        _complete(action, completed)
        _add_sources(parser)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    text = "a folder with options of your own"
    parser.add_argument("-cd", "--config-dir", metavar="FOLDER", action="append", help=text)
    text = "another primary configuration than conf/config.yaml"
    parser.add_argument("-cn", "--config-name", metavar="NAME", help=text)
