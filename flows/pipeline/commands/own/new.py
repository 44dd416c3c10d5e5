"""`staffbench new`: a benchmark of one's own, and a scenario from documents that lie anywhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.rubrics import write_rows
from flows.adapters.scenario_files import load_scenario
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.pipeline.commands.own.stages import write_stages
from flows.pipeline.commands.own.task import write_example_task
from flows.pipeline.evaluate.showing import display_path
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.readers.read import media_of
from flows.schema.document import Document
from flows.schema.scenario import MA_BENCH
from flows.schema.settings import ProtocolName

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_DEFAULT = re.compile(r"(?m)^(  - benchmark: )\S+")
_CACHES = shutil.ignore_patterns("__pycache__")
_MOST_PARTS = 30  # pages of a document that are listed
_PACKAGE = Path(__file__).resolve().parents[3]

_BENCHMARK = """\
# A benchmark of your own: staffbench run benchmark={name}
name: {name}
protocol: ma_bench
data: {data}
controls: null   # in each scenario's folder
scenarios: null   # all

# How items are classed: null for the steps, tiers and severities of MA-Bench. To have your own, write:
#   dimensions:
#     steps: [situation, open_tasks]
#     tiers: [stated, inferred]          # numbered from 1 in the rubric
#     severities: [vital, useful]        # classes of requirements
#     wrong_moves: [harmful]             # classes of wrong moves
#     optional: [tier, rationale]        # fields that an item may lack
# and their weights in conf/scoring/{name}.yaml, as conf/scoring/severity.yaml has them for MA-Bench.
dimensions: null
"""

_TASKS = """\
# @package _global_
# A benchmark of your own, of Word reports: staffbench run benchmark={name}
defaults:
  - override /harness: native
  - override /word_cap: none
  - override /prompt: report_v1
  - override /judge_prompt: report_v1
  - override /scoring: points

benchmark:
  name: {name}
  protocol: mission_report
  data: {data}/tasks
  controls: null   # or a folder of labelled reports, as data/mission_report/controls is in the repository
  scenarios: null   # all
  dimensions: null   # criteria have points of their own
seeds: 3            # attempts
"""

_README = """\
# {name}

A benchmark of staffbench. Each folder is a scenario: `scenario.yaml` (assignment, list of documents),
`documents/`, `rubric.yaml` (the items) and, if you write them, `controls/` (labelled briefs that show how
far a judge can be trusted).

    staffbench new {name}/my_scenario --documents FOLDER   # add a scenario
    staffbench rubric export {name}/my_scenario -o rubric.xlsx
    staffbench rubric import {name}/my_scenario rubric.xlsx
    staffbench validate benchmark={name}
    staffbench run benchmark={name}
    staffbench report benchmark={name}

The scenario `example` is there to be looked at and deleted. `dvc.yaml` and `params.yaml` are the DVC
pipeline; `staffbench track benchmark={name}` writes them again.
"""

_TASKS_README = """\
# {name}

A benchmark of staffbench. Each folder in `tasks/` is a task of Harbor that ends in a Word report:

| path | what it is |
|---|---|
| `instruction.md`, `steps/answer/` | the assignment and its files, the form among them |
| `tests/golden/report.docx` | the expert's report; `solution/solve.sh` carries it for Harbor's oracle |
| `tests/fixtures/rubric.json` | criteria with points; below 0 for a penalty |
| `tests/fixtures/config.json` | the assignment, the length limit, and guidance for the judge |
| `task.toml`, `environment/`, `tests/test.sh` | what Harbor runs it with |

    staffbench validate benchmark={name}
    staffbench run benchmark={name}
    staffbench harbor export FOLDER benchmark={name} --install WHEEL

The task `example` is there to be looked at, copied and deleted. `dvc.yaml` and `params.yaml` are the DVC
pipeline; `staffbench track benchmark={name}` writes them again.
"""

_IGNORED = """\
/.prefect/
/mlruns/
/dvc_plots/
# What runs leave. DVC versions it, and git the small files of DVC.
/data/packets/**/*.parquet
/results/**
!/results/**/
!/results/**/*.dvc
!/results/**/.gitignore
/results/.cache/
"""

_SCENARIO = {
    "synthetic": False,
    "licence": "not stated",
    "notice": "Say here what these documents are, and whether anything in them is invented.",
    "assignment": "You work on the staff of ... Write the mission analysis for ..., from the documents.",
}


def new(
    target: str,
    screen: Screen,
    *,
    here: Path,
    documents: Path | None = None,
    folder: Path | None = None,
    protocol: ProtocolName = ProtocolName.ma_bench,
) -> int:
    """Make a benchmark, or a scenario in one.

    Args:
        target: `BENCHMARK` or `BENCHMARK/SCENARIO`.
        screen: output.
        here: the current folder. Without a project in it or above, `new BENCHMARK` makes one here.
        documents: the scenario's documents; they are copied.
        folder: of the benchmark's scenarios; None for `data/BENCHMARK`.
        protocol: of a new benchmark.

    Raises:
        StaffbenchError: a name that is not allowed or is there already, no documents, or a file that can't be
            written.
    """
    benchmark, slash, scenario = target.partition("/")
    for name in (benchmark, scenario) if slash else (benchmark,):
        if not _NAME.fullmatch(name):
            raise ConfigError(f"new {target}", f"{name!r} is no name", "small letters, digits, _ and -")
    project = _project(here)
    if slash and protocol is not ProtocolName.ma_bench:
        raise ConfigError("--protocol", "is the benchmark's", f"staffbench new {benchmark} --protocol ...")
    if not slash:
        if documents is not None:
            raise ConfigError("--documents", "a benchmark has none", f"staffbench new {benchmark}/SCENARIO")
        return _new_benchmark(project or here, benchmark, folder, protocol, screen)
    if project is None:
        raise ConfigError(
            here, "no project here or above", "a benchmark", f"run staffbench new {benchmark} first"
        )
    if folder is not None:
        raise ConfigError("--folder", "the benchmark says where its scenarios are", "no --folder")
    if documents is None:
        raise ConfigError(f"new {target}", "no documents", "--documents FOLDER")
    return _new_scenario(project, benchmark, scenario, documents, screen)


def _project(here: Path) -> Path | None:
    found = (folder for folder in (here, *here.parents) if (folder / "conf" / "config.yaml").is_file())
    return next(found, None)


def _new_benchmark(
    project: Path, name: str, folder: Path | None, protocol: ProtocolName, screen: Screen
) -> int:
    conf, data = project / "conf" / "benchmark" / f"{name}.yaml", folder or project / "data" / name
    has_tasks = protocol is ProtocolName.mission_report
    for path in (conf, data):
        if path.exists():
            raise ConfigError(path, "is already there", "another name")
    try:
        if not (project / "conf").is_dir():
            shutil.copytree(_options(), project / "conf")
            if not has_tasks:  # whose settings on other axes don't go with every option
                config = (project / "conf" / "config.yaml").read_text(encoding="utf-8")
                write_whole(project / "conf" / "config.yaml", _DEFAULT.sub(rf"\g<1>{name}", config))
            screen.note("Written: conf, the options that come with staffbench")
        if has_tasks:
            write_example_task(_PACKAGE / "example_task", data / "tasks" / "example")
        else:
            shutil.copytree(_PACKAGE / "example", data / "example", ignore=_CACHES)
    except OSError as error:
        raise StoreError(error.filename or data, f"can't be written ({error.strerror})") from error
    if not (project / ".gitignore").exists():
        write_whole(project / ".gitignore", _IGNORED)
    shown = data.relative_to(project) if data.is_relative_to(project) else data.resolve()
    write_whole(data / "README.md", (_TASKS_README if has_tasks else _README).format(name=name))
    write_whole(conf, (_TASKS if has_tasks else _BENCHMARK).format(name=name, data=shown))
    write_stages(project, name)
    screen.note(f"Written: {shown}, with the {'task' if has_tasks else 'scenario'} example")
    screen.note(f"Written: conf/benchmark/{name}.yaml")
    screen.note("Next:")
    screen.note(f"  staffbench run benchmark={name}")
    if not has_tasks:
        screen.note(f"  staffbench new {name}/SCENARIO --documents FOLDER")
    return 0


def _options() -> Path:
    """Return the folder of options: inside an installed package, beside it in a clone."""
    inside = _PACKAGE / "conf"
    return inside if inside.is_dir() else _PACKAGE.parent / "conf"


def _new_scenario(project: Path, name: str, scenario_id: str, documents: Path, screen: Screen) -> int:
    benchmark = compose_points(project, [f"benchmark={name}"], multirun=False)[0].settings.benchmark
    if benchmark.protocol is not ProtocolName.ma_bench:
        raise ConfigError(f"benchmark={name}", "its scenarios are Harbor tasks", "a benchmark of briefs")
    folder = project / benchmark.data / scenario_id
    if folder.exists():
        raise ConfigError(folder, "is already there", "another name")
    files, left = _listed(documents)
    dimensions = benchmark.dimensions or MA_BENCH
    try:
        (folder / "documents").mkdir(parents=True)
        for file in files:
            shutil.copyfile(file, folder / "documents" / file.name)
    except OSError as error:
        raise StoreError(error.filename or folder, f"can't be written ({error.strerror})") from error
    names = [file.name for file in files]
    title = scenario_id.replace("_", " ").capitalize()
    head = {"scenario_id": scenario_id, "title": title, **_SCENARIO, "documents": names}
    write_whole(
        folder / "scenario.yaml", yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=110)
    )
    write_whole(folder / "rubric.yaml", "[]\n")
    write_rows(folder / "rubric.xlsx", [], dimensions, names)
    screen.note(f"Written: {display_path(folder)}")
    for file, why in left:
        screen.note(f"Not copied: {file.name}: {why}")
    write_stages(project, name)
    unread = _show_reading(project / benchmark.data, name, folder, screen)
    screen.note("Next: write the assignment in scenario.yaml and the items in rubric.xlsx, then")
    screen.note(f"  staffbench rubric import {name}/{scenario_id} {display_path(folder / 'rubric.xlsx')}")
    if unread is not None:
        raise unread
    return 0


def _listed(documents: Path) -> tuple[list[Path], list[tuple[Path, str]]]:
    """Return the documents to copy, by name, and what is left out with the reason."""
    if not documents.is_dir():
        raise ConfigError("--documents", f"{documents} is no folder", "a folder of documents")
    found: list[Path] = []
    left: list[tuple[Path, str]] = []
    for path in sorted(documents.iterdir(), key=lambda path: path.name.casefold()):
        if path.name.startswith((".", "~$")):
            continue
        if path.is_symlink():
            left.append((path, "a link"))
        elif not path.is_file():
            left.append((path, "a folder" if path.is_dir() else "no plain file"))
        else:
            try:
                media_of(path)
            except StaffbenchError as error:
                left.append((path, str(error).removeprefix(f"{path}: ")))
            else:
                found.append(path)
    if not found:
        raise ConfigError(
            "--documents", f"{documents} holds no document that a reader knows", "docx, pdf, ..."
        )
    return found, left


def _show_reading(data: Path, benchmark: str, folder: Path, screen: Screen) -> StaffbenchError | None:
    """Print what each reader saw, page by page; return what it could not read."""
    scenario = load_scenario(folder)
    try:
        packet = load_packet(folder, scenario, packet_path(data, benchmark, scenario.scenario_id), screen.say)
    except Problems as error:
        return error
    rows = [("document", "part", "blocks", "characters")]
    for document in packet.documents:
        rows += _parts(document)
    screen.table(f"{scenario.scenario_id}: what the readers see", rows)
    for document in packet.documents:
        for notice in document.notices:
            screen.note(f"{document.name}, {notice.place}: {notice.kind}: {notice.detail}")
    screen.note(f"All of it: staffbench packets benchmark={benchmark} --show {scenario.scenario_id}")
    return None


def _parts(document: Document) -> list[tuple[str, str, str, str]]:
    """Return a row for each page or sheet; for formats without them, one for the document."""
    counts: dict[str, list[int]] = {}
    for block in document.blocks:
        page = re.match(r"page \d+|[^!]+(?=!)", block.place)
        found = counts.setdefault(page[0] if page else "whole", [0, 0])
        found[0] += 1
        found[1] += len(block.text)
    rows = [(document.name, part, str(n), f"{length:,}") for part, (n, length) in counts.items()]
    if len(rows) <= _MOST_PARTS:
        return rows
    rest = list(counts.values())[_MOST_PARTS:]
    more = f"{len(rest)} more"
    return [
        *rows[:_MOST_PARTS],
        (document.name, more, str(sum(n for n, _ in rest)), f"{sum(c for _, c in rest):,}"),
    ]
