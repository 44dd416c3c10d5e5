"""Rubrics as spreadsheets, CSV, JSON and JSON lines: one row an item, the same columns in each."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from flows.adapters.rubrics.workbook import EXPECTED, Sheet, Unusable, read_workbook, write_workbook
from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.common.files import write_whole
from flows.readers.text.decode import decoded
from flows.schema.rubric_row import FIELDS, fields_of
from flows.schema.scenario import Dimensions, Item

SUFFIXES = (".xlsx", ".csv", ".json", ".jsonl")
_WIDTH = 110  # of lines in YAML


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file."""

    # Values by field; texts are trimmed, `source` is a list of `document` and `quote`.
    fields: Mapping[str, Any]
    place: str  # where the row is, as `row 23`
    # Where each field is, as `Items!F23`; without the fields of formats that have no cells.
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    unread: AbstractSet[str] = frozenset()  # fields whose cells hold neither text nor number

    def where(self, name: str) -> str:
        """Return the place of a field."""
        return self.places.get(name) or (f"{self.place}: {name}" if name else self.place)


def read_rows(
    path: Path, documents: Sequence[str], problems: list[StaffbenchError] | None = None
) -> list[FileRow]:
    """Read the rows of a rubric: `.xlsx`, `.csv` (comma, semicolon or tab), `.json` (a list) or `.jsonl`.

    The column `source` is read by the names of the scenario's documents. Unknown columns and unusable cells
    are added to `problems`; None raises them together.

    Raises:
        ConfigError: no such file, or another format.
        StaffbenchError: the file can't be read, or lacks the columns of every rubric.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(path, f"a {suffix or 'file without a suffix'}", f"one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise ConfigError(path, "no such file", "a rubric")
    if suffix in (".json", ".jsonl"):
        return _json_rows(path, documents)
    table = read_workbook(path) if suffix == ".xlsx" else _csv_cells(path)
    faults: list[StaffbenchError] = [] if problems is None else problems
    heads = _heads(table, path, faults)
    rows: list[FileRow] = []
    for number, cells in enumerate(table.rows[1:], 1):
        values = {name: cells[column] if column < len(cells) else None for column, name in heads.items()}
        if any(value is not None and str(value).strip() for value in values.values()):
            places = {name: table.place(number, column) for column, name in heads.items()}
            bad = {name: value for name, value in values.items() if isinstance(value, Unusable)}
            faults += [
                ScenarioError(path.name, f"{places[name]}: {name}: {value}", EXPECTED)
                for name, value in bad.items()
            ]
            typed = _typed({name: value for name, value in values.items() if name not in bad}, documents)
            rows.append(FileRow(typed, f"row {number + 1}", places, frozenset(bad)))
    if problems is None and faults:
        raise Problems.of(path.name, faults)
    return rows


def _heads(table: Sheet, path: Path, problems: list[StaffbenchError]) -> dict[int, str]:
    """Return the field of each column by the first row; unknown ones are added to `problems`."""
    heads: dict[int, str] = {}
    for column, cell in enumerate(table.rows[0] if table.rows else ()):
        name = "_".join(str(cell or "").lower().split())
        if name in FIELDS and name not in heads.values():
            heads[column] = name
        elif cell is not None and str(cell).strip():
            expected = "each column once" if name in FIELDS else f"one of {', '.join(FIELDS)}"
            problems.append(ScenarioError(path.name, f"{table.place(0, column)}: {cell!r}", expected))
    if lacking := [name for name in ("item_id", "requirement") if name not in heads.values()]:
        found = f"no {'column' if len(lacking) == 1 else 'columns'} {' and '.join(lacking)}"
        problems.append(ScenarioError(path.name, found, "a first row with the columns' names"))
        raise Problems.of(path.name, problems)
    return heads


def _csv_cells(path: Path) -> Sheet:
    text, _ = decoded(_bytes(path), path)
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)  # programs in many languages write semicolons
    try:
        return Sheet(None, list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)))
    except csv.Error as error:
        fit = "CSV with quotes around texts of several lines"
        raise ScenarioError(path, f"not CSV: {error}", fit) from error


def _json_rows(path: Path, documents: Sequence[str]) -> list[FileRow]:
    text, _ = decoded(_bytes(path), path)
    lines = path.suffix.lower() == ".jsonl"
    values: list[object] = []
    try:
        for line in text.splitlines() if lines else [text]:
            values += [json.loads(line)] if line.strip() or not lines else []
        if not lines and isinstance(values[0], list):
            values = cast("list[object]", values[0])
    except (ValueError, RecursionError) as error:
        place = f"line {len(values) + 1}: " if lines else ""
        raise ScenarioError(path, f"{place}not JSON ({error})", "a list of items, or one a line") from error
    rows: list[FileRow] = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            fit = "an object with the fields"
            raise ScenarioError(path, f"item {number} is a {type(value).__name__}", fit)
        fields = {str(key): each for key, each in cast("dict[object, Any]", value).items()}
        rows.append(FileRow(_typed(fields, documents), f"item {number}"))
    return rows


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(path, f"can't be read ({error.strerror})", "a readable file") from error


def _typed(values: Mapping[str, Any], documents: Sequence[str]) -> dict[str, Any]:
    """Give cells the types of a rubric: numbers may be texts, ids may be numbers."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        given: Any = value
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if isinstance(given, str):
            given = given.replace("\r\n", "\n").replace("\r", "\n").strip() or None
        if name in ("tier", "points"):
            given = _number(given)
        elif name == "source" and isinstance(given, str):
            given = _source(given, documents)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            given = str(given)
        if given is not None:
            found[name] = given
    return found


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        number = float(value.replace("\u2212", "-"))
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def _source(text: str, documents: Sequence[str]) -> object:
    """Read lines of `document: quote`; a line that names no document goes on with the quote before it."""
    found: list[dict[str, str]] = []
    for line in text.split("\n"):
        names = [name for name in documents if line.startswith(f"{name}:")]
        if names:
            name = max(names, key=len)
            found.append({"document": name, "quote": line[len(name) + 1 :].strip()})
        elif found:
            found[-1]["quote"] = f"{found[-1]['quote']} {line.strip()}".strip()
        elif line.strip():
            document, _, quote = line.partition(":")
            found.append({"document": document.strip(), "quote": quote.strip()})
    return found


def write_rows(path: Path, items: Sequence[Item], dimensions: Dimensions, documents: Sequence[str]) -> None:
    """Write a rubric in the format of the file's suffix (see `read_rows`); an existing file is replaced.

    A workbook offers the classes of `dimensions` in drop-down lists, and lists the documents.

    Raises:
        ConfigError: another suffix.
        StaffbenchError: the file can't be written, or a text doesn't fit into a cell.
    """
    match path.suffix.lower():
        case ".xlsx":
            rows = [_flat(item) for item in items]
            write_whole(path, lambda part: write_workbook(part, rows, dimensions, documents, path))
        case ".csv":
            out = io.StringIO()
            writer: csv.DictWriter[str] = csv.DictWriter(
                out, fields_of(dimensions), extrasaction="ignore", lineterminator="\r\n"
            )
            writer.writeheader()
            writer.writerows(_flat(item) for item in items)
            write_whole(path, "\ufeff" + out.getvalue())  # by the mark Excel knows UTF-8
        case ".json":
            write_whole(
                path, json.dumps([as_fields(item) for item in items], indent=1, ensure_ascii=False) + "\n"
            )
        case ".jsonl":
            lines = (json.dumps(as_fields(item), ensure_ascii=False) + "\n" for item in items)
            write_whole(path, "".join(lines))
        case other:
            raise ConfigError(path, f"a {other or 'file without a suffix'}", f"one of {', '.join(SUFFIXES)}")


def as_fields(item: Item) -> dict[str, Any]:
    """Return an item as it stands in `rubric.yaml`: by field, without what it lacks."""
    values = {name: getattr(item, name) for name in FIELDS}
    values["source"] = [{"document": one.document, "quote": one.quote} for one in item.source]
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def to_yaml(items: Sequence[Item]) -> str:
    """Return the items as the text of a `rubric.yaml`."""
    rows = [as_fields(item) for item in items]
    return yaml.safe_dump(rows, allow_unicode=True, sort_keys=False, width=_WIDTH)


def _flat(item: Item) -> dict[str, Any]:
    lines = [": ".join(filter(None, (one.document, " ".join(one.quote.split())))) for one in item.source]
    return {**as_fields(item), "source": "\n".join(lines)}
