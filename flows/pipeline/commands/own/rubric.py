"""`staffbench rubric`: write a scenario's rubric as a spreadsheet, and read it back."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.rubrics import FileRow, read_published, read_rows, to_yaml, write_rows
from flows.adapters.scenario_files import check_scenario
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.pipeline.commands.own.task import RUBRIC
from flows.pipeline.evaluate.showing import display_path
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.work.evaluations import kind_of
from flows.schema.document import Packet
from flows.schema.rubric_row import FIELDS, TEXTS, RowFault, fields_of, read_item
from flows.schema.scenario import CRITERIA, MA_BENCH, Dimensions, Evidence, Item
from flows.schema.settings import BenchmarkSettings
from flows.stages.packet import missing_quotes
from flows.stages.rubric import absent_notes, rubric_notes

_NAMED = 5  # cells with the same fault
_FORMS = {"healthbench": "HealthBench", "prbench": "PRBench", "mission_report": "MissionReport"}


def export_rubric(
    project: Path, overrides: Sequence[str], scenario: str, output: Path, screen: Screen
) -> int:
    """Write a scenario's rubric to `output`, in the format of its suffix.

    Raises:
        StaffbenchError: no such scenario, a faulty rubric, or the file can't be written.
    """
    benchmark, folder = _chosen(project, overrides, scenario)
    found = kind_of(benchmark).load(project, benchmark, folder.name)
    write_rows(output, found.items, _dimensions(benchmark), found.documents)
    screen.note(f"Written: {output} ({plural(str(len(found.items)), 'item')})")
    return 0


def import_rubric(
    project: Path,
    overrides: Sequence[str],
    scenario: str,
    file: Path,
    screen: Screen,
    *,
    example: str | None = None,
) -> int:
    """Replace a rubric by the items of a file, or of a task its criteria. A row with a fault prevents it.

    Raises:
        StaffbenchError: every fault, with its cell; equal ones of many rows are one line.
    """
    benchmark, folder = _chosen(project, overrides, scenario)
    dimensions, has_tasks = _dimensions(benchmark), kind_of(benchmark).has_tasks
    documents = () if has_tasks else _documents(folder)
    problems: list[StaffbenchError] = []
    published = read_published(file, example) if file.suffix.lower() != ".xlsx" and file.is_file() else None
    if published is None and example is not None:
        raise ConfigError(
            "--example", "no published rubric", "a file of HealthBench, PRBench or MissionReport"
        )
    rows = read_rows(file, documents, problems) if published is None else published.rows
    if published is not None:
        rows = [replace(row, fields=_taken(row, is_task=has_tasks)) for row in rows]
        _refuse_lacking(rows, benchmark, dimensions, _FORMS[published.form])
    data = project / benchmark.data
    packet = None if has_tasks else _packet(data, benchmark.name, folder, dimensions, screen)

    def read(row: FileRow) -> tuple[Item | None, list[RowFault]]:
        if has_tasks:
            return _criterion(row, dimensions)
        item, wrong = read_item(row.fields, documents, dimensions)
        if item is not None and packet is not None:
            wrong += [RowFault("source", found, fit) for _, found, fit in missing_quotes([item], packet)]
        return item, wrong

    items = _checked(rows, file, read, problems)
    written = folder / (RUBRIC if has_tasks else "rubric.yaml")
    write_whole(written, _criteria(items) if has_tasks else to_yaml(items))
    of_form = "" if published is None else f" from {_FORMS[published.form]}"
    screen.note(f"Written: {display_path(written)} ({plural(str(len(items)), 'item')}{of_form})")
    for note in () if has_tasks else (*absent_notes(items, dimensions), *rubric_notes(items, dimensions)):
        screen.note(f"- {note}")
    screen.note(f"Next: staffbench validate benchmark={benchmark.name}")
    return 0


def _dimensions(benchmark: BenchmarkSettings) -> Dimensions:
    return CRITERIA if kind_of(benchmark).has_tasks else benchmark.dimensions or MA_BENCH


def _chosen(project: Path, overrides: Sequence[str], scenario: str) -> tuple[BenchmarkSettings, Path]:
    name, slash, scenario_id = scenario.rpartition("/")
    chosen = [f"benchmark={name}", *overrides] if slash else overrides
    benchmark = compose_points(project, chosen, multirun=False)[0].settings.benchmark
    data, head = project / benchmark.data, "task.toml" if kind_of(benchmark).has_tasks else "scenario.yaml"
    folder = data / scenario_id
    if Path(scenario_id).name != scenario_id or not (folder / head).is_file():
        found = ", ".join(sorted(file.parent.name for file in data.glob(f"*/{head}"))) or "none yet"
        make = f"first make it: staffbench new {benchmark.name}/{scenario_id or 'NAME'} --documents FOLDER"
        raise ConfigError(
            scenario_id, f"no such scenario in {benchmark.data}", f"one of these: {found}", make
        )
    return benchmark, folder


def _documents(folder: Path) -> list[str]:
    """Return the documents' names; the rubric itself may be missing or faulty, since it is replaced."""
    try:
        head = yaml.safe_load((folder / "scenario.yaml").read_text(encoding="utf-8"))
        return [str(name) for name in head["documents"]]
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError) as error:
        raise ScenarioError(
            folder / "scenario.yaml", "no list of documents", "a readable scenario.yaml"
        ) from error


def _taken(row: FileRow, *, is_task: bool) -> dict[str, Any]:
    """Return what is taken of a published criterion: tasks have no classes, items no free source."""
    left = ("step",) if is_task else ("source",)
    return {name: value for name, value in row.fields.items() if name not in left}


def _criterion(row: FileRow, dimensions: Dimensions) -> tuple[Item | None, list[RowFault]]:
    """Return the criterion of a report task; its source is a text that nothing is held against."""
    fields = dict(row.fields)
    lines = cast("list[dict[str, str]]", fields.pop("source", []))
    source = "\n".join(": ".join(filter(None, (one["document"], one["quote"]))) for one in lines)
    item, wrong = read_item(fields, (), dimensions)
    for name in TEXTS:
        if name not in fields_of(dimensions) and fields.get(name) not in (None, ""):
            expected = "nothing here: a criterion is graded by its requirement"
            wrong.append(RowFault(name, repr(fields[name]), expected))
    if wrong:
        return None, wrong
    if item is not None and source:
        item = replace(item, source=(Evidence("", source),))
    return item, wrong


def _criteria(items: Sequence[Item]) -> str:
    rows = [
        {
            "criterion_id": item.item_id,
            "points": item.points,
            "polarity": "negative" if item.is_error else "positive",
            "criterion": item.requirement,
            "source": item.source[0].quote if item.source else None,
            "justification": item.rationale or None,
        }
        for item in items
    ]
    kept = [{key: value for key, value in row.items() if value is not None} for row in rows]
    return json.dumps({"criteria": kept}, ensure_ascii=False, indent=2) + "\n"


def _refuse_lacking(
    rows: Sequence[FileRow], benchmark: BenchmarkSettings, dimensions: Dimensions, form: str
) -> None:
    """Reject once what no row of a published rubric has and the benchmark asks for; say what to write."""
    has = {name for row in rows for name in row.fields}
    lacking = [name for name in FIELDS if name not in has and name not in (*dimensions.optional, "points")]
    steps = list(dict.fromkeys(str(row.fields["step"]) for row in rows if "step" in row.fields))
    other = any(step not in dimensions.steps for step in steps)
    if not lacking and not other:
        return
    asked = f"asks for {', '.join(lacking)}, which rubrics of {form} do not have" if lacking else ""
    own = f"has other steps than this rubric: {', '.join(steps)}" if other else ""
    wanted = replace(
        dimensions,
        steps=tuple(steps) if other else dimensions.steps,
        optional=(*dimensions.optional, *lacking),
    )
    lines = [f"    {name}: [{', '.join(values)}]" for name, values in asdict(wanted).items()]
    raise ConfigError(
        f"benchmark={benchmark.name}",
        " and ".join(filter(None, (asked, own))),
        remedy="run with scoring=points, delete the scenario `example` if it is still there, and put these "
        f"lines in place of the line with `dimensions` in conf/benchmark/{benchmark.name}.yaml:\n"
        + "\n".join(["  dimensions:", *lines]),
    )


def _packet(
    data: Path, benchmark: str, folder: Path, dimensions: Dimensions, screen: Screen
) -> Packet | None:
    """Return the packet that quotes are held against; None, with a note, if a document can't be read."""
    scenario, _ = check_scenario(folder, dimensions)
    try:
        if scenario is not None:
            return load_packet(folder, scenario, packet_path(data, benchmark, folder.name), screen.say)
    except StaffbenchError as error:
        screen.fault(str(error))
    screen.note("Quotes were not looked for: staffbench validate does it once every document can be read.")
    return None


def _checked(
    rows: Sequence[FileRow],
    file: Path,
    read: Callable[[FileRow], tuple[Item | None, list[RowFault]]],
    problems: list[StaffbenchError],
) -> list[Item]:
    """Return the items, or raise every fault of the rows, after those that reading them has found."""
    items: list[Item] = []
    places: dict[str, str] = {}
    faults: dict[RowFault, list[str]] = {}
    for row in rows:
        item, wrong = read(row)
        where, item_id = row.where("item_id"), row.fields.get("item_id")
        if item_id in places:
            wrong.append(RowFault("item_id", f"{item_id!r}, as in {places[item_id]}", "each id once"))
        if isinstance(item_id, str):
            places.setdefault(item_id, where)
        for fault in wrong:
            if fault.field not in row.unread:
                faults.setdefault(fault, []).append(row.where(fault.field))
        items += [] if item is None else [item]
    for fault, found in faults.items():
        named = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if found[_NAMED:] else "")
        problems.append(ScenarioError(file.name, f"{named}: {fault.field}: {fault.found}", fault.expected))
    if not rows:
        problems.append(ScenarioError(file.name, "no item", "one row an item, below the row of names"))
    elif not problems and all(item.is_error for item in items):
        problems.append(ScenarioError(file.name, "nothing but wrong moves", "what a brief should say, too"))
    if problems:
        raise Problems.of(file.name, problems)
    return items
