"""Read PDF files: columns in reading order, tables, and running headers and footers once."""

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from flows.common.errors import ReadError
from flows.common.text import plural
from flows.readers.limits import MAX_TEXT, progress
from flows.readers.pdf.forms import attached, beside, linked
from flows.readers.pdf.layout.areas import areas
from flows.readers.pdf.layout.furniture import take_out
from flows.readers.pdf.layout.lines import BULLET, Hyphens, Line, interleaved, is_marker, lines_of, paragraphs
from flows.readers.pdf.layout.ruled import ruled_tables
from flows.readers.pdf.layout.tables import RuledTable, cell_text, open_table
from flows.readers.pdf.paint.page import PageText, read_page
from flows.readers.pdf.paint.runs import Word, item_at
from flows.readers.pdf.source import opened
from flows.readers.shared.notation import collapsed, flat, image, pipe_table
from flows.schema.document import Block, BlockKind, Notice
from flows.schema.locks import PDFIUM

_STRUCK = re.compile(r"(?<=[^~\s])~~([ \n]?)~~(?=[^~\s])")  # between struck-out pieces of one line
_IMAGE = image("")
_SCAN = 0.5  # share of a page that an image covers, for the page to be a scan
_FEW = 200  # characters next to such an image that don't make the page readable
_LARGER = 1.15  # type size of a heading, relative to the text
_BROKEN = 0.02  # share of unknown characters from which a page's text is unreliable
_LABEL_LINES = 3  # maximum lines of a column header
MAX_HEADING = 200


def read(data: bytes, path: Path) -> tuple[list[Block], list[Notice]]:
    """Read one PDF file whole.

    Raises:
        ReadError: it is damaged, cut short, protected, too large, or no page of it has text.
    """
    notices: list[Notice] = []
    blocks: list[Block] = []
    pages: list[PageText] = []
    tables: dict[int, list[RuledTable]] = {}
    extras: dict[int, list[Block]] = {}
    count = 0
    with PDFIUM, closing(opened(data, path)) as source:
        if source.fault:
            detail = f"damaged ({source.fault}): form fields, comments and links are not read"
            notices.append(Notice("unread_part", "document", detail))
        notices += [
            Notice("embedded_file", "document", f"{name} is not read") for name in source.attachments()
        ]
        for number in range(1, len(source.sheets) + 1):
            progress(number, len(source.sheets))
            found = read_page(source, number)
            count += found.count
            if count > MAX_TEXT:
                raise ReadError(path, f"more than {MAX_TEXT:,} characters", "fewer", "split it")
            linked(found)
            extras[number] = beside(found)
            notices += [
                Notice("embedded_file", f"page {number}", f"{name} is not read") for name in attached(found)
            ]
            tables[number] = ruled_tables(found)
            found.page.close()
            pages.append(found)
    heads, feet = take_out(pages, tables)
    words = [word for page in pages for word in page.words]
    in_tables = (word for page in tables.values() for table in page for c in table.cells for word in c.words)
    hyphens = Hyphens(word.text for word in chain(words, in_tables))
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[round(word.size * 2) / 2] += len(word.text)
    usual = max(sizes, key=sizes.__getitem__, default=10.0)
    blank = 0
    for page in pages:
        writer = _Writer(page, hyphens, usual, notices)
        found = writer.blocks(tables[page.number]) + extras[page.number]
        if writer.blank and not found and len(pages) > 1:
            found = [Block(BlockKind.note, f"[Reader's note: page {page.number} is blank]", writer.place)]
        blank += writer.blank and not extras[page.number]
        blocks += found
    above = [Block(BlockKind.header, f"[Header] {text}", where) for text, where in heads]
    below = [Block(BlockKind.footer, f"[Footer] {text}", where) for text, where in feet]
    blocks = below if blank == len(pages) else above + blocks + below
    return [replace(block, text=_STRUCK.sub(r"\1", block.text)) for block in blocks], notices


@dataclass(slots=True)
class _Writer:
    page: PageText
    hyphens: Hyphens
    usual: float
    notices: list[Notice]
    found: list[Block] = field(default_factory=list[Block])
    blank: bool = False

    @property
    def place(self) -> str:
        return f"page {self.page.number}"

    def notice(self, kind: str, detail: str) -> None:
        self.notices.append(Notice(kind, self.place, detail))

    def add(self, kind: BlockKind, text: str, level: int | None = None) -> None:
        self.found.append(Block(kind, text, self.place, level))

    def note(self, text: str) -> None:
        self.add(BlockKind.note, f"[Reader's note: {text}]")

    def blocks(self, tables: list[RuledTable]) -> list[Block]:
        """All blocks of the page in reading order."""
        page = self.page
        self._warn(bool(tables))
        images = page.images if page.words or tables else []
        items = [item_at(table.box, table) for table in tables] + [item_at(box, _IMAGE) for box in images]
        self._areas(page.words + items)
        for text in filter(None, map(flat, page.sideways)):
            self.add(BlockKind.paragraph, text)
        return self.found

    def _warn(self, has_tables: bool) -> None:
        page = self.page
        count = sum(len(word.text) for word in page.words) + sum(map(len, page.sideways))
        if page.turned:
            self.notice("mended_layout", f"turned by {page.turned} degrees to be read")
        if page.composed:
            self.notice("mended_encoding", f"{plural(page.composed, 'accent')} set onto letters")
        if page.recognised:
            self.notice("recognised_text", "the page is an image; its text is that of a text recognition")
        for reason, text in page.hidden:
            self.notice("hidden_text", f"{reason}: {text}")
        if not count and not has_tables:
            if page.drawn:
                self.notice("no_text_layer", "an image or drawing without text")
                self.note(
                    f"page {page.number} has no text layer; it is an image or drawing and what stands on it "
                    "is not read. Recognising text in images is out of scope: use a file with a text layer"
                )
            else:
                self.notice("blank_page", "nothing on it")
                self.blank = True
        elif page.image_share > _SCAN and count < _FEW and not has_tables:
            of = "from its text recognition" if page.recognised else "beside it"
            few = f"{plural(count, 'character')} {of}"
            self.notice("no_text_layer", f"an image over {page.image_share:.0%} of the page, {few}")
            self.note(f"an image covers most of page {page.number}; text in it is not read, only the {few}")
        if page.broken:
            self.notice(
                "broken_encoding",
                f"{plural(page.broken, 'character')} without a known meaning, shown as \ufffd",
            )
            if page.broken > _BROKEN * max(count, 1):
                self.note(
                    f"the fonts of page {page.number} don't say what their characters mean; some are missing"
                )

    def _areas(self, words: list[Word]) -> None:
        for area in areas(words):
            if area.kind in {"rows", "columns"}:
                self.notice("uncertain_layout", "columns of text or rows of a table")
                how = "line by line" if area.kind == "rows" else "column by column"
                self.note(
                    f"whether what follows is columns or rows of a table is uncertain; it is read {how}"
                )
                self._groups([line] for line in lines_of(area.words))
            elif area.kind == "table":
                rows = open_table(area.words, area.gutters)
                self.add(BlockKind.table, pipe_table(rows))
            else:
                lines = lines_of(area.words)
                if interleaved(lines):
                    detail = "lines that stand beside one another at different heights"
                    self.notice("uncertain_layout", detail)
                    self.note("columns may be mixed up in what follows; it is read line by line")
                self._groups(paragraphs(lines, area.right))

    def _groups(self, groups: Iterable[list[Line]]) -> None:
        for group in groups:
            item = group[0].words[0].item
            if isinstance(item, RuledTable):
                self._table(item)
            elif item is not None:
                self.add(BlockKind.image, str(item))
            else:
                self._paragraph(group)

    def _table(self, table: RuledTable) -> None:
        if not table.is_frame:
            self.add(BlockKind.table, pipe_table(table.rows(self.hyphens)))
            return
        for _, row in sorted(table.by_row().items()):
            cells = sorted((cell for cell in row if cell.words), key=lambda cell: cell.column)
            if len(cells) > 1 and all(len(lines_of(cell.words)) <= _LABEL_LINES for cell in cells):
                labels = [cell_text(cell, self.hyphens) for cell in cells]
                self.add(BlockKind.table, pipe_table([labels]))
                continue
            for cell in cells:
                self._areas(cell.words)

    def _paragraph(self, group: list[Line]) -> None:
        text = collapsed(self.hyphens.text_of(group))
        if not text:
            return
        first = group[0].words[0].text
        kind = BlockKind.paragraph
        short = len(text) <= MAX_HEADING and any(sign.isalpha() for sign in text) and not BULLET.match(first)
        level = self._heading(group, text) if short else None
        if level is not None:
            kind, text = BlockKind.heading, "#" * level + " " + text
        elif len(group[0].words) > 1 and is_marker(first):
            kind, level = BlockKind.list_item, 1
            if BULLET.match(first):
                text = "- " + text.removeprefix(first).lstrip()
        self.add(kind, text, level)

    def _heading(self, group: list[Line], text: str) -> int | None:
        ratio = group[0].size / self.usual
        if ratio >= 1.6:  # noqa: PLR2004 -- a title
            return 1
        if ratio >= _LARGER:
            return 2
        short = len(group) <= 2 and not text.endswith((".", ",", ";"))  # noqa: PLR2004 -- a heading may wrap once
        return 3 if short and ratio > 0.95 and all(line.bold for line in group) else None  # noqa: PLR2004 -- not small print
