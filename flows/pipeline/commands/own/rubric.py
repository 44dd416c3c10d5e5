"""`staffbench rubric`: write a scenario's rubric as a spreadsheet, and read it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.rubrics import FileRow, read_published, read_rows, to_yaml, write_rows
from flows.adapters.scenario_files import check_scenario, load_scenario
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.schema.document import Packet
from flows.schema.rubric_row import FIELDS, RowFault, read_item
from flows.schema.scenario import MA_BENCH, Dimensions, Item
from flows.schema.settings import BenchmarkSettings, ProtocolName
from flows.stages.packet import missing_quotes
from flows.stages.rubric import absent_notes, rubric_notes

_NAMED = 5  # cells with the same fault
_FORMS = {"healthbench": "HealthBench", "prbench": "PRBench", "mission_report": "MissionReport"}


def export_rubric(
    project: Path, overrides: Sequence[str], scenario_id: str, output: Path, screen: Screen
) -> int:
    """Write a scenario's rubric to `output`, in the format of its suffix.

    Raises:
        StaffbenchError: no such scenario, a faulty rubric, or the file can't be written.
    """
    benchmark = _benchmark(project, overrides)
    dimensions = benchmark.dimensions or MA_BENCH
    scenario = load_scenario(_folder(project, benchmark, scenario_id), dimensions)
    write_rows(output, scenario.items, dimensions, scenario.documents)
    screen.note(f"Written: {output} ({plural(str(len(scenario.items)), 'item')})")
    return 0


def import_rubric(
    project: Path,
    overrides: Sequence[str],
    scenario_id: str,
    file: Path,
    screen: Screen,
    *,
    example: str | None = None,
) -> int:
    """Replace a scenario's `rubric.yaml` by the items in a file. Nothing is written if a row has a fault.

    Args:
        project: folder that holds `conf/`.
        overrides: which benchmark.
        scenario_id: the scenario.
        file: a rubric of ours, or one of HealthBench, PRBench or MissionReport as published.
        screen: output.
        example: of a published file with several examples.

    Raises:
        StaffbenchError: every fault, with its cell; equal ones of many rows are one line.
    """
    benchmark = _benchmark(project, overrides)
    dimensions = benchmark.dimensions or MA_BENCH
    folder = _folder(project, benchmark, scenario_id)
    documents = _documents(folder)
    problems: list[StaffbenchError] = []
    published = read_published(file, example) if file.suffix.lower() != ".xlsx" and file.is_file() else None
    if published is None and example is not None:
        raise ConfigError(
            "--example", "no published rubric", "a file of HealthBench, PRBench or MissionReport"
        )
    rows = read_rows(file, documents, problems) if published is None else published.rows
    if published is not None:
        _refuse_lacking(rows, benchmark, dimensions, _FORMS[published.form])
    packet = _packet(project / benchmark.data, benchmark.name, folder, dimensions, screen)

    def read(row: FileRow) -> tuple[Item | None, list[RowFault]]:
        item, wrong = read_item(row.fields, documents, dimensions)
        if item is not None and packet is not None:
            wrong += [RowFault("source", found, fit) for _, found, fit in missing_quotes([item], packet)]
        return item, wrong

    items = _checked(rows, file, read, problems)
    write_whole(folder / "rubric.yaml", to_yaml(items))
    of_form = "" if published is None else f" from {_FORMS[published.form]}"
    screen.note(
        f"Written: {folder.relative_to(project)}/rubric.yaml ({plural(str(len(items)), 'item')}{of_form})"
    )
    for note in (*absent_notes(items, dimensions), *rubric_notes(items, dimensions)):
        screen.note(f"- {note}")
    screen.note(f"Next: staffbench validate benchmark={benchmark.name}")
    return 0


def _benchmark(project: Path, overrides: Sequence[str]) -> BenchmarkSettings:
    benchmark = compose_points(project, overrides, multirun=False)[0].settings.benchmark
    if benchmark.protocol is not ProtocolName.ma_bench:
        raise ConfigError(
            f"benchmark={benchmark.name}",
            "its rubrics are parts of Harbor tasks",
            "a benchmark of scenarios",
            "edit the task's tests/fixtures/rubric.json",
        )
    return benchmark


def _folder(project: Path, benchmark: BenchmarkSettings, scenario_id: str) -> Path:
    data = project / benchmark.data
    folder = data / scenario_id
    if Path(scenario_id).name != scenario_id or not (folder / "scenario.yaml").is_file():
        found = ", ".join(sorted(file.parent.name for file in data.glob("*/scenario.yaml"))) or "none yet"
        make = f"first make it: staffbench new {benchmark.name}/{scenario_id or 'NAME'} --documents FOLDER"
        raise ConfigError(
            scenario_id, f"no such scenario in {benchmark.data}", f"one of these: {found}", make
        )
    return folder


def _documents(folder: Path) -> list[str]:
    """Return the documents' names; the rubric itself may be missing or faulty, since it is replaced."""
    try:
        head = yaml.safe_load((folder / "scenario.yaml").read_text(encoding="utf-8"))
        return [str(name) for name in head["documents"]]
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError) as error:
        raise ScenarioError(
            folder / "scenario.yaml", "no list of documents", "a readable scenario.yaml"
        ) from error


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
    lines = [f"  {name}: [{', '.join(values)}]" for name, values in asdict(wanted).items()]
    raise ConfigError(
        f"benchmark={benchmark.name}",
        " and ".join(filter(None, (asked, own))),
        remedy=f"run with scoring=points, and write into conf/benchmark/{benchmark.name}.yaml, below "
        + "\n".join(["`benchmark:` where it has that line:", "dimensions:", *lines]),
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
