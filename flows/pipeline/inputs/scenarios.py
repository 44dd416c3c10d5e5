"""Scenarios from task trees, and the documents of any scenario."""

import csv
import functools
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flows.adapters.task_trees.index import IndexRow, index_files, read_indexes, rows_by_task, with_index
from flows.adapters.task_trees.safe_files import read_text
from flows.adapters.task_trees.tree import read_task
from flows.common.errors import Problems, ScenarioError, StaffbenchError
from flows.pipeline.inputs.submission_check import check_report
from flows.schema.report_task import Criterion, ReportStatus, ReportTask
from flows.schema.scenario import Control, Evidence, Item, Scenario

ORACLE = "oracle"
"""The control that submits the expert's report."""
CONTROL_REPORTS = ("fair", "weak", "hostile")
"""Labelled reports of a task: `<controls>/<task>/<name>.docx`, with `labels.csv` in the same folder."""


def source_files(scenario: Scenario) -> list[tuple[str, str]]:
    """Name of each document and its path in the scenario's folder, in packet order."""
    if scenario.task is not None:
        return [(attachment.name, attachment.path) for attachment in scenario.task.attachments]
    return [(name, f"documents/{name}") for name in scenario.documents]


def load_task(folder: Path, controls: Path | None) -> Scenario:
    """Load a task tree as a scenario: its criteria are the items, the expert's report is the reference.

    What only the release's index says, such as the published mean, is taken from there.

    Args:
        folder: the task's folder.
        controls: folder of its labelled reports; None or a missing folder for none.

    Raises:
        StaffbenchError: lists every error in the tree or a control.
    """
    task = read_task(folder)
    files = index_files(folder.parent)
    row = _rows(tuple((file, file.stat().st_mtime_ns) for file in files)).get(folder.name.casefold())
    task = task if row is None else with_index(task, row)
    golden = folder / task.golden_path
    scenario = report_scenario(task.task_id, task.title, task.criteria, golden)
    assert scenario.reference is not None  # report_scenario raises without a text
    oracle = Control(ORACLE, scenario.reference, {item.item_id: True for item in scenario.items}, str(golden))
    labelled = {} if controls is None else _controls(controls, scenario.items)
    return replace(
        scenario,
        assignment="\n\n".join(step.instruction.strip() for step in task.steps),
        documents=tuple(attachment.name for attachment in task.attachments),
        controls={ORACLE: oracle, **labelled},
        synthetic=task.unused.get("task.toml: metadata.synthetic") is True,
        licence=str(task.unused.get("task.toml: metadata.licence") or "not stated"),
        task=task,
    )


@functools.lru_cache(maxsize=4)
def _rows(files: tuple[tuple[Path, int], ...]) -> Mapping[str, IndexRow]:
    """Read an index once for all of its tasks; the times tell a changed file."""
    return rows_by_task(read_indexes([file for file, _ in files]))


def report_scenario(
    scenario_id: str, title: str | None, criteria: Sequence[Criterion], golden: Path
) -> Scenario:
    """Build a scenario that reports can be graded by, without assignment, documents and controls.

    Raises:
        ScenarioError: the expert's report is missing, corrupt or empty.
        ReadError: the reader failed.
    """
    report = check_report(golden)
    if report.text is None:
        raise ScenarioError(
            golden,
            f"the expert's report is {report.status.value}: {report.reason}",
            "a readable report with text: judges compare with it",
        )
    return Scenario(
        scenario_id=scenario_id,
        title=title or scenario_id,
        items=tuple(_item(criterion) for criterion in criteria),
        reference=report.text,
        reference_file=str(golden),
    )


def _item(criterion: Criterion) -> Item:
    return Item(
        item_id=criterion.criterion_id,
        step=None,
        tier=None,
        severity=None,
        requirement=criterion.criterion,
        source=() if criterion.source is None else (Evidence("", criterion.source),),
        rationale=criterion.justification or "",
        points=criterion.points,
    )


def _controls(folder: Path, items: tuple[Item, ...]) -> dict[str, Control]:
    files = {name: folder / f"{name}.docx" for name in CONTROL_REPORTS if (folder / f"{name}.docx").is_file()}
    if not files:
        return {}
    path = folder / "labels.csv"
    problems: list[StaffbenchError] = []
    rows = list(csv.DictReader(io.StringIO(read_text(folder, path.name))))
    labelled = [str(row.get("criterion_id")) for row in rows]
    if sorted(labelled) != sorted(item.item_id for item in items):
        odd = sorted(set(labelled) ^ {item.item_id for item in items}) or ["a repeated criterion"]
        problems.append(ScenarioError(path, f"labels differ in {', '.join(odd)}", "one for each criterion"))
    found: dict[str, Control] = {}
    for name, file in files.items():
        wrong = [str(row.get("criterion_id")) for row in rows if row.get(name) not in ("pass", "fail")]
        if wrong:
            problems.append(ScenarioError(path, f"{name} of {', '.join(wrong)}", "pass or fail"))
        report = check_report(file)
        if report.status is not ReportStatus.readable or report.text is None:
            problems.append(ScenarioError(file, f"{report.status.value}: {report.reason}", "a report"))
            continue
        labels = {str(row["criterion_id"]): row.get(name) == "pass" for row in rows}
        found[name] = Control(name, report.text, labels, str(file))
    if problems:
        raise Problems.of(folder, problems)
    return found


def task_of(scenario: Scenario) -> ReportTask:
    """Return the task of a scenario.

    Raises:
        ValueError: the scenario is no task.
    """
    if scenario.task is None:
        raise ValueError(f"{scenario.scenario_id} is no task")
    return scenario.task
