"""Rows of tables that take little memory: verdicts as columns, and briefs without their texts."""

# pyarrow ships no types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import pyarrow as pa
import pyarrow.compute as pc

from flows.adapters.tables import BRIEFS, VERDICTS, parse_arrow, read_arrow, read_column, read_parquet
from flows.schema.rows import from_rows
from flows.schema.verdict import Verdict, VerdictStatus

TEXTS = ("scenario_id", "item_id", "status", "mode", "reason")
"""Columns of texts in `VerdictRows.table`, each a dictionary."""


class VerdictRows(Sequence[Verdict]):
    """The verdicts of a file, in file order. A table of millions takes a tenth of the memory of records.

    Attributes:
        table: a `pyarrow.Table` with `TEXTS`, `seed` and `passed`.
    """

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def read(cls, path: Path) -> tuple[VerdictRows, dict[str, Any]]:
        """Read a file of verdicts; return them with its metadata.

        Raises:
            StoreError: as `read_arrow`.
        """
        table, about = read_arrow(path, VERDICTS, TEXTS)
        return cls(table.select([*TEXTS, "seed", "passed"])), about

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> VerdictRows:
        """Return verdicts as columns."""
        if isinstance(verdicts, VerdictRows):
            return verdicts
        names = (*TEXTS, "seed", "passed")
        schema = pa.schema([VERDICTS.field(name) for name in names])
        table = pa.table({name: [getattr(v, name) for v in verdicts] for name in names}, schema)
        for at, name in enumerate(TEXTS):
            table = table.set_column(at, name, table.column(name).dictionary_encode())
        return cls(table)

    def frame(self) -> Any:
        """Return a pandas frame: texts as categories, `passed` as 1, 0 or NaN."""
        table = self.table.unify_dictionaries()
        passed = table.column("passed").cast(pa.int8()).cast(pa.float64())
        frame = table.drop_columns(["passed"]).to_pandas(use_threads=False)
        return frame.assign(passed=passed.to_numpy())

    def with_status(self, statuses: Iterable[VerdictStatus]) -> VerdictRows:
        """Return the verdicts with one of these statuses, still as columns."""
        wanted = pa.array([status.value for status in statuses], pa.string())
        status = self.table.column("status").cast(pa.string())
        return VerdictRows(self.table.filter(pc.is_in(status, value_set=wanted)))

    @cached_property
    def _records(self) -> list[Verdict]:
        return from_rows(Verdict, self.table.to_pylist())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self._records)

    @overload
    def __getitem__(self, place: int) -> Verdict: ...
    @overload
    def __getitem__(self, place: slice) -> list[Verdict]: ...
    def __getitem__(self, place: int | slice) -> Verdict | list[Verdict]:
        """Return one record, or several."""
        return self._records[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # pyright: ignore[reportAssignmentType]


class BriefRows(Sequence[Mapping[str, Any]]):
    """The rows of a file of briefs, in file order, without the column `text`.

    The texts of a sweep of ten thousand briefs take 200 MB. The file is kept as it was read, compressed, and
    its texts are decoded when somebody asks for them.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], content: bytes) -> None:
        self._rows = rows
        self._content = content

    @classmethod
    def read(cls, path: Path) -> tuple[BriefRows, dict[str, Any]]:
        """Read a file of briefs; return them with its metadata.

        Raises:
            StoreError: as `read_arrow`.
        """
        content = read_parquet(path)
        table, about = parse_arrow(path, content, BRIEFS, without=("text",))
        return cls(table.to_pylist(), content), about

    def whole(self) -> list[Mapping[str, Any]]:
        """Return the rows with their texts."""
        texts = read_column(self._content, "text")
        return [{**row, "text": text} for row, text in zip(self._rows, texts, strict=True)]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        """Return one row, or several."""
        return self._rows[place]
