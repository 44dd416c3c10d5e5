"""Validation of task trees, their index and their labelled reports."""

from pathlib import Path

from flows.adapters.screen import Screen
from flows.adapters.task_trees.check import WORDS, check_tasks
from flows.adapters.task_trees.index import index_files, index_path, index_row, read_indexes, write_index
from flows.adapters.task_trees.tree import task_ids
from flows.common.errors import StaffbenchError
from flows.common.text import plural
from flows.pipeline.inputs.scenarios import load_task
from flows.schema.settings import BenchmarkSettings


def validate_tasks(
    project: Path, benchmark: BenchmarkSettings, screen: Screen, *, write: bool, strict: bool = False
) -> list[StaffbenchError]:
    """Check every task tree, the index if it exists, and the labelled reports."""
    data = project / benchmark.data
    names = task_ids(data, benchmark.scenarios)
    problems: list[StaffbenchError] = []
    rows = ()
    files = [] if write else index_files(data)
    try:
        rows = read_indexes(files)
    except StaffbenchError as error:
        problems.append(error)
    found = check_tasks([data / name for name in names], rows, strict=strict)
    problems += found.problems
    controls = None if benchmark.controls is None else project / benchmark.controls
    for task in found.tasks:
        try:
            scenario = load_task(data / task.task_id, controls and controls / task.task_id)
        except StaffbenchError as error:
            problems.append(error)
            continue
        screen.note(f"{task.task_id}: controls {', '.join(scenario.controls)}")
    screen.table(f"{benchmark.name}: tasks", found.table(), words=WORDS)
    screen.note(found.totals())
    for note in found.notes:
        screen.note(note)
    if files and rows:
        screen.note(f"Index: {', '.join(map(str, files))}")
    if write and not problems:
        index = index_path(data)
        write_index(index, [index_row(task, f"tasks/{task.task_id}") for task in found.tasks])
        screen.note(f"Index of {plural(len(found.tasks), 'task')} written: {index}")
    return problems
