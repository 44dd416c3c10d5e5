"""`staffbench rubric`: write a scenario's rubric as a spreadsheet, and read it back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.rubrics import FileRow, read_published, read_rows, to_yaml, write_rows
from flows.adapters.scenario_files import load_scenario
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.schema.rubric_row import FIELDS, RowFault, read_item
from flows.schema.scenario import MA_BENCH, Dimensions, Item
from flows.schema.settings import BenchmarkSettings, ProtocolName
from flows.stages.rubric import absent_notes, rubric_notes

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
    published = read_published(file, example) if file.suffix.lower() != ".xlsx" and file.is_file() else None
    if published is None and example is not None:
        raise ConfigError(
            "--example", "no published rubric", "a file of HealthBench, PRBench or MissionReport"
        )
    rows = read_rows(file, documents) if published is None else published.rows
    if published is not None:
        _refuse_lacking(rows, benchmark, dimensions, _FORMS[published.form])
    items = _checked(rows, file, documents, dimensions)
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
        raise ConfigError(scenario_id, f"no such scenario in {benchmark.data}", f"one of these: {found}")
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
    """Reject once what no row of a published rubric has and the benchmark asks for."""
    has = {name for row in rows for name in row.fields}
    lacking = [name for name in FIELDS if name not in has and name not in (*dimensions.optional, "points")]
    steps = list(dict.fromkeys(str(row.fields["step"]) for row in rows if "step" in row.fields))
    problems: list[StaffbenchError] = []
    if lacking:
        wanted = ", ".join([*dimensions.optional, *lacking])
        problems.append(
            ConfigError(
                f"benchmark={benchmark.name}",
                f"asks for {', '.join(lacking)}, which rubrics of {form} do not have",
                "a benchmark whose items may lack them",
                f"set benchmark.dimensions.optional: [{wanted}]",
            )
        )
    if any(step not in dimensions.steps for step in steps):
        problems.append(
            ConfigError(
                f"benchmark={benchmark.name}",
                f"has other steps than this rubric: {', '.join(steps)}",
                "the same steps",
                f"set benchmark.dimensions.steps: [{', '.join(steps)}]",
            )
        )
    if problems:
        raise Problems.of(form, problems)


def _checked(
    rows: Sequence[FileRow], file: Path, documents: Sequence[str], dimensions: Dimensions
) -> list[Item]:
    """Return the items, or raise every fault of the rows."""
    items: dict[str, Item] = {}
    places: dict[str, str] = {}
    faults: dict[RowFault, list[str]] = {}
    for row in rows:
        item, wrong = read_item(row.fields, documents, dimensions)
        for fault in wrong:
            faults.setdefault(fault, []).append(row.where(fault.field))
        if item is None:
            continue
        where = row.where("item_id")
        if item.item_id in items:
            again = RowFault("item_id", f"{item.item_id!r}, as in {places[item.item_id]}", "each id once")
            faults.setdefault(again, []).append(where)
        items[item.item_id], places[item.item_id] = item, where
    problems: list[StaffbenchError] = []
    for fault, found in faults.items():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        problems.append(
            ScenarioError(file.name, f"{found[0]}{more}: {fault.field}: {fault.found}", fault.expected)
        )
    if not rows:
        problems.append(ScenarioError(file.name, "no item", "one row an item, below the row of names"))
    elif not problems and not any(not item.is_error for item in items.values()):
        problems.append(ScenarioError(file.name, "nothing but wrong moves", "what a brief should say, too"))
    if problems:
        raise Problems.of(file.name, problems)
    return list(items.values())
