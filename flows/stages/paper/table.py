"""A table: its rows, what its columns mean, and the formats that it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

import numpy as np
import pandas as pd

from flows.common.text import number, percent, words

Kind = Literal["text", "name", "count", "share", "number", "signed", "p"]
"""How a value is printed: a `name` such as `higher_guidance` as words, a share as percent,
`number` and `signed` with three digits, `p` with four."""

TABLE_ENDINGS = ("parquet", "csv", "md", "tex")
"""Of the files that a table is written to."""

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{char: f"${char}$" for char in "<>|"},
}
_LONGEST_PRINTED = 400


@dataclass(frozen=True)
class Column:
    """A column."""

    name: str  # key in Parquet and CSV
    head: str  # heading in Markdown and LaTeX; empty to leave the column out there
    kind: Kind = "number"  # of its values
    unknown: str = "-"  # what is printed where there is no value

    @property
    def is_text(self) -> bool:
        """True if its values are no numbers."""
        return self.kind in ("text", "name")


def of_kind(kind: Kind, /, **heads: str) -> tuple[Column, ...]:
    """Return columns of one kind from their names and headings."""
    return tuple(Column(name, head, kind) for name, head in heads.items())


CAP = Column("word_cap", "cap, words", "count", unknown="none")
"""The word cap of a condition."""

NAMED = of_kind("text", condition="", name="model")
"""Columns of a condition: the key, and the name that is printed."""


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    title: str  # what it shows, one line
    columns: Sequence[Column]  # in order
    frame: pd.DataFrame  # the rows, with the columns' names; an unknown value is NaN or None
    notes: Sequence[str] = ()  # sentences under the table

    def __post_init__(self) -> None:
        missing = {column.name for column in self.columns} - set(self.frame.columns)
        if missing:
            raise ValueError(f"{self.title}: no column {', '.join(sorted(missing))}")

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[Column],
        rows: pd.DataFrame | Sequence[Mapping[str, object]],
        *notes: str,
    ) -> Table:
        """Make a table of a frame, or of rows that may lack columns."""
        if not isinstance(rows, pd.DataFrame):
            rows = pd.DataFrame(rows).reindex(columns=[column.name for column in columns])
        return cls(title, columns, rows, notes)


def render(table: Table) -> Mapping[str, bytes]:
    """Return a table as Parquet, CSV, Markdown and LaTeX, by the ending of the file.

    Parquet and CSV have every row and full precision; a share is a fraction. Markdown and LaTeX print shares
    in percent and rounded numbers. An unknown value is null, an empty cell or a dash.
    """
    frame = _typed(table)
    parquet = BytesIO()
    frame.to_parquet(parquet, index=False, compression="zstd")
    return {
        "parquet": parquet.getvalue(),
        "csv": frame.to_csv(index=False, lineterminator="\n").encode(),
        "md": _markdown(table, frame).encode(),
        "tex": _latex(table, frame).encode(),
    }


def _typed(table: Table) -> pd.DataFrame:
    """Return the columns in order, with types that tell unknown from a number."""
    found: dict[str, Any] = {}
    for column in table.columns:
        values = table.frame[column.name]
        if column.kind == "count":
            found[column.name] = pd.to_numeric(values).round().astype("Int64")
        elif column.is_text:
            found[column.name] = values.astype(object).where(values.notna(), None).astype("string")
        else:
            numbers = pd.to_numeric(values).astype("float64").replace([np.inf, -np.inf], np.nan)
            found[column.name] = numbers.astype("Float64")
    return pd.DataFrame(found).reset_index(drop=True)


def cells(table: Table, frame: pd.DataFrame | None = None) -> list[list[str]]:
    """Return the printed cells, headings first."""
    frame = _typed(table) if frame is None else frame
    shown = [column for column in table.columns if column.head]
    columns = [[_cell(value, column) for value in frame[column.name]] for column in shown]
    return [[column.head for column in shown], *map(list, zip(*columns, strict=True))]


def _cell(value: Any, column: Column) -> str:
    kind = column.kind
    if pd.isna(value):
        return column.unknown
    if column.is_text:
        text = " ".join((words(str(value)) if kind == "name" else str(value)).split())
        return text if len(text) <= _LONGEST_PRINTED else text[: _LONGEST_PRINTED - 3] + "..."
    shown: dict[Kind, str] = {
        "count": f"{value:,.0f}",
        "share": percent(float(value)),
        "signed": f"{value:+z.3f}",
        "p": "<0.0001" if 0 <= value < 0.00005 else number(float(value), 4),  # noqa: PLR2004 -- four digits
    }
    return shown.get(kind, number(float(value), 3))


def _markdown(table: Table, frame: pd.DataFrame) -> str:
    head, *rows = cells(table, frame)
    marks = [":--" if column.is_text else "--:" for column in table.columns if column.head]
    lines = [" | ".join(map(_plain, row)) for row in (head, marks, *rows)]
    body = "\n".join(f"| {line} |" for line in lines)
    notes = "".join(f"\n- {_plain(note)}" for note in table.notes)
    return f"# {_plain(table.title)}\n\n{body}\n" + (f"{notes}\n" if notes else "")


def _plain(text: str) -> str:
    """Escape what would be markup: reasons and requirements are data."""
    for char in "\\`*_[]<>|":
        text = text.replace(char, f"\\{char}")
    return text


def _latex(table: Table, frame: pd.DataFrame) -> str:
    head, *rows = cells(table, frame)
    kinds = "".join("l" if column.is_text else "r" for column in table.columns if column.head)
    lines = [" & ".join(map(_tex, row)) + r" \\" for row in rows]
    notes = " ".join(_tex(note) for note in table.notes)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs,longtable}",
            rf"\begin{{longtable}}{{{kinds}}}",
            rf"\caption{{{_tex(table.title)}.{' ' + notes if notes else ''}}} \\",
            r"\toprule",
            " & ".join(map(_tex, head)) + r" \\",
            r"\midrule",
            r"\endhead",
            *lines,
            r"\bottomrule",
            r"\end{longtable}",
            "",
        ]
    )


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, char) for char in text)


def slug(text: str) -> str:
    """Return a text as part of a column name."""
    return "".join(char if char.isalnum() else "_" for char in text.lower()).strip("_")
