"""Read Excel workbooks (.xlsx, .xlsm, .xltx, .xltm; transitional and strict).

Sheets are streamed from their XML. openpyxl gives a formula or its cached value, not both. When streaming, it
drops merged ranges, comments and hidden rows; otherwise a sheet of 100,000 rows takes gigabytes. It reads no
strict file.
"""

from collections.abc import Iterator
from pathlib import Path

from flows.common.errors import ReadError
from flows.readers.limits import MAX_TEXT
from flows.readers.ooxml import Program, opened
from flows.readers.xlsx.book import Book, Sheet, too_much_text
from flows.readers.xlsx.drawings import controls, drawings
from flows.readers.xlsx.extras import comments, inputs, printed_lines
from flows.readers.xlsx.grid import read_grid
from flows.readers.xlsx.tables import tables
from flows.schema.document import Block, BlockKind, Notice

_EXCEL = Program("Excel", "an Excel workbook", ".xlsx", ("spreadsheetml", "ms-excel"))
_KINDS = {"worksheet": "Sheet", "chartsheet": "Chart sheet", "dialogsheet": "Dialog sheet"}


def read(data: bytes, path: Path) -> tuple[list[Block], list[Notice]]:
    """Read one workbook whole.

    Raises:
        ReadError: it is damaged, protected, no workbook, too large, or carries code that its name
            does not say.
    """
    package, macro = opened(data, path, _EXCEL)
    if package.main_type.startswith("application/vnd.ms-excel.sheet.binary"):
        raise ReadError(path, "a binary workbook (.xlsb)", "an .xlsx file", "save it as .xlsx in Excel")
    book = Book(package)
    notices: list[Notice] = []
    if macro:
        notices.append(Notice("macro", "workbook", "the file carries VBA code; it is neither run nor read"))
    blocks: list[Block] = []
    written = 0
    for sheet in book.sheets:
        for block in _sheet(book, sheet, notices):
            written += len(block.text)
            if written > MAX_TEXT:
                raise too_much_text(path)
            blocks.append(block)
    return blocks, notices


def _sheet(book: Book, sheet: Sheet, notices: list[Notice]) -> Iterator[Block]:
    state = {"visible": "", "veryHidden": ", sheet hidden by a program"}.get(sheet.state, ", hidden sheet")
    package = book.package
    if sheet.kind and not package.has(sheet.part):
        raise ReadError(package.path, f"sheet {sheet.name!r} is missing from the file", "a complete workbook")
    what = _KINDS.get(sheet.kind, "Sheet")
    if sheet.kind.endswith("Macrosheet"):
        what = "Macro sheet"
        detail = "a sheet of Excel 4.0 macros: its formulas are shown, none is run"
        notices.append(Notice("macro", sheet.name, detail))
    elif sheet.kind not in _KINDS:
        found = f"a sheet of the unknown kind {sheet.kind!r}" if sheet.kind else "a sheet without content"
        notices.append(Notice("unread_part", sheet.name, found))
    content = _content(book, sheet, notices) if sheet.kind else iter(())
    first = next(content, None)
    empty = ", empty" if first is None else ""
    yield Block(BlockKind.sheet, f"[{what}: {sheet.name}{state}{empty}]", sheet.name)
    if first is not None:
        yield first
    yield from content


def _content(book: Book, sheet: Sheet, notices: list[Notice]) -> Iterator[Block]:
    package, name = book.package, sheet.name
    links = package.relationships(sheet.part)
    grid = read_grid(book, sheet, links, notices)
    yield from printed_lines(grid, name, notices)
    yield from tables(grid, name, book.spend)
    yield from inputs(grid, name)
    yield from comments(book, links, name)
    yield from controls(package, links, name, grid.controls, notices)
    yield from drawings(package, links, name, notices)
    embedded = sum(link.kind in {"oleObject", "package"} for link in links.values())
    if embedded:
        detail = f"embedded objects that are shown as their picture only: {embedded}"
        notices.append(Notice("embedded_file", name, detail))
