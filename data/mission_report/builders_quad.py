"""Quad charts as Word tables: a form of builders_forms.py on a landscape page, with bars between its parts.

A source `NAME.docx.quad` is written as for builders_forms.py. Its front matter may hold as well:

    bars        number of a table, from 1, to its rows, from 0, that are titles or heads (grey, bold)
    colors      words to the fill of a cell that holds nothing else, such as {GREEN: C6E0B4}
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import docx
import yaml
from builders.markdown import SourceError
from builders.package import repack
from builders_forms import build_form, without_keys
from docx.enum.section import WD_ORIENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt

OWN_KEYS = {"bars", "colors"}
GREY = "E7E6E6"


def build_quad(path: Path) -> bytes:
    """Build the Word file of the source at `path`. Raises SourceError where it breaks its format."""
    meta, own, body = without_keys(path, OWN_KEYS)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name  # the builder reads a path; its errors say the name
        copy.write_text(f"---\n{yaml.safe_dump(meta, allow_unicode=True)}---\n{body}", encoding="utf-8")
        try:
            package = build_form(copy)
        except SourceError as error:
            raise SourceError(str(error).replace(str(copy), str(path))) from error
    document = docx.Document(io.BytesIO(package))
    _turn(document)
    _shade_bars(document, path, own.get("bars", {}))
    _color_words(document, own.get("colors", {}))
    _tighten(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return repack(buffer.getvalue())


def _turn(document: Any) -> None:
    """Turn the page and stretch the tables to the new width."""
    section = document.sections[0]
    margins = section.left_margin + section.right_margin
    before = section.page_width - margins
    section.page_width, section.page_height = section.page_height, section.page_width
    section.orientation = WD_ORIENT.LANDSCAPE
    stretch = (section.page_width - margins) / before
    for table in document.tables:
        for column in table.columns:
            column.width = int(column.width * stretch)
        for width in table._tbl.iter(qn("w:tcW")):  # noqa: SLF001 -- rows repeat merged cells
            width.set(qn("w:w"), str(int(int(width.get(qn("w:w"))) * stretch)))


def _shade_bars(document: Any, path: Path, bars: Mapping[int, list[int]]) -> None:
    for number, rows in bars.items():
        if number > len(document.tables) or max(rows) >= len(document.tables[number - 1].rows):
            raise SourceError(f"{path}: bars names table {number}, rows {rows}; the form has fewer")
        for row in rows:
            for cell in document.tables[number - 1]._tbl.tr_lst[row].tc_lst:  # noqa: SLF001 -- the same
                _fill(cell, GREY)
                for run in cell.iter(qn("w:r")):
                    run.get_or_add_rPr().get_or_add_b()


def _color_words(document: Any, colors: Mapping[str, str]) -> None:
    for cell in document.element.body.iter(qn("w:tc")):
        text = "".join(part.text or "" for part in cell.iter(qn("w:t")))
        if text in colors:
            _fill(cell, colors[text])


def _fill(cell: Any, color: str) -> None:
    properties = cell.get_or_add_tcPr()
    for old in properties.findall(qn("w:shd")):
        properties.remove(old)
    shade = OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", color)):
        shade.set(qn(f"w:{name}"), value)
    properties.append(shade)


def _tighten(document: Any) -> None:
    """Leave no room between tables, and none below the lines of a cell: a chart has one page."""
    for paragraph in document.paragraphs:
        if not paragraph.text and not paragraph._p.findall(qn("w:sdt")):  # noqa: SLF001 -- text leaves controls out
            paragraph.paragraph_format.space_after = paragraph.paragraph_format.space_before = Pt(0)
            paragraph.paragraph_format.line_spacing = Pt(5)
    for cell in document.element.body.iter(qn("w:tc")):
        for holder in cell.iter(qn("w:p")):
            spacing = holder.get_or_add_pPr().get_or_add_spacing()
            spacing.set(qn("w:before"), "20")
            spacing.set(qn("w:after"), "30")


BUILDERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {".docx.quad": (".docx", build_quad)}
"""Ending of a source to the ending of its file and the function that builds it."""
