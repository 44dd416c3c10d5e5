"""A rubric as an Excel workbook: drop-down lists, a sheet that explains the columns, places of cells."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.cell import Cell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.utils.escape import unescape
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from flows.common.errors import ScenarioError
from flows.schema.rubric_row import fields_of
from flows.schema.scenario import Dimensions

ITEMS = "Items"
_MAX_TEXT = 32_767  # characters that Excel keeps in a cell
_MAX_ROWS = 100_000  # read from a file; a rubric has hundreds
_WIDTHS = {"item_id": 14, "step": 20, "tier": 6, "severity": 22, "points": 8}
_EXPLAINED = {
    "item_id": "A name of the item, once in the rubric.",
    "step": "Area of the brief.",
    "tier": "What the item rests on: the number of one of these: ",
    "severity": "How grave a miss is; it decides the weight. Of a wrong move: how grave it is to make it.",
    "points": "Points of its own, below 0 for a wrong move. Only for an item without a severity.",
    "requirement": "The determination that a brief should make, or the wrong move, in one sentence.",
    "ground_truth": "The truth, complete enough to grade a brief without the documents.",
    "pass_condition": "When the item is passed. A wrong move is passed if the brief does not make it.",
    "fail_condition": "When it is failed.",
    "source": "Where the documents say it: one line each, the document's name, a colon and a quote.",
    "rationale": "Why it matters. The judge does not see it.",
}


EXPECTED = "a text or a number: format the cell as text, then type the value again"
"""What a cell without a usable value should hold."""


class Unusable(str):
    """What a cell holds that is neither text nor number."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cells of one sheet, or of a CSV file, from its first row."""

    name: str | None  # of the sheet; None for CSV
    rows: Sequence[Sequence[object]]  # values by row and column; `Unusable` for a cell that can't be taken

    def place(self, row: int, column: int) -> str:
        """Return the address of a cell, as `Items!F23`; both numbers count from 0."""
        if self.name is None:
            return f"row {row + 1}, column {column + 1}"
        return f"{self.name}!{get_column_letter(column + 1)}{row + 1}"


def read_workbook(path: Path) -> Sheet:
    """Read the sheet `Items`, or the only one.

    A formula counts by the value that was stored with it.

    Raises:
        ScenarioError: no workbook, or no such sheet.
    """
    try:
        book = load_workbook(path, data_only=True)
        formulas = load_workbook(path, data_only=False)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, InvalidFileException) as error:
        raise ScenarioError(path, f"no Excel workbook ({error})", "an .xlsx file") from error
    name = next((name for name in book.sheetnames if name.casefold() == ITEMS.casefold()), None)
    if name is None and len(book.sheetnames) == 1:
        name = book.sheetnames[0]
    if name is None:
        raise ScenarioError(path, f"sheets {', '.join(book.sheetnames)}", f"a sheet named {ITEMS}")
    if (book[name].max_row or 0) > _MAX_ROWS:
        raise ScenarioError(path, f"{book[name].max_row:,} rows", f"at most {_MAX_ROWS:,}")
    both = zip(book[name].iter_rows(), formulas[name].iter_rows(), strict=True)
    rows = [[_value(*pair) for pair in zip(cells, written, strict=True)] for cells, written in both]
    while rows and not any(value is not None for value in rows[-1]):
        rows.pop()
    return Sheet(name, rows)


def _value(cell: Any, formula: Any) -> object:
    """Return the value of a cell, or say what it holds that is neither text nor number."""
    value = cell.value
    if value is None and formula.data_type == "f":
        return Unusable("a formula without a stored value")
    if cell.data_type == "e":
        return Unusable(f"an error, {value}")
    if isinstance(value, time | timedelta):
        return Unusable(f"a time, {value}")
    if isinstance(value, date):
        return Unusable(f"a date, {str(value).removesuffix(' 00:00:00')}")
    return unescape(value) if isinstance(value, str) else value


def write_workbook(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    dimensions: Dimensions,
    documents: Sequence[str],
    named: Path,
) -> None:
    """Write a workbook with the rows, an explanation of the columns and the lists.

    Raises:
        ScenarioError: a text has control characters, or is longer than a cell can hold.
    """
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = ITEMS
    fields = fields_of(dimensions)
    _head(sheet, fields)
    for number, row in enumerate(rows, 2):
        for column, name in enumerate(fields, 1):
            value = row.get(name)
            _fill(sheet.cell(number, column), value, named, f"{row.get('item_id')}: {name}")
    for column, name in enumerate(fields, 1):
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS.get(name, 48)
    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(fields))}{max(2, len(rows) + 1)}"
    _lists(book, sheet, dimensions, documents)
    _explain(book, dimensions)
    book.save(path)


def _head(sheet: Worksheet, names: Sequence[str]) -> None:
    for column, name in enumerate(names, 1):
        cell = sheet.cell(1, column, name)
        cell.font = Font(bold=True, color="FFFFFF")
        cell.fill = PatternFill("solid", fgColor="1F3864")


def _fill(cell: Any, value: object, path: Path, what: str) -> None:
    """Write a value as what it is: a text that begins like a formula stays a text."""
    assert isinstance(cell, Cell)
    if isinstance(value, str):
        if ILLEGAL_CHARACTERS_RE.search(value):
            raise ScenarioError(path, f"{what} has control characters", "text", "export it as .csv or .json")
        if len(value) > _MAX_TEXT:
            raise ScenarioError(
                path,
                f"{what} has {len(value):,} characters",
                f"at most {_MAX_TEXT:,} in a cell",
                "export it as .csv",
            )
        cell.number_format = "@"
        cell.value = value
        cell.data_type = "s"
    elif value is not None:
        cell.value = value  # pyright: ignore[reportAttributeAccessIssue] -- a number
    cell.alignment = Alignment(vertical="top", wrap_text=True)


def _lists(book: Workbook, sheet: Worksheet, dimensions: Dimensions, documents: Sequence[str]) -> None:
    lists = book.create_sheet("Lists")
    classes: dict[str, Sequence[str | int]] = {
        "step": dimensions.steps,
        "tier": range(1, len(dimensions.tiers) + 1),
        "severity": (*dimensions.severities, *dimensions.wrong_moves),
        "documents": documents,
    }
    columns = {name: values for name, values in classes.items() if values}
    _head(lists, list(columns))
    for column, (name, values) in enumerate(columns.items(), 1):
        letter = get_column_letter(column)
        lists.column_dimensions[letter].width = 32
        for row, value in enumerate(values, 2):
            lists.cell(row, column, value)
        if name == "documents":
            continue
        offered = DataValidation(
            type="list", formula1=f"Lists!${letter}$2:${letter}${len(values) + 1}", allow_blank=True
        )
        offered.error = f"One of the sheet Lists, column {name}"
        sheet.add_data_validation(offered)
        place = get_column_letter(fields_of(dimensions).index(name) + 1)
        offered.add(f"{place}2:{place}{_MAX_ROWS}")  # pyright: ignore[reportUnknownMemberType] -- openpyxl has no types


def _explain(book: Workbook, dimensions: Dimensions) -> None:
    sheet = book.create_sheet("Columns")
    _head(sheet, ["column", "what it holds", "may be empty"])
    tiers = "; ".join(f"{number} {name}" for number, name in enumerate(dimensions.tiers, 1))
    for row, name in enumerate(fields_of(dimensions), 2):
        sheet.cell(row, 1, name).font = Font(bold=True)
        text = sheet.cell(row, 2, _EXPLAINED[name] + (tiers if name == "tier" else ""))
        text.alignment = Alignment(vertical="top", wrap_text=True)
        sheet.cell(row, 3, "yes" if name in (*dimensions.optional, "points") else "no")
    for letter, width in (("A", 18), ("B", 90), ("C", 14)):
        sheet.column_dimensions[letter].width = width
