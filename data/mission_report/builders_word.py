"""Word attachments: the Markdown of data/build_documents.py, plus what offices leave in their files.

Beyond that format a source `NAME.docx.md` may hold, within one paragraph or table cell:

    {++text++}          an insertion that is still tracked
    {--text--}          a deletion that is still tracked
    {{tag|prompt}}      a content control with that tag, which shows the prompt until it is filled

and in its front matter:

    changes     {author, date} of the tracked changes; needed where there are any
    size        size of the body text in points, 11 unless given
    margins     page margins in centimetres, 2.5 unless given
    widths      for each table, in order, the shares of its columns; equal unless given

The page is US Letter. Markers don't span bold or italic text.
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

import docx
import yaml
from builders.markdown import SourceError
from builders.package import repack
from builders.word import build_docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor

OWN_KEYS = {"changes", "size", "margins", "widths"}
KEPT_STYLES = {
    *("Normal", "Default Paragraph Font", "No List", "Normal Table", "Table Grid", "Header", "Footer"),
    *("Title", "Heading 1", "Heading 2", "Heading 3", "Heading 4", "List Paragraph"),
    *("List Bullet", "List Bullet 2", "List Bullet 3", "List Number"),
    *("annotation text", "annotation reference", "CommentText", "CommentReference"),
}
BAR = "\ue000"  # stands for the bar of a content control, which would end a table cell
MARKER = re.compile(rf"(\{{\+\+.+?\+\+\}}|\{{--.+?--\}}|\{{\{{[a-z0-9_]+{BAR}.+?\}}\}})")
GREY = "767676"
UNUSED_PARTS = ("theme", "customXml", "webSettings", "fontTable")


def build_word(path: Path) -> bytes:
    """The Word file of the source at `path`. Raises SourceError where it breaks its format."""
    own, plain = _take_own_keys(path)
    with tempfile.TemporaryDirectory() as folder:
        # The builder reads a path; the name is kept because its errors say it.
        copy = Path(folder) / path.name
        copy.write_text(plain, encoding="utf-8")
        try:
            package = build_docx(copy)
        except SourceError as error:
            raise SourceError(str(error).replace(str(copy), str(path))) from error
    document = docx.Document(io.BytesIO(package))
    _lighten(document)
    _set_look(document, path, own)
    _turn_markers(document, path, own.get("changes"))
    buffer = io.BytesIO()
    document.save(buffer)
    return repack(buffer.getvalue())


def _take_own_keys(path: Path) -> tuple[dict[str, Any], str]:
    """This module's front matter, and the source without it."""
    parts = re.split(r"^---\n", path.read_text(encoding="utf-8"), maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0]:  # noqa: PLR2004 -- nothing, front matter, body
        raise SourceError(f"{path}: no front matter between two `---` lines at its start")
    meta = yaml.safe_load(parts[1])
    own = {key: meta.pop(key) for key in OWN_KEYS & meta.keys()}
    body = re.sub(r"\{\{([a-z0-9_]+)\|", rf"{{{{\1{BAR}", parts[2])
    return own, f"---\n{yaml.safe_dump(meta, allow_unicode=True)}---\n{body}"


def _lighten(document: Any) -> None:
    """Leave out styles and parts that nothing here uses: more than half of the package."""
    for style in list(document.styles):
        if style.name not in KEPT_STYLES:
            style.delete()
    root = document.styles.element
    known = {style.get(qn("w:styleId")) for style in root.iter(qn("w:style"))}
    numbering = document.part.numbering_part.element
    for part, kind in ((root, "link"), (root, "next"), (root, "basedOn"), (numbering, "pStyle")):
        for reference in list(part.iter(qn(f"w:{kind}"))):
            if reference.get(qn("w:val")) not in known:
                reference.getparent().remove(reference)
    for latent in root.findall(qn("w:latentStyles")):
        root.remove(latent)
    for fonts in root.find(qn("w:docDefaults")).iter(qn("w:rFonts")):
        fonts.attrib.clear()  # they name the theme's, and the theme goes
    rels = document.part.rels
    for name in [name for name, rel in rels.items() if rel.reltype.endswith(UNUSED_PARTS)]:
        rels.pop(name)


def _set_look(document: Any, path: Path, own: dict[str, Any]) -> None:
    """Plain black headings, tight spacing, and the source's size and margins: an office's look."""
    size = own.get("size", 11)
    document.styles["Normal"].font.size = Pt(size)
    document.styles["Normal"].paragraph_format.space_after = Pt(4)
    document.styles["Normal"].paragraph_format.line_spacing = 1.0
    for name, larger in (
        ("Title", 3),
        ("Heading 1", 1),
        ("Heading 2", 0),
        ("Heading 3", 0),
        ("Heading 4", 0),
    ):
        style = document.styles[name]
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        fonts.attrib.clear()  # theme fonts win over named ones
        style.font.name = document.styles["Normal"].font.name
        style.font.size, style.font.bold, style.font.color.rgb = Pt(size + larger), True, RGBColor(0, 0, 0)
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(6), Pt(3)
    section = document.sections[0]
    margin = Cm(own.get("margins", 2.5))
    section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = margin
    room = section.page_width - 2 * margin
    given = own.get("widths", [])
    if len(given) > len(document.tables):
        raise SourceError(f"{path}: widths for {len(given)} tables, there are {len(document.tables)}")
    for table, wish in zip_longest(document.tables, given):
        shares = wish or [1] * len(table.columns)
        for column, share in zip(table.columns, shares, strict=True):
            column.width = int(room * share / sum(shares))
        for row in table._tbl.tr_lst:  # noqa: SLF001 -- a row's cells give a merged one several times
            for cell in row.tc_lst:
                first = cell.grid_offset
                cell.width = sum(
                    column.width for column in list(table.columns)[first : first + cell.grid_span]
                )


def _turn_markers(document: Any, path: Path, changes: dict[str, str] | None) -> None:
    """Put tracked changes and content controls where the text has their markers."""
    numbers = count(1)
    for run in list(_runs(document)):
        pieces = [piece for piece in MARKER.split(run.text) if piece]
        if not any(MARKER.fullmatch(piece) for piece in pieces):
            continue
        for piece in pieces:
            run.addprevious(_piece(run, piece, path, changes, numbers))
        run.getparent().remove(run)
    left = [
        text.text for text in document.element.iter(qn("w:t")) if re.search(r"\{[{+-]|[}+-]\}", text.text)
    ]
    if left:
        raise SourceError(f"{path}: a marker spans formatting or is not closed: {left[0]}")


def _runs(document: Any) -> Iterator[Any]:
    section = document.sections[0]
    for root in (document.element.body, section.header._element, section.footer._element):  # noqa: SLF001 -- no public way to the XML
        yield from root.iter(qn("w:r"))


def _piece(run: Any, piece: str, path: Path, changes: dict[str, str] | None, numbers: Iterator[int]) -> Any:
    """A run, tracked change or content control in the format of `run`."""
    if not MARKER.fullmatch(piece):
        return _text_run(run, piece)
    if piece.startswith("{{"):
        tag, prompt = piece[2:-2].split(BAR, 1)
        return _control(run, tag, prompt, next(numbers))
    if changes is None:
        raise SourceError(f"{path}: tracked changes need `changes: {{author, date}}` in the front matter")
    kind, text_name = ("w:ins", "w:t") if piece.startswith("{++") else ("w:del", "w:delText")
    change = OxmlElement(kind)
    change.set(qn("w:id"), str(next(numbers)))
    change.set(qn("w:author"), changes["author"])
    change.set(qn("w:date"), str(changes["date"]))
    change.append(_text_run(run, piece[3:-3], text_name))
    return change


def _text_run(run: Any, text: str, text_name: str = "w:t") -> Any:
    new = OxmlElement("w:r")
    if run.rPr is not None:
        new.append(deepcopy(run.rPr))
    if text_name == "w:t":
        new.text = text  # turns tabs into elements
    else:
        holder = OxmlElement(text_name)
        holder.text = text
        holder.set(qn("xml:space"), "preserve")
        new.append(holder)
    return new


def _control(run: Any, tag: str, prompt: str, number: int) -> Any:
    """A rich-text content control that shows its prompt in grey."""
    control, properties, content = (OxmlElement(f"w:{name}") for name in ("sdt", "sdtPr", "sdtContent"))
    for name, value in (("alias", tag.replace("_", " ")), ("tag", tag), ("id", str(number))):
        entry = OxmlElement(f"w:{name}")
        entry.set(qn("w:val"), value)
        properties.append(entry)
    properties.append(OxmlElement("w:showingPlcHdr"))
    prompt_run = _text_run(run, prompt)
    look = prompt_run.get_or_add_rPr()
    colour = OxmlElement("w:color")
    colour.set(qn("w:val"), GREY)
    look.append(colour)
    content.append(prompt_run)
    control.extend([properties, content])
    return control


BUILDERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {".docx.md": (".docx", build_word)}
"""Ending of a source to the ending of its file and the function that builds it."""
