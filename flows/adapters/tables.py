"""Parquet tables with declared schemas, validated on write.

Rows are sorted and have no timestamps, so equal results have equal bytes.
"""

# pyarrow ships no types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from flows.common.digests import canonical_json
from flows.common.errors import StoreError
from flows.common.files import write_whole

SCHEMA_VERSION = "2"
"""Increment when a column changes its name, type or meaning."""


def _schema(**columns: tuple[Any, bool]) -> Any:
    return pa.schema([pa.field(name, kind, nullable=null) for name, (kind, null) in columns.items()])


_TEXT, _INT, _BOOL, _FLOAT = pa.string(), pa.int64(), pa.bool_(), pa.float64()

BLOCKS: Any = _schema(
    scenario_id=(_TEXT, False),
    document_number=(_INT, False),
    document=(_TEXT, False),
    media=(_TEXT, False),
    sha256=(_TEXT, False),
    reader=(_TEXT, False),
    number=(_INT, False),
    is_notice=(_BOOL, False),  # True: a notice, not part of the text
    kind=(_TEXT, False),
    place=(_TEXT, False),
    level=(_INT, True),
    text=(_TEXT, False),
)
BRIEFS: Any = _schema(
    condition=(_TEXT, False),
    benchmark=(_TEXT, False),
    model=(_TEXT, False),
    effort=(_TEXT, False),
    word_cap=(_INT, True),
    prompt=(_TEXT, False),
    harness=(_TEXT, False),
    scenario_id=(_TEXT, False),
    seed=(_INT, False),
    status=(_TEXT, False),
    text=(_TEXT, True),
    words_raw=(_INT, True),
    words_kept=(_INT, True),
    cut=(_BOOL, False),
    cut_by_provider=(_BOOL, False),
    word_counter=(_TEXT, False),
    completion=(_TEXT, True),
    report=(_TEXT, True),  # sha256 of the report's file, for what is one
    detail=(_TEXT, False),
)
REPORTS: Any = _schema(
    condition=(_TEXT, False),
    harness=(_TEXT, False),
    scenario_id=(_TEXT, False),
    seed=(_INT, False),
    status=(_TEXT, False),
    report=(_TEXT, True),
    ended=(_TEXT, False),  # how the attempt ended: finished, or the limit that it reached
    n_calls=(_INT, False),  # replies of the model
    word_rule=(_TEXT, False),
    words=(_INT, True),  # those that count against a limit: the four that follow
    words_body=(_INT, True),
    words_tables=(_INT, True),
    words_notes=(_INT, True),
    words_text_boxes=(_INT, True),
    words_outside=(_INT, True),  # in headers and footers
    word_limit=(_INT, True),  # of the task; null where it names none
    pages=(_INT, True),  # null where they were not measured
    page_limit=(_INT, True),
    renderer=(_TEXT, True),  # how the pages were counted, or why they were not
    detail=(_TEXT, False),
)
TRAJECTORIES: Any = _schema(
    condition=(_TEXT, False),
    scenario_id=(_TEXT, False),
    seed=(_INT, False),
    turn=(_INT, False),  # from 1
    event=(_TEXT, False),  # JSON: what the model said and called, and what it was answered
)
VERDICTS: Any = _schema(
    condition=(_TEXT, False),
    judge=(_TEXT, False),
    scenario_id=(_TEXT, False),
    seed=(_INT, False),
    item_id=(_TEXT, False),
    step=(_TEXT, True),  # these three are an item's; null for a criterion
    tier=(_INT, True),
    severity=(_TEXT, True),
    points=(_FLOAT, True),  # a criterion's; null for an item
    status=(_TEXT, False),
    passed=(_BOOL, True),
    mode=(_TEXT, True),
    reason=(_TEXT, False),
)
REPEATS: Any = _schema(
    condition=(_TEXT, False),
    judge=(_TEXT, False),
    scenario_id=(_TEXT, False),
    seed=(_INT, False),
    item_id=(_TEXT, False),
    repeat=(_INT, False),  # of the judge, from 1; `seed` is the brief's
    status=(_TEXT, False),
    passed=(_BOOL, True),
    mode=(_TEXT, True),
    reason=(_TEXT, False),
)
SCORES: Any = _schema(
    condition=(_TEXT, False),
    judge=(_TEXT, False),
    scoring=(_TEXT, False),
    scenario_id=(_TEXT, False),
    seed=(_INT, False),
    brief_status=(_TEXT, False),
    score=(_FLOAT, True),
    score_clamped=(_FLOAT, True),
    score_low=(_FLOAT, False),
    score_high=(_FLOAT, False),
    correct=(_FLOAT, True),
    passed=(_FLOAT, True),
    wrong=(_INT, True),
    n_items=(_INT, False),
    n_graded=(_INT, False),
    n_refused=(_INT, False),
    n_unparsed=(_INT, False),
    n_error=(_INT, False),
)

SCENARIOS: Any = _schema(  # this one and the next two are in exports only
    scenario_id=(_TEXT, False),
    title=(_TEXT, False),
    assignment=(_TEXT, False),
    synthetic=(_BOOL, False),
    licence=(_TEXT, False),
    reference=(_TEXT, True),  # the expert's report of a task
)
ITEMS: Any = _schema(
    scenario_id=(_TEXT, False),
    number=(_INT, False),
    item_id=(_TEXT, False),
    step=(_TEXT, True),
    tier=(_INT, True),
    severity=(_TEXT, True),
    points=(_FLOAT, True),
    wrong_move=(_BOOL, False),
    requirement=(_TEXT, False),
    ground_truth=(_TEXT, False),
    pass_condition=(_TEXT, False),
    fail_condition=(_TEXT, False),
    rationale=(_TEXT, False),
)
EVIDENCE: Any = _schema(
    scenario_id=(_TEXT, False),
    item_id=(_TEXT, False),
    number=(_INT, False),
    document=(_TEXT, False),
    quote=(_TEXT, False),
)


def arrow_table(schema: Any, rows: Iterable[Mapping[str, Any]], sort_by: Sequence[str]) -> Any:
    """Return rows as a `pyarrow.Table`, sorted."""
    return pa.Table.from_pylist(sorted(rows, key=itemgetter(*sort_by)), schema=schema)


def with_text(schema: Any, name: str) -> Any:
    """Return a schema with one more column, of texts."""
    return schema.append(pa.field(name, _TEXT, nullable=False))


def write_table(
    path: Path,
    schema: Any,
    rows: Sequence[Mapping[str, Any]],
    sort_by: Sequence[str],
    about: Mapping[str, Any],
) -> None:
    """Write rows atomically.

    Args:
        path: of the file.
        schema: its columns; rows with other columns, wrong types or unexpected nulls are rejected.
        rows: in any order.
        sort_by: columns to sort by.
        about: metadata; stored as JSON in the file's metadata under `staffbench`.

    Raises:
        StoreError: the rows don't fit the schema, or the file can't be written.
    """
    columns = dict.fromkeys(schema.names).keys()
    for row in rows:
        if row.keys() != columns:
            raise StoreError(path, f"row with columns {sorted(row)}", f"{schema.names}")
    metadata = {"staffbench": canonical_json(about), "schema_version": SCHEMA_VERSION}
    try:
        table = arrow_table(schema.with_metadata(metadata), rows, sort_by)
        table.validate(full=True)
        for field in schema:
            if not field.nullable and table.column(field.name).null_count:
                raise StoreError(path, f"null in column {field.name}", "a value in every row")
    except pa.ArrowException as error:
        raise StoreError(path, f"rows that don't fit the schema: {error}") from error
    write_whole(path, lambda part: pq.write_table(table, part, compression="zstd", version="2.6"))


def read_table(path: Path, schema: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Read the rows and the metadata of a file, as `read_arrow` does."""
    table, about = read_arrow(path, schema)
    return table.to_pylist(), about


def read_arrow(path: Path, schema: Any, texts: Sequence[str] = ()) -> tuple[Any, dict[str, Any]]:
    """Read the `pyarrow.Table` and the metadata of a file from `write_table`.

    Args:
        path: of the file.
        schema: that it should have.
        texts: columns that are read as dictionaries, which repeated texts fit in.

    Raises:
        StoreError: it is not such a file, is damaged or has another schema.
    """
    try:
        table = pq.read_table(path, read_dictionary=list(texts) or None)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            path, f"not readable as Parquet ({error})", remedy="delete it and run again"
        ) from error
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    found = metadata.get("schema_version")
    if found != SCHEMA_VERSION or table.schema.names != schema.names:
        raise StoreError(
            path, f"schema version {found}", f"version {SCHEMA_VERSION}", "delete it and run again"
        )
    return table, json.loads(metadata["staffbench"])


def forget_pandas() -> None:
    """Prevent pyarrow from importing pandas in this process.

    pyarrow imports pandas at its first conversion, to recognise its types: 50 MB and 0.3 s of CPU, unneeded
    for plain Python rows. If it is not found once, it is not searched for again.
    """
    if "pandas" in sys.modules:
        return
    blocker = _NoPandas()
    sys.meta_path.insert(0, blocker)
    try:
        pa.array([1])
    finally:
        sys.meta_path.remove(blocker)


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 -- the import system's signature
        if fullname == "pandas":
            raise ImportError(fullname)


def table_files(folder: Path) -> Iterable[Path]:
    """Return Parquet files below `folder`, sorted by path, without partial ones (leading dot)."""
    return sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith("."))
