"""A long manual as a PDF file, put together by rule from a text of ours.

A source `NAME.pdf.manual` is YAML:

    title, number, date, header, footer
                the cover and the lines at the top and bottom of every page
    front       paragraphs before the contents
    chapters    list of {title, sections}; a section is one of
                    {title, text: [...]}          written out; a text is a paragraph or {table: [[...], ...]}
                    {topic, of, who, log, more}   about one duty: `more`, then `sentences` by rule
    sentences   kind to templates with the slots {of} {Of} {who} {log} {other} {when} {n} {m}
    plan        lists of kinds: one list makes one paragraph of a topic
    fills       slot to the texts that it takes
    steps       templates of the numbered steps that end every second topic
    sheets      {title, items, rows, text, steps}: annex of sheets; `rows` and `steps` by an item's size
    checklists  {title, subjects, lines}: annex of checklists
    places      {title, label, names, text, rows, columns}: annex of places; a column of their tables is
                {head, words: [...]} or {head, from, step, of, digits}: `from` plus up to `of` - 1 steps
    annexes     as chapters, lettered, at the end

Paragraphs are numbered within their chapter. One that begins with `[name]` can be cited as `{ref:name}`. What
a template takes is drawn by a digest of its place, so that a rebuild gives equal bytes.
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import yaml
from builders.markdown import SourceError
from builders.package import AUTHOR
from reportlab.lib import colors
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.platypus import BaseDocTemplate, Frame, PageBreak, PageTemplate, Paragraph, Spacer, Table
from reportlab.platypus.tableofcontents import TableOfContents

WIDTH, HEIGHT = letter
MARGIN = 2.8 * cm
PLAIN, STRONG = "Times-Roman", "Times-Bold"
TEXT = ParagraphStyle("text", fontName=PLAIN, fontSize=11.5, leading=15.5, spaceAfter=8)
STEP = ParagraphStyle("step", parent=TEXT, leftIndent=36, firstLineIndent=-16, spaceAfter=3)
CELL = ParagraphStyle("cell", fontName=PLAIN, fontSize=9.5, leading=11.5)
CHAPTER = ParagraphStyle("chapter", fontName=STRONG, fontSize=16, leading=20, spaceAfter=14)
SECTION = ParagraphStyle("section", fontName=STRONG, fontSize=12, leading=15, spaceBefore=8, spaceAfter=5)
SECTION.keepWithNext = 1
NAME = re.compile(r"^\[(\w+)\] ")
Line = tuple[str, Any]  # kind (chapter, section, text, step, table, break) and what it holds


def chance(key: str) -> int:
    """Return a number that depends on `key` alone."""
    return int.from_bytes(sha256(key.encode()).digest()[:6])


def drawn(key: str, options: Sequence[Any]) -> Any:
    """Return one of the options, by `key`."""
    return options[chance(key) % len(options)]


def mixed(key: str, options: Sequence[Any]) -> list[Any]:
    """Return all options in an order that `key` decides."""
    return [options[at] for at in sorted(range(len(options)), key=lambda at: chance(f"{key}/{at}"))]


def some(key: str, options: Sequence[Any], number: int) -> list[Any]:
    """Return so many of the options, by `key`, in their own order."""
    taken = mixed(key, range(len(options)))[:number]
    return [options[at] for at in sorted(taken)]


def build_manual(path: Path) -> bytes:
    """Build the PDF file of the source at `path`. Raises SourceError where it breaks its format."""
    source = yaml.safe_load(path.read_text(encoding="utf-8"))
    lines = list(_lines(source))
    names: dict[str, str] = {}
    numbered = list(_numbered(path, lines, names))

    def cited(text: str) -> str:
        lost = set(re.findall(r"\{ref:(\w+)\}", text)) - names.keys()
        if lost:
            raise SourceError(f"{path}: no paragraph is named {', '.join(sorted(lost))}")
        return re.sub(r"\{ref:(\w+)\}", lambda match: names[match[1]], text)

    buffer = io.BytesIO()
    manual = _Manual(buffer, source)
    story = _front(source, cited)
    for kind, what in numbered:
        story += _flowables(kind, what, cited)
    manual.multiBuild(story)
    return buffer.getvalue()


class _Manual(BaseDocTemplate):
    """Pages with header and footer; chapters and sections go into the contents and the outline."""

    def __init__(self, buffer: io.BytesIO, source: Mapping[str, Any]) -> None:
        # Streams stay plain: builds of zlib differ in their output, and git deflates anyway.
        super().__init__(
            buffer, pagesize=letter, title=source["title"], author=AUTHOR, invariant=1, pageCompression=0
        )
        self.top, self.bottom = source["header"], source["footer"]
        frame = Frame(MARGIN, MARGIN, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN, 0, 0, 0, 0)
        self.addPageTemplates([PageTemplate("page", frame, onPage=self.furniture)])

    def furniture(self, canvas: Any, _: Any) -> None:
        canvas.setFont(PLAIN, 9)
        canvas.drawCentredString(WIDTH / 2, HEIGHT - 1.3 * cm, self.top)
        canvas.drawString(MARGIN, 1.3 * cm, self.bottom)
        canvas.drawRightString(WIDTH - MARGIN, 1.3 * cm, f"Page {canvas.getPageNumber()}")

    def afterFlowable(self, flowable: Any) -> None:  # noqa: N802 -- the library's name
        style = getattr(getattr(flowable, "style", None), "name", "")
        if style in ("chapter", "section"):
            text, level = flowable.getPlainText(), ("chapter", "section").index(style)
            key = f"place-{self.seq.nextf('place')}"
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(text, key, level, closed=True)
            self.notify("TOCEntry", (level, text, self.page, key))


def _front(source: Mapping[str, Any], cited: Callable[[str], str]) -> list[Any]:
    title = ParagraphStyle("title", fontName=STRONG, fontSize=26, leading=32, alignment=1)
    line = ParagraphStyle("line", parent=TEXT, fontSize=13, leading=18, alignment=1)
    contents = TableOfContents()
    contents.levelStyles = [
        ParagraphStyle("first", parent=TEXT, fontName=STRONG, fontSize=10.5, spaceBefore=5, spaceAfter=1),
        ParagraphStyle("second", parent=TEXT, fontSize=10, leading=12, leftIndent=16, spaceAfter=0),
    ]
    head = ParagraphStyle("head", parent=CHAPTER)
    return [
        Spacer(1, 7 * cm),
        Paragraph(source["title"], title),
        Spacer(1, cm),
        *(Paragraph(text, line) for text in (source["number"], source["date"], source["header"])),
        PageBreak(),
        *(flowable for what in source["front"] for flowable in _flowables("text", what, cited)),
        PageBreak(),
        Paragraph("Contents", head),
        contents,
    ]


def _flowables(kind: str, what: Any, cited: Callable[[str], str]) -> list[Any]:
    if kind == "chapter":
        return [PageBreak(), Paragraph(escape(what), CHAPTER)]
    if kind == "break":
        return [PageBreak()]
    if isinstance(what, Mapping):
        return [_table([[cited(str(cell)) for cell in row] for row in what["table"]])]
    style = {"section": SECTION, "step": STEP}.get(kind, TEXT)
    return [Paragraph(escape(cited(what), quote=False), style)]


def _table(rows: list[list[str]]) -> Table:
    """Columns as wide as their text wants, within the page; the first row is the head."""
    wish = [max(4.0, *(min(len(cell), 46) for cell in column)) for column in zip(*rows, strict=True)]
    room = WIDTH - 2 * MARGIN
    widths = [room * each / sum(wish) for each in wish]
    bold = ParagraphStyle("head", parent=CELL, fontName=STRONG)
    cells = [
        [Paragraph(escape(cell, quote=False), bold if number == 0 else CELL) for cell in row]
        for number, row in enumerate(rows)
    ]
    look = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
    ]
    return Table(cells, colWidths=widths, style=look, repeatRows=1, spaceBefore=4, spaceAfter=10)


def _numbered(path: Path, lines: Sequence[Line], names: dict[str, str]) -> Iterator[Line]:
    """Number chapters and paragraphs; put the number of each named paragraph into `names`."""
    chapters, letters, mark, count = 0, 0, "", 0
    for kind, what in lines:
        if kind in ("chapter", "annex"):
            chapters, letters = chapters + (kind == "chapter"), letters + (kind == "annex")
            mark, count = str(chapters) if kind == "chapter" else chr(64 + letters), 0
            yield "chapter", f"{kind.capitalize()} {mark}. {what}"
        elif kind == "text" and isinstance(what, str):
            count += 1
            if match := NAME.match(what):
                if match[1] in names:
                    raise SourceError(f"{path}: two paragraphs are named {match[1]}")
                names[match[1]] = f"{mark}-{count}"
            yield "text", f"{mark}-{count}. {NAME.sub('', what)}"
        else:
            yield kind, what


def _lines(source: Mapping[str, Any]) -> Iterator[Line]:
    for chapter in source["chapters"]:
        yield "chapter", chapter["title"]
        yield from _sections(source, chapter)
    yield from _sheets(source["sheets"])
    yield from _checklists(source["checklists"])
    yield from _places(source["places"])
    for annex in source["annexes"]:
        yield "annex", annex["title"]
        yield from _sections(source, annex)


def _sections(source: Mapping[str, Any], chapter: Mapping[str, Any]) -> Iterator[Line]:
    for number, section in enumerate(chapter["sections"]):
        if "text" in section:
            yield "section", section["title"]
            yield from (("text", text) for text in section["text"])
        else:
            yield "section", section["topic"]
            yield from _topic(source, section, number)


def _topic(source: Mapping[str, Any], topic: Mapping[str, Any], number: int) -> Iterator[Line]:
    """Paragraphs about one duty: no template twice within the topic."""
    key = topic["topic"]
    yield "text", topic["more"]
    order = {kind: mixed(f"{key}/{kind}", texts) for kind, texts in source["sentences"].items()}
    for place, kinds in enumerate(mixed(key, source["plan"])):
        texts = [_filled(source, topic, order[kind].pop(), f"{key}/{place}/{kind}") for kind in kinds]
        yield "text", " ".join(texts)
    if number % 2:
        steps = some(f"{key}/steps", source["steps"], 6 + chance(key) % 4)
        for place, step in enumerate(steps):
            yield "step", f"({place + 1}) {_filled(source, topic, step, f'{key}/step/{place}')}"


def _filled(source: Mapping[str, Any], topic: Mapping[str, Any], text: str, key: str) -> str:
    slots = {name: drawn(f"{key}/{name}", texts) for name, texts in source["fills"].items()}
    of = topic["of"]
    own = {"of": of, "Of": of[0].upper() + of[1:], "who": topic["who"], "log": topic["log"]}
    filled = text.format(**{**slots, **own})
    return filled[0].upper() + filled[1:]


def _sheets(annex: Mapping[str, Any]) -> Iterator[Line]:
    yield "annex", annex["title"]
    for place, (name, item) in enumerate(annex["items"].items(), 1):
        if place > 1:
            yield "break", None
        yield "section", f"Sheet {place}. {name}"
        slots = {"name": name, "short": item["short"], "crew": item["crew"]}
        for number, texts in enumerate(annex["text"]):
            said = " ".join(drawn(f"{name}/{number}/{at}", each) for at, each in enumerate(texts))
            yield "text", re.sub(r"\. [a-z]", lambda start: start[0].upper(), said.format(**slots))
        rows = [["Data", "Value"]]
        for label, low, high, unit in annex["rows"][item["size"]]:
            rows.append([label, f"{low + chance(f'{name}/{label}') % (high - low + 1):,} {unit}"])
        yield "table", {"table": rows}
        for text in item.get("own", []):
            yield ("table" if isinstance(text, Mapping) else "text"), text
        for at, step in enumerate(some(f"{name}/steps", annex["steps"][item["size"]], 8)):
            yield "step", f"({at + 1}) {step.format(**slots)}"


def _checklists(annex: Mapping[str, Any]) -> Iterator[Line]:
    yield "annex", annex["title"]
    for place, subject in enumerate(annex["subjects"], 1):
        if place > 1:
            yield "break", None
        yield "section", f"Checklist {place}. {subject}"
        lines = some(subject, annex["lines"], 14)
        rows = [["No.", "Check", "Initials"], *([str(at), line, ""] for at, line in enumerate(lines, 1))]
        yield "table", {"table": rows}


def _places(annex: Mapping[str, Any]) -> Iterator[Line]:
    yield "annex", annex["title"]
    for place, name in enumerate(annex["names"], 1):
        if place > 1:
            yield "break", None
        yield "section", f"{annex['label']} {place}. {name}"
        yield "text", drawn(name, annex["text"]).format(name=name)
        rows = [[annex["rows"], *(column["head"] for column in annex["columns"])]]
        for row in range(1, 5 + chance(name) % 5):
            cells = (_value(column, f"{name}/{row}/{at}") for at, column in enumerate(annex["columns"]))
            rows.append([str(row), *cells])
        yield "table", {"table": rows}


def _value(column: Mapping[str, Any], key: str) -> str:
    if "words" in column:
        return drawn(key, column["words"])
    return f"{column['from'] + chance(key) % column['of'] * column['step']:.{column.get('digits', 0)}f}"


BUILDERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {".pdf.manual": (".pdf", build_manual)}
"""Ending of a source to the ending of its file and the function that builds it."""
