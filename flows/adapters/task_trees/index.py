"""The Parquet index of a release: one row per task, with the columns of the specification.

It may be one file or several shards: `tasks.parquet` beside the folder `tasks/`, or Parquet files in `data/`
beside it, where releases put them.

The release documents names and meanings, not types. Written files have the types below; read ones may also
have integers for points and JSON texts for lists.
"""

# pyarrow ships no types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from flows.adapters.task_trees.rubric import criteria_of
from flows.adapters.task_trees.safe_files import parse_json
from flows.common.errors import Problems, ScenarioError, StaffbenchError
from flows.common.files import write_whole
from flows.common.untrusted import inside
from flows.schema.report_task import Criterion, ReportTask, RubricTotals

_TEXTS = ("task_id", "title", "report_family", "setting", "reader", "length_limit", "prompt")
_PATHS = ("golden_report_path", "instruction_path", "rubric_path", "task_path")
_OF_TASK = (*_TEXTS, "grading_guidance", "mean_score_pct")  # columns that a task has under the same name
_COUNTS = ("num_attachments", "rubric_count", "penalty_count")  # of the rubric, penalties included
_POINTS = ("positive_points", "penalty_points")  # both as positive numbers

SCHEMA: Any = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=name != "task_id") for name in _TEXTS),
        pa.field("attachments", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
        *(pa.field(name, pa.int64(), nullable=False) for name in _COUNTS),
        *(pa.field(name, pa.float64(), nullable=False) for name in _POINTS),
        pa.field("rubric", pa.string(), nullable=False),  # JSON list of criteria
        pa.field("grading_guidance", pa.string(), nullable=True),
        pa.field("mean_score_pct", pa.float64(), nullable=True),
        *(pa.field(name, pa.string(), nullable=False) for name in _PATHS),
    ]
)
"""The columns of the index, in the specification's order."""

MAX_ROWS = 10_000
MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A row of the index.

    Attributes:
        task_id, title, report_family, setting, reader, length_limit, prompt, grading_guidance,
        mean_score_pct: as in `ReportTask`.
        attachments: paths of the source files.
        criteria: parsed from `rubric`.
        golden_report_path, instruction_path, rubric_path, task_path: relative to the index's folder or the
            task's, as in the release.
        unused: unknown columns with their values.
        file: the file that the row was read from.
    """

    task_id: str
    title: str | None
    report_family: str | None
    setting: str | None
    reader: str | None
    length_limit: str | None
    prompt: str | None
    grading_guidance: str | None
    mean_score_pct: float | None
    attachments: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    golden_report_path: str
    instruction_path: str
    rubric_path: str
    task_path: str
    unused: Mapping[str, Any] = field(default_factory=dict[str, Any])
    file: Path = field(default=Path(), compare=False)


def index_path(data: Path) -> Path:
    """Return the path where our own index of a task folder is written: beside the folder."""
    return data.with_suffix(".parquet")


def index_files(data: Path) -> list[Path]:
    """Return the files of a task folder's index, sorted; empty if it has none."""
    own = index_path(data)
    return [own] if own.is_file() else sorted((data.parent / "data").rglob("*.parquet"))


def rows_by_task(rows: Iterable[IndexRow]) -> dict[str, IndexRow]:
    """Return the rows by the name of the task's folder: the id may have capital letters."""
    return {PurePosixPath(row.task_path).name.casefold(): row for row in rows}


def read_indexes(paths: Sequence[Path]) -> tuple[IndexRow, ...]:
    """Read an index from all of its files.

    Raises:
        Problems: as `read_index`; a task in two files.
    """
    found: dict[str, IndexRow] = {}
    for path in paths:
        for row in read_index(path):
            first = found.setdefault(row.task_id, row)
            if first is not row:
                raise _problem(path, f"task {row.task_id!r}, also in {first.file}", "each task once")
    return tuple(found.values())


def with_index(task: ReportTask, row: IndexRow) -> ReportTask:
    """Add what only the index says about a task; the tree takes precedence."""
    missing = {name: getattr(row, name) for name in _OF_TASK if getattr(task, name) is None}
    unused = {f"{row.file.name}: {name}": value for name, value in row.unused.items()}
    return replace(task, **missing, unused={**task.unused, **unused})


def read_index(path: Path) -> tuple[IndexRow, ...]:
    """Read an index from a Parquet file, in file order.

    Raises:
        Problems: all errors by row and column: a missing column, a wrong type, counts and points that differ
            from the rubric, a path out of the folder, a duplicate task.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _problem(path, f"over {MAX_BYTES:,} bytes", "an index")
        file = pq.ParquetFile(pa.BufferReader(path.read_bytes()))
        if file.metadata.num_rows > MAX_ROWS:
            raise _problem(path, f"over {MAX_ROWS:,} rows", "an index")
        rows = _rows(file, path)
        names: list[str] = file.schema_arrow.names
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise _problem(path, f"not readable as Parquet ({error})") from error
    missing = [name for name in SCHEMA.names if name not in names]
    if missing:
        raise _problem(path, f"no column {', '.join(missing)}", f"the columns {', '.join(SCHEMA.names)}")
    problems: list[StaffbenchError] = []
    found = [_row(row, path, number, problems) for number, row in enumerate(rows, 1)]
    ids = Counter(row.task_id for row in found if row is not None)
    twice = sorted(name for name, count in ids.items() if count > 1)
    problems += [ScenarioError(path, f"task {name!r} twice", "each task once") for name in twice]
    if problems:
        raise Problems.of(path, problems)
    return tuple(row for row in found if row is not None)


def _problem(path: Path, found: str, expected: str = "") -> Problems:
    return Problems.of(path, [ScenarioError(path, found, expected)])


def _rows(file: Any, path: Path) -> list[dict[str, Any]]:
    """Read all rows in batches, as a small file can unpack to any size."""
    rows: list[dict[str, Any]] = []
    size = 0
    for batch in file.iter_batches(batch_size=8, use_threads=False):
        size += batch.nbytes
        if size > MAX_BYTES:
            raise _problem(path, f"unpacks to over {MAX_BYTES:,} bytes", "an index")
        rows += batch.to_pylist()
    return rows


def _row(row: dict[str, Any], path: Path, number: int, problems: list[StaffbenchError]) -> IndexRow | None:
    before, where = len(problems), f"{path}: row {number}"

    def fault(column: str, found: str, expected: str) -> None:
        problems.append(ScenarioError(where, f"{column} {found}", expected))

    texts = _texts(row, fault)
    attachments = _list(row["attachments"], "attachments", where, fault)
    for name in attachments:
        if not isinstance(name, str) or inside(name) is None:
            fault("attachments", f"name {name!r}", "relative paths that stay below the index's folder")
    extra: dict[str, Any] = {}
    criteria = criteria_of(_list(row["rubric"], "rubric", where, fault), f"{where}: rubric", problems, extra)
    mean = row["mean_score_pct"]
    if mean is not None and not (isinstance(mean, (int, float)) and 0 <= mean <= 100):  # noqa: PLR2004
        fault("mean_score_pct", f"is {mean!r}", "a number from 0 to 100, or null")
    if len(problems) == before:
        _counts(row, len(attachments), RubricTotals.of(criteria), fault)
    if len(problems) > before:
        return None
    fields: dict[str, Any] = {**texts, "mean_score_pct": None if mean is None else float(mean)}
    return IndexRow(
        **fields,
        attachments=tuple(attachments),
        criteria=criteria,
        unused={
            **{name: value for name, value in row.items() if name not in SCHEMA.names},
            **{f"rubric: {name}": values for name, values in extra.items()},
        },
        file=path,
    )


def _texts(row: dict[str, Any], fault: Any) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    for name in (*_TEXTS, "grading_guidance", *_PATHS):
        value = row[name]
        texts[name] = value if isinstance(value, str) and value else None
        if value is not None and not isinstance(value, str):
            fault(name, f"is a {type(value).__name__}", "text")
        elif texts[name] is None and name in ("task_id", *_PATHS):
            fault(name, "is missing", "text")
        elif name in _PATHS and inside(str(value)) is None:
            fault(name, f"is {value!r}", "a relative path that stays below the index's folder")
    return texts


def _list(value: Any, column: str, where: str, fault: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = parse_json(value, f"{where}: {column}")
        except ScenarioError as error:
            fault(column, f"is {error.found}", "a JSON list")
            return []
    if not isinstance(value, list):
        fault(column, "is missing" if value is None else f"is a {type(value).__name__}", "a list")
    return cast("list[Any]", value) if isinstance(value, list) else []


def _counts(row: dict[str, Any], attachments: int, totals: RubricTotals, fault: Any) -> None:
    # The release does not say whether counts include penalties, nor the sign of their points.
    expected: dict[str, tuple[float, ...]] = {
        "num_attachments": (attachments,),
        "rubric_count": (totals.criteria, totals.criteria - totals.penalties),
        "penalty_count": (totals.penalties,),
        "positive_points": (totals.positive_points,),
        "penalty_points": (totals.penalty_points, -totals.penalty_points),
    }
    for name, values in expected.items():
        if isinstance(row[name], bool) or row[name] not in values:
            fault(name, f"is {row[name]!r}", f"{values[0]:g}, as the row's own lists come to")


def index_row(task: ReportTask, task_path: str) -> IndexRow:
    """Convert a task to a row of an index; `task_path` is its folder from there, `tasks/psr-01`."""
    return IndexRow(
        **{name: getattr(task, name) for name in _OF_TASK},
        attachments=tuple(f"{task_path}/{each.path}" for each in task.attachments),
        criteria=task.criteria,
        golden_report_path=f"{task_path}/{task.golden_path}",
        instruction_path=f"{task_path}/{task.steps[0].instruction_path}",
        rubric_path=f"{task_path}/{task.rubric_path}",
        task_path=task_path,
    )


def write_index(path: Path, rows: Iterable[IndexRow]) -> None:
    """Write an index atomically, sorted by task; equal rows give equal bytes.

    Raises:
        StoreError: it can't be written.
    """
    ordered = sorted(rows, key=lambda row: row.task_id)
    table = pa.Table.from_pylist([_entry(row) for row in ordered], schema=SCHEMA)
    write_whole(path, lambda part: pq.write_table(table, part, compression="zstd", version="2.6"))


def _entry(row: IndexRow) -> dict[str, Any]:
    totals = RubricTotals.of(row.criteria)
    return {
        **{name: getattr(row, name) for name in (*_OF_TASK, *_PATHS)},
        "attachments": list(row.attachments),
        "num_attachments": len(row.attachments),
        "rubric_count": totals.criteria,
        "penalty_count": totals.penalties,
        "positive_points": totals.positive_points,
        "penalty_points": totals.penalty_points,
        "rubric": rubric_json(row.criteria),
    }


def rubric_json(criteria: Sequence[Criterion]) -> str:
    """Serialize criteria as a JSON list with the documented fields; integral points without `.0`."""
    rows = [
        {**asdict(each), "points": int(each.points) if each.points.is_integer() else each.points}
        for each in criteria
    ]
    return json.dumps(rows, ensure_ascii=False)
