"""Parquet tables with declared schemas, validated on write.

Rows are sorted and have no timestamps, so equal results have equal bytes.

Parquet is read here, as everywhere, with `use_threads=False`: a thread of pyarrow's that still holds
Python's bytes when the interpreter ends aborts the process, after the command has done its work
(github.com/apache/arrow/issues/34314).
"""

# pyarrow ships no types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

import json
import re
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

SCHEMA_VERSION = "2"  # increment when a column changes its name, type or meaning

_TYPES: dict[str, Any] = {"": pa.string(), "int": pa.int64(), "bool": pa.bool_(), "float": pa.float64()}


def _schema(columns: str) -> Any:
    """Return the schema of a list of columns: `name` of texts, `name:type` of others, `?` if null is allowed.

    A remark behind `#` on a line of its own column is shown in `docs/reference/files.md`.
    """
    fields: list[Any] = []
    for column in re.sub("#.*", "", columns).split():
        name, _, kind = column.removesuffix("?").partition(":")
        fields.append(pa.field(name, _TYPES[kind], nullable=column.endswith("?")))
    return pa.schema(fields)


BLOCKS = _schema("""
    scenario_id document_number:int document media sha256 reader number:int
    is_notice:bool  # True: a notice, not part of the text
    kind place level:int? text
""")
BRIEFS = _schema("""
    condition benchmark model effort word_cap:int? prompt harness scenario_id seed:int status text?
    words_raw:int? words_kept:int? cut:bool cut_by_provider:bool word_counter completion?
    report?  # sha256 of the report's file, for what is one
    detail
""")
REPORTS = _schema("""
    condition harness scenario_id seed:int status report?
    ended  # how the attempt ended: finished, or the limit that it reached
    n_calls:int  # replies of the model
    word_rule
    words:int?  # those that count against a limit: the four that follow
    words_body:int? words_tables:int? words_notes:int? words_text_boxes:int?
    words_outside:int?  # in headers and footers
    word_limit:int?  # of the task; null where it names none
    pages:int?  # null where they were not measured
    page_limit:int?
    renderer?  # how the pages were counted, or why they were not
    detail
""")
TRAJECTORIES = _schema("""
    condition scenario_id seed:int
    turn:int  # from 1
    event  # JSON: what the model said and called, and what it was answered
""")
JUDGE_CHATS = _schema("""
    condition judge scenario_id seed:int
    repeat:int  # of the judge, from 1; `seed` is the report's
    turn:int event  # as of an attempt
""")
VERDICTS = _schema("""
    condition judge scenario_id seed:int item_id
    step?  # these three are an item's; null for a criterion
    tier:int? severity?
    points:float?  # a criterion's; null for an item
    status passed:bool? mode? reason
""")
REPEATS = _schema("""
    condition judge scenario_id seed:int item_id
    repeat:int  # of the judge, from 1; `seed` is the brief's
    status passed:bool? mode? reason
""")
SCORES = _schema("""
    condition judge scoring scenario_id seed:int brief_status score:float? score_clamped:float?
    score_low:float score_high:float correct:float? passed:float? wrong:int?
    n_items:int n_graded:int n_refused:int n_unparsed:int n_error:int
""")

# These are in exports only.
SCENARIOS = _schema("""
    scenario_id title assignment synthetic:bool licence
    reference?  # the expert's report of a task
""")
ITEMS = _schema("""
    scenario_id number:int item_id step? tier:int? severity? points:float? wrong_move:bool
    requirement ground_truth pass_condition fail_condition rationale
""")
EVIDENCE = _schema("scenario_id item_id number:int document quote")


def arrow_table(schema: Any, rows: Iterable[Mapping[str, Any]], sort_by: Sequence[str]) -> Any:
    """Return rows as a `pyarrow.Table`, sorted."""
    return pa.Table.from_pylist(sorted(rows, key=itemgetter(*sort_by)), schema=schema)


def with_text(schema: Any, name: str) -> Any:
    """Return a schema with one more column, of texts."""
    return schema.append(pa.field(name, pa.string(), nullable=False))


def write_table(
    path: Path,
    schema: Any,
    rows: Sequence[Mapping[str, Any]],
    sort_by: Sequence[str],
    about: Mapping[str, Any],
) -> None:
    """Write rows, in any order, sorted and atomically; `about` is stored as JSON in the file's metadata.

    Rows with other columns, wrong types or unexpected nulls are rejected.

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

    Columns in `texts` are read as dictionaries, which repeated texts fit in.

    Raises:
        StoreError: it is not such a file, is damaged or has another schema.
    """
    return parse_arrow(path, read_parquet(path), schema, texts)


def read_parquet(path: Path) -> bytes:
    """Return the content of a file from `write_table`, for `parse_arrow`.

    Raises:
        StoreError: it can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def parse_arrow(
    path: Path, content: bytes, schema: Any, texts: Sequence[str] = (), *, without: Sequence[str] = ()
) -> tuple[Any, dict[str, Any]]:
    """Read the content of a file at `path`, but for the columns in `without`; see `read_arrow`."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=list(texts) or None)
        found, names = file.schema_arrow.metadata or {}, file.schema_arrow.names
        version = found.get(b"schema_version", b"").decode() or None
        if version != SCHEMA_VERSION or names != schema.names:
            raise StoreError(
                path, f"schema version {version}", f"version {SCHEMA_VERSION}", "delete it and run again"
            )
        table = file.read([name for name in names if name not in without], use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error
    return table, json.loads(found[b"staffbench"])


def read_column(content: bytes, name: str) -> list[Any]:
    """Return one column of a file's content that `parse_arrow` has read."""
    table = pq.ParquetFile(pa.BufferReader(content)).read([name], use_threads=False)
    return table.column(name).to_pylist()


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(path, f"not readable as Parquet ({error})", remedy="delete it and run again")


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
