"""What `staffbench new` leaves to its user to write, and whether it is written."""

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import yaml

from flows.adapters.task_trees.write_text import STEP
from flows.pipeline.work.evaluations import kind_of
from flows.schema.settings import BenchmarkSettings

SCENARIO = {
    "licence": "not stated",
    "notice": "Say here what these documents are, and whether anything in them is invented.",
    "assignment": "You work on the staff of ... Write the mission analysis for ..., from the documents.",
}
INSTRUCTION = f"steps/{STEP}/instruction.md"
ASSIGNMENT = """\
You work on the staff of ... Write the report for ..., on the form among the files. It has at most ... pages.
Say here who reads it, what it is for, and what it must not leave out."""


def unwritten_notes(project: Path, benchmark: BenchmarkSettings) -> list[str]:
    """Name what is still as `staffbench new` wrote it in each scenario or task of a benchmark's."""
    names = kind_of(benchmark).scenario_ids(project, benchmark, benchmark.scenarios)
    found = {name: _unwritten(project / benchmark.data / name) for name in names}
    return [f"{name}: worth another look: {note}." for name, note in found.items() if note]


def _unwritten(folder: Path) -> str:
    """Name what is still as `staffbench new` wrote it in a scenario's or task's folder; empty for nothing."""
    found: list[str] = []
    with suppress(OSError, ValueError, yaml.YAMLError):  # which other checks name
        head: Any = yaml.safe_load((folder / "scenario.yaml").read_text(encoding="utf-8"))
        if isinstance(head, dict):
            values = cast("dict[str, object]", head)
            found += [key for key, value in SCENARIO.items() if str(values.get(key)).strip() == value]
    with suppress(OSError, ValueError):
        if ASSIGNMENT in (folder / INSTRUCTION).read_text(encoding="utf-8"):
            found.append("assignment")
    return f"as staffbench new wrote it, to be replaced: {', '.join(found)}" if found else ""
