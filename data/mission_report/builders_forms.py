"""Word forms of correspondence: letterhead, classification marking, signature block, key-value tables.

A source `NAME.docx.form` is written as for builders_word.py. Its front matter may hold as well:

    marking     classification marking, bold and centered at the top and the bottom of every page
    letterhead  lines that replace the title at the top of the first page, centered
    key_value   numbers of the tables, from 1, whose odd columns are labels: bold on grey, values plain

A paragraph that starts with `^ ` is centered. One that starts with `= ` has what follows its tab at the right
margin. One that starts with `> ` begins at the middle of the page and follows the one before it closely, as a
signature block does. The first of them leaves room to sign.
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import docx
import yaml
from builders.markdown import SourceError
from builders.package import repack
from builders_word import build_word
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt

OWN_KEYS = {"marking", "letterhead", "key_value"}
GREY = "E7E6E6"


def without_keys(path: Path, names: set[str]) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return the front matter of a source without the keys `names`, these with their values, and the body."""
    parts = re.split(r"^---\n", path.read_text(encoding="utf-8"), maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0]:  # noqa: PLR2004 -- nothing, front matter, body
        raise SourceError(f"{path}: no front matter between two `---` lines at its start")
    meta = yaml.safe_load(parts[1])
    return meta, {key: meta.pop(key) for key in names & meta.keys()}, parts[2]


def build_form(path: Path) -> bytes:
    """Build the Word file of the source at `path`. Raises SourceError where it breaks its format."""
    meta, own, body = without_keys(path, OWN_KEYS)
    with tempfile.TemporaryDirectory() as folder:
        # The builder reads a path; the name is kept because its errors say it.
        copy = Path(folder) / path.name
        copy.write_text(f"---\n{yaml.safe_dump(meta, allow_unicode=True)}---\n{body}", encoding="utf-8")
        try:
            package = build_word(copy)
        except SourceError as error:
            raise SourceError(str(error).replace(str(copy), str(path))) from error
    document = docx.Document(io.BytesIO(package))
    _set_letterhead(document, own.get("letterhead", []))
    _place_paragraphs(document)
    _dress_tables(document, path, own.get("key_value", []))
    _mark(document, own)
    buffer = io.BytesIO()
    document.save(buffer)
    return repack(buffer.getvalue())


def _set_letterhead(document: Any, lines: list[str]) -> None:
    title = document.paragraphs[0]
    for number, line in enumerate(lines):
        paragraph = title.insert_paragraph_before()
        paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        paragraph.paragraph_format.space_after = Pt(12 if number == len(lines) - 1 else 0)
        paragraph.add_run(line).bold = True if number == 0 else None
    if lines:
        title._p.getparent().remove(title._p)  # noqa: SLF001 -- python-docx can't remove a paragraph


def _place_paragraphs(document: Any) -> None:
    room = document.sections[0].page_width - document.sections[0].left_margin * 2
    before = None
    for paragraph in document.paragraphs:
        first = next(iter(paragraph._p.iter(qn("w:t"))), None)  # noqa: SLF001 -- runs leave out content controls
        sign = (first.text or "")[:2] if first is not None else ""
        if sign in ("^ ", "> ", "= "):
            first.text = first.text[2:]
            if sign == "^ ":
                paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
            elif sign == "= ":
                paragraph.paragraph_format.tab_stops.add_tab_stop(room, WD_TAB_ALIGNMENT.RIGHT)
            else:
                paragraph.paragraph_format.left_indent = room // 2
                paragraph.paragraph_format.space_after = Pt(0)
                paragraph.paragraph_format.keep_together = True
                is_first = before is None or before.paragraph_format.left_indent != room // 2
                paragraph.paragraph_format.space_before = Pt(36 if is_first else 0)  # room to sign
                if before is not None:
                    before.paragraph_format.keep_with_next = True
        before = paragraph


def _dress_tables(document: Any, path: Path, numbers: list[int]) -> None:
    for number, table in enumerate(document.tables, 1):
        for row_number, row in enumerate(table._tbl.tr_lst):  # noqa: SLF001 -- rows repeat merged cells
            _keep_whole(row)
            for cell in row.tc_lst:
                is_label = number in numbers and cell.grid_offset % 2 == 0
                if number in numbers:
                    for run in cell.iter(qn("w:r")):
                        _set_bold(run, bold=is_label)
                if is_label or (number not in numbers and row_number == 0):
                    _shade(cell)
                for paragraph in cell.iter(qn("w:p")):  # a form's tables are short: each stays on one page
                    paragraph.get_or_add_pPr().append(OxmlElement("w:keepNext"))
    if any(number > len(document.tables) for number in numbers):
        raise SourceError(f"{path}: key_value names tables {numbers}, there are {len(document.tables)}")


def _keep_whole(row: Any) -> None:
    """Keep a row on one page."""
    row.get_or_add_trPr().append(OxmlElement("w:cantSplit"))


def _set_bold(run: Any, *, bold: bool) -> None:
    properties = run.get_or_add_rPr()
    for mark in properties.findall(qn("w:b")):
        properties.remove(mark)
    if bold:
        properties.insert(0, OxmlElement("w:b"))


def _shade(cell: Any) -> None:
    shade = OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", GREY)):
        shade.set(qn(f"w:{name}"), value)
    cell.get_or_add_tcPr().append(shade)


def _mark(document: Any, own: Mapping[str, Any]) -> None:
    """Put the marking above the header and below the footer."""
    if "marking" not in own:
        return
    section = document.sections[0]
    for paragraph in (section.header.paragraphs[0].insert_paragraph_before(), section.footer.add_paragraph()):
        paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        paragraph.add_run(own["marking"]).bold = True
    for paragraph in (*section.header.paragraphs, *section.footer.paragraphs):
        paragraph.paragraph_format.space_after = Pt(0)
        for run in paragraph._p.iter(qn("w:r")):  # noqa: SLF001 -- runs leave out the page number's field
            size = OxmlElement("w:sz")
            size.set(qn("w:val"), "18")
            run.get_or_add_rPr().append(size)
    section.header.paragraphs[-1].paragraph_format.space_after = Pt(8)


BUILDERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {".docx.form": (".docx", build_form)}
"""Ending of a source to the ending of its file and the function that builds it."""
