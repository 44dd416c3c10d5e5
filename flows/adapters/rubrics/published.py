"""Rubrics as other benchmarks publish them: HealthBench, PRBench and MissionReport.

HealthBench (Arora et al. 2025): JSON lines, one example each, with `rubrics`: a list of `criterion`, `points`
and `tags`. PRBench (Akyürek et al. 2025): one task each, with `rubric`: a list of `id`, `title` and
`annotations`, where `weight_class` names the class and `<class>_weight` its points. MissionReport: a task's
`rubric.json` or `config.json`, or the index of tasks: a list of criteria with points.
"""

# pyarrow ships no types:
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from flows.adapters.rubrics.files import FileRow
from flows.common.errors import ConfigError, ScenarioError
from flows.readers.text.decode import decoded


@dataclass(frozen=True, slots=True)
class Published:
    """The rubric of one example."""

    form: str  # `healthbench`, `prbench` or `mission_report`
    example: str  # name of the example in its file; empty if the file has none
    rows: Sequence[FileRow]  # items with points of their own


def read_published(path: Path, example: str | None) -> Published | None:
    """Read the rubric of one example (JSON, JSON lines or Parquet); None for a file of another form.

    `example` is its name or number (from 1); None if the file holds one.

    Raises:
        ConfigError: no such example, or several and none named.
        ScenarioError: the file can't be read, or a criterion lacks its text or points.
    """
    records = _records(path)
    found = [(form, record) for record in records if (form := _form(record)) is not None]
    if not found or len(found) != len(records):
        return None
    names = [_name(record) or str(number) for number, (_, record) in enumerate(found, 1)]
    if example is None and len(found) > 1:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")  # noqa: PLR2004 -- names in a message
        raise ConfigError("--example", f"{len(found)} examples in {path.name}", f"one of {shown}")
    at = 0
    if example is not None:
        if example not in names and not (example.isdigit() and 1 <= int(example) <= len(names)):
            raise ConfigError("--example", repr(example), f"a name in {path.name}, or 1 to {len(names)}")
        at = names.index(example) if example in names else int(example) - 1
    form, record = found[at]
    criteria = cast("list[object]", record["rubrics"] if form == "healthbench" else _rubric(record))
    rows = [_READ[form](row, number, path) for number, row in enumerate(criteria, 1)]
    return Published(form, names[at] if len(found) > 1 else "", rows)


def _records(path: Path) -> list[dict[str, Any]]:
    if path.suffix.lower() == ".parquet":
        try:
            file: Any = pq.ParquetFile(pa.BufferReader(path.read_bytes()))
            return cast("list[dict[str, Any]]", file.read(use_threads=False).to_pylist())
        except (OSError, ValueError) as error:
            raise ScenarioError(path, f"can't be read ({error})", "Parquet") from error
    if path.suffix.lower() not in (".json", ".jsonl"):
        return []
    try:
        text, _ = decoded(path.read_bytes(), path)
    except OSError as error:
        raise ScenarioError(path, f"can't be read ({error.strerror})", "a readable file") from error
    try:
        values = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if path.suffix.lower() == ".jsonl"
            else json.loads(text)
        )
    except (ValueError, RecursionError):
        return []  # what reads it as a plain rubric says where it is broken
    listed = cast("list[object]", values if isinstance(values, list) else [values])
    if listed and all(isinstance(value, dict) and "criterion_id" in value for value in listed):
        return [{"rubric": listed}]  # rubric.json of a MissionReport task
    return [cast("dict[str, Any]", value) for value in listed if isinstance(value, dict)]


def _form(record: Mapping[str, Any]) -> str | None:
    if isinstance(record.get("rubrics"), list):
        return "healthbench"
    rubric = _rubric(record)
    if not isinstance(rubric, list) or not rubric:
        return None
    first = cast("list[object]", rubric)[0]
    return "prbench" if isinstance(first, dict) and "annotations" in first else "mission_report"


def _rubric(record: Mapping[str, Any]) -> object:
    """Return the list of criteria, which MissionReport's index holds as JSON in a string."""
    value = record.get("rubric")
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return None
    return value


def _name(record: Mapping[str, Any]) -> str:
    return str(record.get("prompt_id") or record.get("task") or record.get("task_id") or "")


def _healthbench(row: object, number: int, path: Path) -> FileRow:
    fields = _mapping(row, number, path)
    tags = [str(tag) for tag in cast("list[object]", fields.get("tags") or [])]
    axis = next((tag.removeprefix("axis:") for tag in tags if tag.startswith("axis:")), None)
    return _row(number, fields.get("criterion"), fields.get("points"), axis, ", ".join(tags), path)


def _prbench(row: object, number: int, path: Path) -> FileRow:
    fields = _mapping(row, number, path)
    notes = _mapping(fields.get("annotations"), number, path)
    name = "_".join(str(notes.get("weight_class") or "").lower().split())
    points = notes.get(f"{name}_weight")
    if isinstance(points, int | float) and "detrimental" in name:
        points = -abs(points)
    category = str(notes.get("criteria_category") or "") or None
    why = str(notes.get("criteria_description") or "")
    return _row(number, fields.get("title"), points, category, why, path, fields.get("id"))


def _mission_report(row: object, number: int, path: Path) -> FileRow:
    fields = _mapping(row, number, path)
    text = fields.get("criterion") or fields.get("requirement")
    why = str(fields.get("justification") or "")
    row = _row(number, text, fields.get("points"), None, why, path, fields.get("criterion_id"))
    source = fields.get("source")
    taken = {"source": [{"document": "", "quote": source.strip()}]} if isinstance(source, str) else {}
    return FileRow({**row.fields, **taken}, row.place)


_READ = {"healthbench": _healthbench, "prbench": _prbench, "mission_report": _mission_report}


def _mapping(value: object, number: int, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScenarioError(path, f"criterion {number} is a {type(value).__name__}", "an object")
    return cast("dict[str, Any]", value)


def _row(  # noqa: PLR0917 -- the fields of a criterion
    number: int, text: object, points: object, step: str | None, why: str, path: Path, item_id: object = None
) -> FileRow:
    if not isinstance(text, str) or not text.strip():
        raise ScenarioError(path, f"criterion {number} has no text", "what is asked for")
    if (
        isinstance(points, bool)
        or not isinstance(points, int | float)
        or not points
        or not math.isfinite(points)
    ):
        raise ScenarioError(path, f"criterion {number} has {points!r} points", "a number other than 0")
    fields: dict[str, Any] = {
        "item_id": str(item_id) if item_id else f"c{number:03d}",
        "points": points,
        "requirement": text.strip(),
    }
    if step:
        fields["step"] = "_".join(step.lower().replace("&", "and").split())
    if why.strip():
        fields["rationale"] = why.strip()
    return FileRow(fields, f"criterion {number}")
