"""`staffbench new`: a benchmark of one's own, and a scenario from documents in any folder."""

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.config.described import shipped
from flows.adapters.provenance import tracked_files
from flows.adapters.rubrics import write_rows
from flows.adapters.scenario_files import find_project
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.pipeline.commands.own.stages import stages_folder, write_stages
from flows.pipeline.commands.own.task import write_example_task, write_own_task
from flows.pipeline.commands.own.unwritten import INSTRUCTION, SCENARIO
from flows.pipeline.evaluate.showing import display_path
from flows.readers.guarded import read_guarded
from flows.readers.read import media_of
from flows.schema.document import Document
from flows.schema.scenario import CRITERIA, MA_BENCH
from flows.schema.settings import ProtocolName

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_DEFAULT = re.compile(r"(?m)^(  - benchmark: )\S+")
_CACHES = shutil.ignore_patterns("__pycache__")
_MOST_PARTS = 30  # pages of a document that are listed
_PACKAGE = Path(__file__).resolve().parents[3]


def new(
    target: str,
    screen: Screen,
    *,
    here: Path | None = None,
    documents: Path | None = None,
    report: Path | None = None,
    folder: Path | None = None,
    protocol: str = ProtocolName.ma_bench,
) -> int:
    """Make a benchmark, or a scenario in one.

    Raises:
        StaffbenchError: a name that is not allowed or is there already, no documents, or a file that can't be
            written.
    """
    here = here or Path.cwd()
    benchmark, slash, scenario = target.partition("/")
    for name in (benchmark, scenario) if slash else (benchmark,):
        if not _NAME.fullmatch(name):
            raise ConfigError(f"new {target}", f"{name!r} is no name", "small letters, digits, _ and -")
    project = None
    with suppress(ConfigError):
        project = find_project(here)
    if slash and protocol != ProtocolName.ma_bench:
        raise ConfigError("--protocol", "is the benchmark's", f"staffbench new {benchmark} --protocol ...")
    if not slash:
        for option, given in (("--documents", documents), ("--report", report)):
            if given is not None:
                raise ConfigError(option, "a benchmark has none", f"staffbench new {benchmark}/SCENARIO")
        data = here / folder if folder else (project or here) / "data" / benchmark
        return _new_benchmark(project or here, benchmark, data, ProtocolName(protocol), screen)
    if project is None:
        raise ConfigError(
            here, "no project here or above", "a benchmark", f"run staffbench new {benchmark} first"
        )
    if folder is not None:
        raise ConfigError("--folder", "the benchmark says where its scenarios are", "no --folder")
    if documents is None:
        raise ConfigError(f"new {target}", "no documents", "--documents FOLDER")
    return _new_scenario(project, benchmark, scenario, documents, report, screen)


def _new_benchmark(project: Path, name: str, data: Path, protocol: ProtocolName, screen: Screen) -> int:
    conf = project / "conf" / "benchmark" / f"{name}.yaml"
    has_tasks = protocol is ProtocolName.mission_report
    for path in (conf, data):
        if path.exists():
            raise ConfigError(path, "is already there", "another name")
    try:
        if not (project / "conf").is_dir():
            _copy_options(shipped(), project / "conf")
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
        write_whole(project / ".gitignore", _text("gitignore"))
    of_reports = "_of_reports" if has_tasks else ""
    shown = data.relative_to(project) if data.is_relative_to(project) else data.resolve()
    write_whole(data / "README.md", _text(f"README{of_reports}.md").format(name=name))
    write_whole(conf, _text(f"benchmark{of_reports}.yaml").format(name=name, data=shown))
    write_stages(project, name)
    screen.note(f"Written: {shown}, with the {'task' if has_tasks else 'scenario'} example")
    screen.note(f"Written: conf/benchmark/{name}.yaml")
    screen.note("Next:")
    screen.note(f"  staffbench run benchmark={name}")
    more = " --report FILE" if has_tasks else ""
    screen.note(f"  staffbench new {name}/SCENARIO --documents FOLDER{more}")
    return 0


def _copy_options(source: Path, target: Path) -> None:
    """Copy the options that come with staffbench: of a clone those that git has, not somebody's own."""
    known = tracked_files(source)

    def others(folder: str, names: list[str]) -> list[str]:
        paths = [Path(folder, name) for name in names]
        return [path.name for path in paths if known and path.is_file() and path not in known]

    shutil.copytree(source, target, ignore=others)


def _text(name: str) -> str:
    return (_PACKAGE / "new" / name).read_text(encoding="utf-8")


def _new_scenario(  # noqa: PLR0917 -- the parts of a scenario
    project: Path, name: str, scenario_id: str, documents: Path, report: Path | None, screen: Screen
) -> int:
    benchmark = compose_points(project, [f"benchmark={name}"], multirun=False)[0].settings.benchmark
    has_tasks = benchmark.protocol is ProtocolName.mission_report
    folder = project / benchmark.data / scenario_id
    if folder.exists():
        raise ConfigError(folder, "is already there", "another name")
    if has_tasks and report is None:
        raise ConfigError(f"new {name}/{scenario_id}", "no expert's report", "--report FILE.docx")
    if report is not None and not has_tasks:
        raise ConfigError("--report", f"{name} is a benchmark of briefs", "no --report")
    files, left = _listed(documents)
    title = scenario_id.replace("_", " ").capitalize()
    if report is not None:
        files = [file for file in files if file.resolve() != report.resolve()]
        copies = write_own_task(folder, title, files, report)
        sheet = stages_folder(project, benchmark) / f"{scenario_id}.xlsx"
    else:
        copies = _write_scenario(folder, title, files)
        sheet = folder / "rubric.xlsx"
    dimensions = CRITERIA if has_tasks else benchmark.dimensions or MA_BENCH
    write_rows(sheet, [], dimensions, [file.name for file in files])
    screen.note(f"Written: {display_path(folder)}")
    for file, why in left:
        screen.note(f"Not copied: {file.name}: {why}")
    write_stages(project, name)
    # The copies are what a fault is corrected in.
    unread = _show_reading([copies / file.name for file in files], scenario_id, screen)
    if not has_tasks and not unread:
        screen.note(f"All of it: staffbench packets benchmark={name} --show {scenario_id}")
    if has_tasks:
        for error in unread:  # no fault: the writer of a report opens the files itself
            screen.fault(f"Not read: {error}")
        screen.note(f"Next: write the assignment in {display_path(folder / INSTRUCTION)}")
        screen.note(f"and the criteria in {display_path(sheet)}, then")
    else:
        screen.note("Next: write the assignment in scenario.yaml and the items in rubric.xlsx, then")
    screen.note(f"  staffbench rubric import {name}/{scenario_id} {display_path(sheet)}")
    if unread and not has_tasks:
        raise Problems.of(f"{scenario_id}: packet not built", unread)
    return 0


def _write_scenario(folder: Path, title: str, files: Sequence[Path]) -> Path:
    """Write the scenario; return the folder of the copied documents."""
    copies = folder / "documents"
    try:
        copies.mkdir(parents=True)
        for file in files:
            shutil.copyfile(file, copies / file.name)
    except OSError as error:
        raise StoreError(error.filename or folder, f"can't be written ({error.strerror})") from error
    names = [file.name for file in files]
    head = {"scenario_id": folder.name, "title": title, "synthetic": False, **SCENARIO, "documents": names}
    text = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=110)
    write_whole(folder / "scenario.yaml", text)
    write_whole(folder / "rubric.yaml", "[]\n")
    return copies


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


def _show_reading(files: Sequence[Path], scenario_id: str, screen: Screen) -> list[StaffbenchError]:
    """Print what each reader saw, page by page; return what they could not read."""
    documents: list[Document] = []
    unread: list[StaffbenchError] = []
    for file in files:
        try:
            documents.append(read_guarded(file, on_progress=screen.say))
        except StaffbenchError as error:
            unread.append(error)
    rows = [("document", "part", "blocks", "characters")]
    for document in documents:
        rows += _parts(document)
    screen.table(f"{scenario_id}: what the readers see", rows)
    for document in documents:
        for notice in document.notices:
            screen.note(f"{document.name}, {notice.place}: {notice.kind}: {notice.detail}")
    return unread


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
