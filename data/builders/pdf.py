"""PDF files from Markdown sources."""

# Basic: the libraries behind the builders ship no complete types.
# pyright: basic
from __future__ import annotations

import io
import re
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Table,
)

from builders.markdown import MERGED, Block, SourceError, merges, read_markdown
from builders.package import AUTHOR

FONTS = {"serif": ("Times-Roman", "Times-Bold"), "sans": ("Helvetica", "Helvetica-Bold")}
WIDTH, HEIGHT = A4
MARGIN, GAP, TITLE_HEIGHT = 2 * cm, 0.8 * cm, 1.7 * cm
TEXT_SIZE, TABLE_SIZE = 9.5, 8  # points


def build_pdf(path: Path) -> bytes:
    """The PDF file of a Markdown source. Raises SourceError where it breaks its format."""
    meta, blocks, notes = read_markdown(path)
    try:
        path.read_text(encoding="utf-8").encode("cp1252")
    except UnicodeEncodeError as error:
        lacking = error.object[error.start : error.end]
        raise SourceError(f"{path}: the standard PDF fonts lack {lacking!r}") from error
    columns = int(meta.get("columns", 1))
    layout = _Layout(path, columns, *FONTS[meta.get("font", "sans")])
    story: list[Any] = [layout.heading(meta["title"], 1), FrameBreak(), NextPageTemplate("later")]
    story += [layout.flowable(block) for block in blocks]
    if notes:
        story += [layout.heading("Notes", 3)]
        story += [layout.paragraph(f"[{mark}] {text}", 0) for mark, text in notes.items()]
    top = HEIGHT - MARGIN
    title = Frame(MARGIN, top - TITLE_HEIGHT, WIDTH - 2 * MARGIN, TITLE_HEIGHT, 0, 0, 0, 0)
    draw = partial(layout.draw_furniture, header=meta.get("header", ""), footer=meta.get("footer", ""))
    buffer = io.BytesIO()
    # Streams stay plain: builds of zlib differ in their output, and git deflates anyway.
    template = BaseDocTemplate(
        buffer, pagesize=A4, title=meta["title"], author=AUTHOR, invariant=1, pageCompression=0
    )
    first = [title, *layout.frames(top - TITLE_HEIGHT)]
    template.addPageTemplates(
        [PageTemplate("first", first, onPage=draw), PageTemplate("later", layout.frames(top), onPage=draw)]
    )
    template.build(story)
    return buffer.getvalue()


class _Layout:
    """Blocks as reportlab's flowables, for pages of one or two columns."""

    def __init__(self, path: Path, columns: int, plain: str, strong: str) -> None:
        self.path, self.columns, self.plain, self.strong = path, columns, plain, strong
        self.width = (WIDTH - 2 * MARGIN - GAP * (columns - 1)) / columns
        self.normal = ParagraphStyle(
            "normal", fontName=plain, fontSize=TEXT_SIZE, leading=TEXT_SIZE * 1.25, spaceAfter=5
        )
        self.cell = ParagraphStyle("cell", fontName=plain, fontSize=TABLE_SIZE, leading=TABLE_SIZE * 1.2)

    def frames(self, top: float) -> list[Frame]:
        step, height = self.width + GAP, top - MARGIN
        return [Frame(MARGIN + step * n, MARGIN, self.width, height, 0, 0, 0, 0) for n in range(self.columns)]

    def draw_furniture(self, canvas: Any, _: Any, *, header: str, footer: str) -> None:
        canvas.setFont(self.plain, TABLE_SIZE)
        canvas.drawString(MARGIN, HEIGHT - 1.2 * cm, header)
        canvas.drawString(MARGIN, 1.1 * cm, footer)
        canvas.drawRightString(WIDTH - MARGIN, 1.1 * cm, f"Page {canvas.getPageNumber()}")

    def flowable(self, block: Block) -> Any:
        if block.kind == "heading":
            return self.heading(block.text, block.level)
        if block.kind == "table":
            return self.table(block.rows)
        if block.kind == "break":
            return PageBreak()
        if block.kind == "bullet":
            indent = 12 * block.level
            style = ParagraphStyle("bullet", parent=self.normal, leftIndent=indent, bulletIndent=indent - 10)
            return Paragraph(
                _markup(block.text), style, bulletText="-"
            )  # pdf readers lose the bullet of the standard fonts
        return self.paragraph(block.text, block.level)

    def heading(self, text: str, level: int) -> Paragraph:
        size = TEXT_SIZE + {1: 3, 2: 1.5}.get(level, 0.5)
        style = ParagraphStyle(
            "heading", fontName=self.strong, fontSize=size, leading=size * 1.2, spaceBefore=5, spaceAfter=4
        )
        style.keepWithNext = 1
        return Paragraph(_markup(text), style)

    def paragraph(self, text: str, level: int) -> Paragraph:
        return Paragraph(_markup(text), ParagraphStyle("text", parent=self.normal, leftIndent=12 * level))

    def table(self, rows: tuple[tuple[str, ...], ...]) -> Table:
        """Columns at least as wide as their longest word; the rest shared by length of text."""
        narrow, wish = [], []
        for cells in zip(*rows, strict=True):
            words = [word for cell in cells for word in cell.split()]
            narrow.append(max(stringWidth(word, self.strong, TABLE_SIZE) for word in words) + 9)
            wish.append(max(stringWidth(cell, self.plain, TABLE_SIZE) for cell in cells))
        spare = self.width - sum(narrow)
        if spare < 0:
            raise SourceError(f"{self.path}: table {-spare:.0f} points too wide for its column: {rows[0]}")
        widths = [n + spare * w / sum(wish) for n, w in zip(narrow, wish, strict=True)]
        look: list[Any] = [
            ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 3),
            ("RIGHTPADDING", (0, 0), (-1, -1), 3),
        ]
        look += [("SPAN", (left, top), (right, bottom)) for top, left, bottom, right in merges(rows)]
        cells = [[self._cell(text, bold=r == 0) for text in row] for r, row in enumerate(rows)]
        return Table(cells, colWidths=widths, style=look, repeatRows=1, spaceBefore=4, spaceAfter=8)

    def _cell(self, text: str, *, bold: bool) -> Paragraph | str:
        if not text or text in MERGED:
            return ""
        return Paragraph(_markup(f"**{text}**" if bold else text), self.cell)


def _markup(text: str) -> str:
    """The source's inline marks as reportlab's; `[^1]` prints as `[1]`."""
    text = re.sub(r"\[\^(\w+)\]", r"[\1]", escape(text, quote=False))
    text = re.sub(r"~~(.+?)~~", r"<strike>\1</strike>", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<i>\1</i>", text)
