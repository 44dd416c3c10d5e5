"""Excel workbooks (.xlsx, .xlsm, .xltx, .xltm; transitional and strict) as blocks.

Sheets are streamed from their XML: openpyxl gives a formula or its cached value, not both, drops
merged ranges, comments and hidden rows when it streams, holds a sheet of 100,000 rows in gigabytes when
it does not, and reads no strict file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flows.readers.charts import chart_text
from flows.readers.ooxml import Package, refuse_ole
from flows.readers.xlsx.book import Book, Sheet
from flows.readers.xlsx.extras import comments, drawings, printed_lines
from flows.readers.xlsx.grid import read_grid
from flows.readers.xlsx.tables import tables
from flows.schema.document import Block, BlockKind, Notice
from flows.schema.errors import ReadError


def read(data: bytes, path: Path) -> tuple[list[Block], list[Notice]]:
    """Read one workbook whole.

    Raises:
        ReadError: it is damaged, protected, no workbook, too large, or carries code that its name
            does not say.
    """
    refuse_ole(data, path, ".xlsx")
    package = Package(data, path)
    if "spreadsheetml" not in package.main_type and "ms-excel" not in package.main_type:
        raise ReadError(
            path,
            f"an Office file of another kind ({package.main_type or 'unknown type'})",
            "an Excel workbook",
            "give the file the suffix of what it is",
        )
    if package.main_type.startswith("application/vnd.ms-excel.sheet.binary"):
        raise ReadError(path, "a binary workbook (.xlsb)", "an .xlsx file", "save it as .xlsx in Excel")
    macro = package.has_macro
    if macro and path.suffix.lower() in {".xlsx", ".xltx"}:
        raise ReadError(
            path,
            f"a macro (VBA code) in a file named {path.suffix}, which may not have one; Excel refuses it too",
            "a workbook without macros",
            "save it as .xlsx without macros, or name it .xlsm if the macro is meant",
        )
    book = Book(package)
    notices: list[Notice] = []
    if macro:
        notices.append(Notice("macro", "workbook", "the file carries VBA code; it is neither run nor read"))
    blocks: list[Block] = []
    for sheet in book.sheets:
        blocks.extend(_sheet(book, sheet, notices))
    return blocks, notices


def _sheet(book: Book, sheet: Sheet, notices: list[Notice]) -> list[Block]:
    hidden = {"visible": "", "hidden": ", hidden sheet", "veryHidden": ", sheet hidden by a program"}
    what = "Chart sheet" if sheet.kind == "chartsheet" else "Sheet"
    blocks = [
        Block(
            BlockKind.sheet, f"[{what}: {sheet.name}{hidden.get(sheet.state, ', hidden sheet')}]", sheet.name
        )
    ]
    package = book.package
    if not package.has(sheet.part):
        raise ReadError(package.path, f"sheet {sheet.name!r} is missing from the file", "a complete workbook")
    links = package.relationships(sheet.part)
    if sheet.kind == "worksheet":
        grid = read_grid(book, sheet, links, notices)
        blocks.extend(printed_lines(grid, sheet))
        blocks.extend(tables(grid, sheet.name))
        blocks.extend(comments(package, links, sheet.name))
    elif sheet.kind != "chartsheet":
        notices.append(Notice("unread_part", sheet.name, f"a sheet of kind {sheet.kind} is not read"))
    blocks.extend(drawings(package, links, sheet.name, chart_text))
    if len(blocks) == 1:
        blocks = [replace(blocks[0], text=blocks[0].text[:-1] + ", empty]")]
    return blocks
