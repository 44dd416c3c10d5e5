"""Word files from Markdown sources."""

# Basic: the libraries behind the builders ship no complete types.
# pyright: basic
from __future__ import annotations

import io
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_BREAK
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Cm, Pt

from builders.markdown import CHANGE, INLINE, MERGED, NUMBER, Block, SourceError, merges, read_markdown
from builders.package import AUTHOR, STAMP, repack

BOLD = 2  # stars


def build_docx(path: Path) -> bytes:
    """The Word file of a Markdown source. Raises SourceError where it breaks its format."""
    meta, blocks, notes = read_markdown(path)
    document = docx.Document()
    _slim(document)
    properties = document.core_properties
    properties.author = properties.last_modified_by = AUTHOR
    properties.title, properties.comments = meta["title"], ""
    properties.created = properties.modified = STAMP
    normal: Any = document.styles["Normal"]
    normal.font.name, normal.font.size = (
        ("Times New Roman" if meta.get("font") == "serif" else "Arial"),
        Pt(11),
    )
    _add_furniture(document, meta)
    document.add_paragraph(meta["title"], "Title")
    numbers = {mark: number for number, mark in enumerate(notes, 1)}
    for block in blocks:
        _add_block(document, block, numbers)
    for comment in meta.get("comments", []):
        holder = next((p for p in document.paragraphs if comment["at"] in p.text), None)
        if holder is None:
            raise SourceError(f"{path}: no paragraph contains the comment's words: {comment['at']}")
        added = document.add_comment(holder.runs, comment["text"], comment["author"], initials="")
        _date(added._comment_elm, comment.get("date"))  # noqa: SLF001 -- no setter
    if notes:
        _add_notes(document, notes, numbers)
    buffer = io.BytesIO()
    document.save(buffer)
    return repack(buffer.getvalue())


def _slim(document: Any) -> None:
    """Leave out what python-docx's template brings and nothing here uses: 800 kB of table styles."""
    for style in list(document.styles):
        if style.type == WD_STYLE_TYPE.TABLE and style.name not in ("Normal Table", "Table Grid"):
            style.delete()
    for rels, kind in ((document.part.rels, "stylesWithEffects"), (document.part.package.rels, "thumbnail")):
        for name in [name for name, rel in rels.items() if rel.reltype.endswith(kind)]:
            rels.pop(name)


def _add_furniture(document: Any, meta: Mapping[str, Any]) -> None:
    """Header and footer of every page, with the page number as a field."""
    section = document.sections[0]
    section.header.paragraphs[0].text = meta.get("header", "")
    footer = section.footer.paragraphs[0]
    footer.text = f"{meta.get('footer', '')}   Page ".lstrip()
    field = f'<w:fldSimple {nsdecls("w")} w:instr="PAGE"><w:r><w:t>1</w:t></w:r></w:fldSimple>'
    footer._p.append(parse_xml(field))  # noqa: SLF001 -- python-docx has no fields


def _add_block(document: Any, block: Block, numbers: Mapping[str, int]) -> None:
    if block.kind == "heading":
        _write(document.add_paragraph(style=f"Heading {block.level}"), block.text, numbers)
    elif block.kind == "bullet":
        style = "List Bullet" if block.level == 1 else f"List Bullet {block.level}"
        _write(document.add_paragraph(style=style), block.text, numbers)
    elif block.kind == "break":
        document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    elif block.kind == "table":
        _add_table(document, block, numbers)
    else:
        paragraph = document.add_paragraph()
        paragraph.paragraph_format.left_indent = Cm(0.8 * block.level)
        _write(paragraph, NUMBER.sub(r"\1" + "\t", block.text, count=1), numbers)


def _add_table(document: Any, block: Block, numbers: Mapping[str, int]) -> None:
    table = document.add_table(len(block.rows), len(block.rows[0]), "Table Grid")
    for top, left, bottom, right in merges(block.rows):
        table.cell(top, left).merge(table.cell(bottom, right))
    for r, row in enumerate(block.rows):
        for c, cell in enumerate(row):
            if cell and cell not in MERGED:
                _write(table.cell(r, c).paragraphs[0], f"**{cell}**" if r == 0 else cell, numbers)
    document.add_paragraph()  # Word joins two tables that touch


def _write(paragraph: Any, text: str, numbers: Mapping[str, int]) -> None:
    for part in (part for piece in CHANGE.split(text) for part in _parts(piece) if part):
        if CHANGE.fullmatch(part) and part[0] == "{":
            _track(paragraph, part[2:-2], is_inserted=part.startswith("{+"))
        elif CHANGE.fullmatch(part):
            paragraph.add_run(part[2:-2]).font.strike = True
        elif part.startswith("[^"):
            run = paragraph.add_run()
            run.font.superscript = True
            reference = OxmlElement("w:footnoteReference")
            reference.set(qn("w:id"), str(numbers[part[2:-1]]))
            run._r.append(reference)  # noqa: SLF001 -- python-docx has no footnotes
        else:
            stars = BOLD if part.startswith("**") else 1 if INLINE.fullmatch(part) else 0
            run = paragraph.add_run(part[stars : len(part) - stars])
            run.bold, run.italic = stars == BOLD or None, stars == 1 or None


def _date(element: Any, date: Any) -> None:
    """Date a comment or change as its source does; leave it undated where the source gives no date."""
    element.attrib.pop(qn("w:date"), None)
    if date is not None:
        element.set(qn("w:date"), f"{date:%Y-%m-%dT%H:%M:%SZ}")


def _parts(piece: str) -> list[str]:
    """A change whole, other text by its marks."""
    return [piece] if CHANGE.fullmatch(piece) else INLINE.split(piece)


def _track(paragraph: Any, text: str, *, is_inserted: bool) -> None:
    """A tracked insertion or deletion, as Word's reviewer leaves it."""
    change = OxmlElement("w:ins" if is_inserted else "w:del")
    change.set(qn("w:id"), str(1 + len(paragraph.part.element.xpath("//w:ins | //w:del"))))
    change.set(qn("w:author"), AUTHOR)
    _date(change, None)
    run = paragraph.add_run(text)._r  # noqa: SLF001 -- python-docx has no revisions
    if not is_inserted:
        for own in run.findall(qn("w:t")):
            own.tag = qn("w:delText")
    paragraph._p.append(change)  # noqa: SLF001 -- the same
    change.append(run)


def _add_notes(document: Any, notes: Mapping[str, str], numbers: Mapping[str, int]) -> None:
    """The part that holds the footnotes; Word wants the two separators in it as well."""
    separators = "".join(
        f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
        for number, kind in ((-1, "separator"), (0, "continuationSeparator"))
    )
    mark = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteRef/></w:r>'
    texts = "".join(
        f'<w:footnote w:id="{numbers[name]}"><w:p>{mark}<w:r><w:t xml:space="preserve"> '
        f"{escape(text, quote=False)}</w:t></w:r></w:p></w:footnote>"
        for name, text in notes.items()
    )
    xml = (
        f'<?xml version="1.0" encoding="UTF-8"?><w:footnotes {nsdecls("w")}>{separators}{texts}</w:footnotes>'
    )
    name = PackURI("/word/footnotes.xml")
    part = Part(name, CONTENT_TYPE.WML_FOOTNOTES, xml.encode(), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
