"""Excel files from YAML sources."""

# Basic: the libraries behind the builders ship no complete types.
# pyright: basic
from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import yaml
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] -- lxml ships no types
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill

from builders.markdown import SourceError
from builders.package import AUTHOR, STAMP, repack

ROW_KEYS = ("title_rows", "header_rows", "rows", "note_rows")
LOOK_KEYS = ("formats", "merge", "comments", "widths", "freeze", "hidden", "hidden_columns", "hidden_rows")
SPREADSHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def build_xlsx(path: Path) -> bytes:
    """The Excel file of a YAML source. Raises SourceError where it breaks its format."""
    source = yaml.safe_load(path.read_text(encoding="utf-8"))
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    book.properties.creator = book.properties.lastModifiedBy = AUTHOR
    book.properties.title, book.properties.created = source["title"], STAMP
    edits = {}
    for number, entry in enumerate(source["sheets"], 1):
        unknown = entry.keys() - {"name", *ROW_KEYS, *LOOK_KEYS}
        if unknown:
            raise SourceError(f"{path}: unknown keys in a sheet: {sorted(unknown)}")
        sheet = book.create_sheet(entry["name"])
        stored = _fill(sheet, entry)
        _dress(sheet, entry)
        edits[f"xl/worksheets/sheet{number}.xml"] = partial(_store_values, values=stored)
    buffer = io.BytesIO()
    book.save(buffer)
    return repack(buffer.getvalue(), edits)


def _fill(sheet: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Write the rows; the stored values of formulas by cell."""
    stored: dict[str, Any] = {}
    row = 0
    for part in ROW_KEYS:
        for cells in entry.get(part, []):
            row += 1
            for column, value in enumerate(cells if isinstance(cells, list) else [cells], 1):
                cell = sheet.cell(row, column)
                if isinstance(value, dict):
                    cell.value, stored[cell.coordinate] = value["f"], value["v"]
                else:
                    cell.value = value
                cell.alignment = Alignment(wrap_text=part in ("header_rows", "rows"), vertical="top")
                if part in ("title_rows", "header_rows"):
                    cell.font = Font(bold=True)
                if part == "header_rows":
                    cell.fill = PatternFill("solid", fgColor="DDDDDD")
    return stored


def _dress(sheet: Any, entry: Mapping[str, Any]) -> None:
    for where, number_format in entry.get("formats", {}).items():
        for cell in [sheet[where]] if where[-1].isdigit() else sheet[where]:
            cell.number_format = number_format
    for where in entry.get("merge", []):
        sheet.merge_cells(where)
    for where, comment in entry.get("comments", {}).items():
        given = comment if isinstance(comment, dict) else {"author": AUTHOR, "text": comment}
        sheet[where].comment = Comment(given["text"], given["author"], height=100, width=260)
    for letter, width in entry.get("widths", {}).items():
        sheet.column_dimensions[letter].width = width
    for letter in entry.get("hidden_columns", []):
        sheet.column_dimensions[letter].hidden = True
    for row in entry.get("hidden_rows", []):
        sheet.row_dimensions[row].hidden = True
    sheet.freeze_panes = entry.get("freeze")
    sheet.sheet_state = "hidden" if entry.get("hidden") else "visible"


def _store_values(sheet: bytes, *, values: Mapping[str, Any]) -> bytes:
    """Put in what openpyxl can't write: a formula's value beside the formula."""
    root = etree.fromstring(sheet)
    for cell in root.iter(f"{SPREADSHEET}c"):
        value = values.get(cell.get("r"))
        if value is not None:
            if isinstance(value, str):
                cell.set("t", "str")
            cell.find(f"{SPREADSHEET}v").text = str(value)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
