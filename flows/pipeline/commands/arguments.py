"""The arguments of the command line, their help, and what a shell completes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from flows.adapters.config.described import AXES, options, overrides_to_complete
from flows.common.version import __version__
from flows.pipeline.commands.own import command_line as own_commands

_OVERRIDES = "Hydra overrides: model=strong word_cap=500 judge.effort=high"

COMMANDS = {
    **own_commands.COMMANDS,
    "run": "one condition, or a sweep (-m): generate, truncate, judge, score, aggregate",
    "plan": "estimate the calls, tokens, price and detectable difference of a run, without any call",
    "grade": "briefs written elsewhere (.md .txt .docx .pdf): one file, or a folder of them",
    "compare": "two conditions: their paired difference, and the items on which they differ",
    "export": "write a benchmark as a folder to publish: Parquet, data card, licence, croissant.json",
    "import": "take logs of Inspect: of our tasks and exports as results, of others as briefs to grade",
    "report": "write leaderboards and site from stored verdicts, by any scoring weights, without any call",
    "list": "the options of an axis, such as models and judges, or the graded conditions",
    "packets": "build packets from documents; report every unreadable document",
    "validate": "check scenarios, rubrics, evidence, controls and every option of conf/",
    "agreement": "agreement of judges with labels (LABELS: a CSV file of experts'), others and themselves",
    "harbor": "exchange with Harbor: export scenarios as tasks, import jobs as results",
    "track": "put results of runs made outside DVC under its control",
    "remove": "delete the results of a condition, after showing what that removes",
    "ui": "serve the MLflow UI of this project, and say how to open Prefect's",
    "completion": "print the completion script of a shell",
}

_HARBOR = {
    "import": "import a job's attempts as briefs, verdicts and scores",
    "summarize": "show a job's rewards and missed criteria",
    "export": "export scenarios as Harbor tasks",
    "run": "run scenarios with the installed harbor command",
    "verify": "grade one report and write its reward (called by the verifier of an exported task)",
}

_EXAMPLES = """examples:
  staffbench run model=extractive              the baseline: no key, no model
  staffbench run -m model=strong,weak word_cap=500,3000
  staffbench grade my_brief.md --scenario karsa_relief
  staffbench list models                       what can be chosen
  staffbench compare strong weak               two conditions, item by item

staffbench COMMAND --help shows the arguments of a command.
"""

NEXT = """staffbench: name a command. To begin:
  staffbench new NAME     make a benchmark of your own
  staffbench run          grade a baseline, without a key or a model
  staffbench list models  see what can be run
  staffbench --help       all commands, with examples
"""

SHELLS = {
    "bash": 'eval "$(staffbench completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(staffbench completion zsh)" in ~/.zshrc, after compinit',
    "fish": "staffbench completion fish > ~/.config/fish/completions/staffbench.fish",
}


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="staffbench",
        description="Do language models make the determinations a competent staff would make?",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"staffbench {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, summary in COMMANDS.items():
        parsers[name] = commands.add_parser(
            name,
            help=summary,
            description=summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    # The former name of track; without a help text it is not listed.
    parsers["version"] = commands.add_parser("version", description=COMMANDS["track"])
    _add_own(parsers)
    own_commands.add_arguments(parsers, _OVERRIDES)
    _add_harbor(parsers["harbor"])
    for name, one in parsers.items():
        if name not in ("harbor", "list", "completion", "rubric"):
            _add_overrides(one)
    for name in ("run", "plan", "grade"):
        parsers[name].epilog = axes_text()
    return parser


def axes_text() -> str:
    """Return the axes with a sentence each."""
    width = max(map(len, AXES))
    lines = [f"  {name:{width}}  {sentence}" for name, sentence in AXES.items()]
    return "\n".join(["axes (staffbench list AXIS shows the options of one):", *lines])


def _add_own(parsers: dict[str, argparse.ArgumentParser]) -> None:
    """Add the arguments of single commands."""
    parsers["grade"].add_argument(
        "target", help="a brief, or a folder that holds <scenario>/<seed>.md, or .txt, .docx, .pdf"
    )
    parsers["grade"].add_argument("--scenario", metavar="SCENARIO", help="the scenario of a single brief")
    for name in ("run", "plan", "grade"):
        parsers[name].add_argument("-m", "--multirun", action="store_true", help="sweep over lists of values")
    for name in ("run", "grade", "report"):
        parsers[name].add_argument("--wide", action="store_true", help="show all columns of the leaderboard")
    for name in ("run", "grade"):
        parsers[name].add_argument(
            "--only-this-run", action="store_true", help="show only the rows of this run"
        )
        parsers[name].add_argument("--cfg", choices=["job"], help="show the composed configuration and stop")
    parsers["run"].add_argument(
        "--watch", action="store_true", help="write a page that follows the run: results/<benchmark>/run.html"
    )
    names = "condition, as staffbench list conditions names it, or its model; CONDITION/JUDGE for one judge"
    for name in ("first", "second"):
        parsers["compare"].add_argument(name, metavar=name.upper(), help=names)
    parsers["compare"].add_argument("--all", action="store_true", help="show items with equal verdicts too")
    parsers["export"].add_argument(
        "benchmark", metavar="BENCHMARK", help="the benchmark's name in conf/benchmark"
    )
    parsers["export"].add_argument("folder", type=Path, help="new or empty, or an earlier export")
    parsers["export"].add_argument("--to", choices=["inspect"], help="another program's format")
    parsers["export"].add_argument("--allow", action="store_true", help="export despite what the check finds")
    parsers["export"].add_argument("--creator", metavar="NAME", help="who made it, for croissant.json")
    parsers["export"].add_argument(
        "--url", metavar="ADDRESS", help="where it will be found, for croissant.json"
    )
    parsers["import"].add_argument("logs", type=Path, help="a log of Inspect, or a folder of them")
    parsers["import"].add_argument(
        "--map",
        action="append",
        default=[],
        metavar="ID=SCENARIO",
        help="scenario of a sample of another task",
    )
    parsers["import"].add_argument(
        "--key", metavar="NAME", help="metadata of another task's samples that holds the scenario"
    )
    parsers["remove"].add_argument("condition", metavar="CONDITION", help=names)
    parsers["remove"].add_argument("--yes", action="store_true", help="delete without asking")
    what = parsers["list"].add_argument(
        "what", nargs="?", metavar="AXIS", help=f"{', '.join(AXES)} (also in plural), scenarios or conditions"
    )
    what.completer = lambda **_: [*AXES, "scenarios", "conditions"]  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    parsers["list"].add_argument(
        "overrides", nargs="*", metavar="OVERRIDE", help="with scenarios or conditions: benchmark=NAME"
    )
    parsers["completion"].add_argument("shell", choices=list(SHELLS))
    parsers["completion"].epilog = "\n".join([*SHELLS.values()])
    parsers["packets"].add_argument(
        "--show", metavar="SCENARIO", help="print a scenario's packet as a writer sees it"
    )
    parsers["packets"].add_argument(
        "--places", action="store_true", help="with --show: the place of each block in a margin"
    )
    parsers["validate"].add_argument(
        "--watch", action="store_true", help="validate again whenever a file is saved, until Ctrl-C"
    )
    parsers["validate"].add_argument(
        "--index", action="store_true", help="write the Parquet index of the task folder"
    )
    parsers["validate"].add_argument(
        "--strict", action="store_true", help="refuse fields of a task that nothing uses"
    )
    parsers["report"].add_argument(
        "--versioned", action="store_true", help="use only verdicts that DVC tracks, as the DVC stages do"
    )
    for what in ("tables", "figures"):
        parsers["report"].add_argument(
            f"--{what}", type=Path, metavar="FOLDER", help=f"write the paper's {what} there, and no site"
        )
    parsers["report"].add_argument(
        "--labels",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="experts' labels (CSV) for --tables; may be repeated",
    )
    parsers["ui"].add_argument(
        "--port", type=int, default=5000, help="port of the MLflow UI (default: %(default)s)"
    )


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
        parsers[name].add_argument(
            "--keep-verifier", action="store_true", help="leave a report task's own verifier in place"
        )
    parsers["run"].epilog = "Harbor's own arguments come after --, such as: -- -a opencode -m PROVIDER/MODEL"
    for parser in parsers.values():
        _add_overrides(parser)


def _add_overrides(parser: argparse.ArgumentParser) -> None:
    action: Any = parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help=_OVERRIDES)
    action.completer = _complete


def _complete(prefix: str, **_: Any) -> list[str]:
    """Return the overrides that begin with `prefix`: axes, then options of one axis."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "conf" / "config.yaml").is_file():
            return overrides_to_complete(options(folder), prefix)
    return []


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell's request for completions, and exit."""
    import argcomplete

    argcomplete.autocomplete(parser)


def completion_script(shell: str) -> str:
    """Return the script that makes a shell ask staffbench for completions."""
    from argcomplete.shell_integration import shellcode

    return shellcode(["staffbench"], shell=shell)
