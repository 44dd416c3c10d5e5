"""One worksheet, streamed: the text of its cells, merged ranges, hidden rows and columns."""

from __future__ import annotations

import importlib
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flows.readers.ooxml import Element, Relationship, lxml_etree
from flows.readers.words import normalised
from flows.readers.xlsx.book import Book, R, Sheet, Style
from flows.readers.xlsx.formats import shown, shows_nothing
from flows.schema.document import Notice
from flows.schema.errors import ReadError

MAX_CELLS = 4_000_000
MAX_HIDDEN_NOTICES = 200
_CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})$")


@dataclass(slots=True)
class Merge:
    """A merged range: first and last row and column, from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def name(self) -> str:
        """The range as Excel writes it, `A1:C2`."""
        return f"{letters(self.left)}{self.top}:{letters(self.right)}{self.bottom}"


@dataclass(slots=True)
class Grid:
    """The cells of a sheet that hold something: `rows[row][column]`, both from 1, rows in order."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    merges: list[Merge] = field(default_factory=list[Merge])
    hidden_rows: set[int] = field(default_factory=set[int])
    hidden_columns: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    header: str = ""
    footer: str = ""


def letters(column: int) -> str:
    """Name of a column: 1 is A, 27 is AA."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


@lru_cache(maxsize=20_000)
def _column(name: str) -> int:
    at = 0
    for letter in name:
        at = at * 26 + ord(letter) - 64
    return at


def position(reference: str) -> tuple[int, int] | None:
    """Row and column, from 1, of a reference such as `B7` or `$B$7`; None if it is none."""
    match = _CELL.match(reference.replace("$", "").upper())
    return (int(match.group(2)), _column(match.group(1))) if match else None


def span(reference: str) -> Merge | None:
    """A reference such as `A1:C2` or `B7`; None if it is none."""
    first, _, last = reference.partition(":")
    start, end = position(first), position(last or first)
    if start is None or end is None:
        return None
    return Merge(min(start[0], end[0]), min(start[1], end[1]), max(start[0], end[0]), max(start[1], end[1]))


class _Reader:
    def __init__(
        self, book: Book, sheet: Sheet, links: dict[str, Relationship], notices: list[Notice]
    ) -> None:
        self.book = book
        self.sheet = sheet
        self.links = links
        self.notices = notices
        self.grid = Grid()
        self.cells = 0
        self.at_row = 0
        self.unseen = 0
        self.shared: dict[str, tuple[str, str]] = {}
        self.formatted: dict[tuple[str, str], str] = {}

    def row(self, element: Element) -> None:
        stated = element.get("r")
        self.at_row = int(stated) if stated and stated.isdigit() else self.at_row + 1
        if element.get("hidden") in {"1", "true"}:
            self.grid.hidden_rows.add(self.at_row)
        column = 0
        found: dict[int, str] = {}
        for cell in element:
            reference = cell.get("r")
            place = position(reference) if reference else None
            column = place[1] if place else column + 1
            if not len(cell):
                continue
            text = self.cell(cell, column)
            if text:
                found[column] = text
        self.cells += len(found)
        if self.cells > MAX_CELLS:
            raise ReadError(
                self.book.package.path,
                f"more than {MAX_CELLS:,} cells",
                "a workbook that a person could read",
                "leave out the sheets that the packet does not need",
            )
        if found:
            self.grid.rows.setdefault(self.at_row, {}).update(found)

    def cell(self, cell: Element, column: int) -> str:
        kind = cell.get("t") or "n"
        raw, formula, inline = None, None, None
        for part in cell:
            local = str(part.tag).rpartition("}")[2]
            if local == "v":
                raw = str(part.text or "")
            elif local == "f":
                formula = part
            elif local == "is":
                inline = part
        style = self.book.style(cell.get("s"))
        if inline is not None:
            text = "".join(
                str(t.text or "") for t in inline.iter("{*}t") if not str(t.getparent().tag).endswith("}rPh")
            )
        elif raw is None or (formula is not None and not raw and kind != "str"):
            code = self.formula(formula, column)
            return f"[formula, never calculated: ={code}]" if code else ""
        else:
            if formula is not None:
                self.formula(formula, column)
            text = self.value(raw, kind, style)
        if text and (style.invisible or (";" in style.code and self.blanked(kind, style, raw))):
            self.hidden(text, column)
            return ""
        return normalised(text)[0]

    def blanked(self, kind: str, style: Style, raw: str | None) -> bool:
        if kind != "n" or raw is None:
            return shows_nothing(style.code, None)
        return shows_nothing(style.code, float(raw))

    def hidden(self, text: str, column: int) -> None:
        self.unseen += 1
        if self.unseen <= MAX_HIDDEN_NOTICES:
            place = f"{self.sheet.name}!{letters(column)}{self.at_row}"
            self.notices.append(Notice("hidden_text", place, f"not visible in its cell: {text}"))

    def value(self, raw: str, kind: str, style: Style) -> str:
        if kind == "s":
            at = int(raw) if raw.strip().isdigit() else -1
            if not 0 <= at < len(self.book.strings):
                raise ReadError(
                    self.book.package.path,
                    f"sheet {self.sheet.name!r} refers to text {raw!r}, which the file does not hold",
                    "a complete workbook",
                    "open it in Excel, let it repair the file and save it",
                )
            return self.book.strings[at]
        if kind == "b":
            return "TRUE" if raw.strip() == "1" else "FALSE"
        if kind != "n":
            return raw.replace("T", " ").removesuffix(" 00:00:00") if kind == "d" else raw
        if not raw.strip():
            return ""
        key = (raw, style.code)
        text = self.formatted.get(key)
        if text is None:
            try:
                text = shown(float(raw), style.code, from_1904=self.book.from_1904)
            except (ValueError, OverflowError):
                text = raw
            if not text.strip() and shows_nothing(style.code, float(raw)):
                text = shown(float(raw), "General")
            if len(self.formatted) < 100_000:  # noqa: PLR2004 -- most sheets repeat few values; bound the rest
                self.formatted[key] = text
        return text

    def formula(self, element: Element | None, column: int) -> str:
        """The formula of a cell; one shared by several cells is moved to this one."""
        if element is None:
            return ""
        text = str(element.text or "")
        key = element.get("si")
        here = f"{letters(column)}{self.at_row}"
        if key is None or element.get("t") != "shared":
            return text
        if text:
            self.shared[key] = (text, here)
            return text
        if key not in self.shared:
            return ""
        # Importing openpyxl takes a third of a second, and few files need it.
        translator: Any = importlib.import_module("openpyxl.formula.translate").Translator
        origin = self.shared[key]
        return str(translator("=" + origin[0], origin=origin[1]).translate_formula(here))[1:]

    def merge(self, element: Element) -> None:
        merged = span(str(element.get("ref", "")))
        if merged is not None and (merged.bottom > merged.top or merged.right > merged.left):
            self.grid.merges.append(merged)

    def column(self, element: Element) -> None:
        if element.get("hidden") in {"1", "true"}:
            self.grid.hidden_columns.append((int(element.get("min", 0)), int(element.get("max", 0))))

    def hyperlink(self, element: Element) -> None:
        link = self.links.get(str(element.get(f"{R}id")))
        place = position(str(element.get("ref", "")).split(":")[0])
        if link is None or not link.external or place is None:
            return
        text = self.grid.rows.get(place[0], {}).get(place[1], "")
        bare = link.target.removeprefix("mailto:")
        if text and bare not in text:
            self.grid.rows[place[0]][place[1]] = f"{text} ({link.target})"


def read_grid(book: Book, sheet: Sheet, links: dict[str, Relationship], notices: list[Notice]) -> Grid:
    """Read a worksheet's cells as a person sees them, in one pass.

    Raises:
        ReadError: the sheet is damaged, or holds more cells than MAX_CELLS.
    """
    etree = lxml_etree()
    reader = _Reader(book, sheet, links, notices)
    work = {
        "row": reader.row,
        "mergeCell": reader.merge,
        "col": reader.column,
        "hyperlink": reader.hyperlink,
    }
    where = f"{book.package.path}!{sheet.part}"
    try:
        with book.package.open(sheet.part) as stream:
            events = etree.iterparse(
                stream,
                events=("end",),
                tag=[f"{{*}}{name}" for name in (*work, "oddHeader", "oddFooter")],
                resolve_entities=False,
                load_dtd=False,
                no_network=True,
            )
            first = True
            for _, element in events:
                if first and element.getroottree().docinfo.doctype:
                    raise ReadError(where, "an XML part declares a document type", "XML without <!DOCTYPE>")
                first = False
                local = str(element.tag).rpartition("}")[2]
                if local in work:
                    work[local](element)
                elif local == "oddHeader":
                    reader.grid.header = str(element.text or "")
                else:
                    reader.grid.footer = str(element.text or "")
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise ReadError(where, f"XML that is not well-formed ({error})", "a complete workbook") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ReadError(
            where, f"the sheet is damaged ({error})", "a complete file", "get it again"
        ) from error
    if reader.unseen > MAX_HIDDEN_NOTICES:
        more = reader.unseen - MAX_HIDDEN_NOTICES
        notices.append(Notice("hidden_text", sheet.name, f"{more} more cells whose text is not visible"))
    reader.grid.rows = dict(sorted(reader.grid.rows.items()))
    return reader.grid
