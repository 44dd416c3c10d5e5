"""What forms, text attachments and manuals of the MissionReport tasks may hold, read from built files."""

import importlib
from pathlib import Path

import docx
import pytest
from docx.enum.text import WD_ALIGN_PARAGRAPH

from flows.readers import read_document

FOLDER = Path(__file__).parents[2] / "data" / "mission_report"
FORM = """\
---
title: Report
header: SYNTHETIC
marking: UNCLASSIFIED
letterhead: [FIRST LINE, Second line]
key_value: [1]
---
= {{symbol|SYMBOL}}\t{{date|date}}

^ In the middle

| From | {{sender|office}} | To | The commander |

| Item | Value |
| one | 1 |

# 1. Text

Closing.

> {{signer|NAME}}

> Colonel
"""
MANUAL = """\
title: Manual
number: M 1
date: "2030"
header: SYNTHETIC
footer: M 1
front: [Read me.]
chapters:
  - title: Rules
    sections:
      - {title: First, text: ["[limit] The limit is 4.", {table: [[a, b], [c, "d"]]}]}
      - {topic: Boats, of: the boat pool, who: the boat officer, log: the log, more: Boats go in pairs.}
plan: [[task]]
sentences: {task: ["{who} runs {of} {when}."]}
fills: {when: [at dawn]}
steps: ["Read {log}.", "Stop {of}.", "Rest.", "Eat.", "Look.", "Wait.", "Sign.", "Go.", "End.", "Sleep."]
sheets: {title: Sheets, items: {}, rows: {}, text: [], steps: {}}
checklists: {title: Lists, subjects: [], lines: []}
places:
  {title: Ports, label: Port, names: [Aby], text: ["{name} is invented."], rows: Berth, columns: [
    {head: Lamps, words: [None]}, {head: Depth, from: 4, step: 0.1, of: 1, digits: 1}]}
annexes:
  - {title: Changes, sections: [{title: Change 1, text: ["Paragraph {ref:limit} is void."]}]}
"""


@pytest.fixture
def builder(monkeypatch):
    """A builder's module by name."""
    monkeypatch.syspath_prepend(FOLDER.parent)
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def source_error(builder):
    return builder("builders.markdown").SourceError


def test_form_has_letterhead_marking_signature_block_and_bold_labels(builder, tmp_path):
    source, built = tmp_path / "a.docx.form", tmp_path / "a.docx"
    source.write_text(FORM, encoding="utf-8")
    build = builder("builders_forms").build_form
    built.write_bytes(build(source))
    assert build(source) == built.read_bytes()
    text = read_document(built).text
    assert "FIRST LINE" in text
    assert "Report" not in text  # the letterhead replaces the title
    document = docx.Document(str(built))
    by_text = {p._p.xpath("string(.)"): p for p in document.paragraphs}
    assert by_text["FIRST LINE"].alignment == by_text["In the middle"].alignment == WD_ALIGN_PARAGRAPH.CENTER
    assert by_text["Colonel"].paragraph_format.left_indent > 0
    assert by_text["NAME"].paragraph_format.space_before > by_text["Colonel"].paragraph_format.space_before
    assert by_text["Closing."].paragraph_format.keep_with_next
    section = document.sections[0]
    assert (section.header.paragraphs[0].text, section.footer.paragraphs[-1].text) == ("UNCLASSIFIED",) * 2
    first, second = document.tables
    assert [bool(c._tc.xpath(".//w:r/w:rPr/w:b")) for c in first.rows[0].cells] == [True, False, True, False]
    assert [bool(c._tc.xpath(".//w:r/w:rPr/w:b")) for c in second.rows[0].cells] == [True, True]


def test_form_that_names_a_table_too_many_is_an_error(builder, source_error, tmp_path):
    source = tmp_path / "a.docx.form"
    source.write_text(FORM.replace("key_value: [1]", "key_value: [3]"), encoding="utf-8")
    with pytest.raises(source_error, match=r"a\.docx\.form: key_value names tables \[3\], there are 2"):
        builder("builders_forms").build_form(source)


def test_chart_is_turned_with_grey_bars_and_colored_words(builder, tmp_path):
    source, built = tmp_path / "a.docx.quad", tmp_path / "a.docx"
    head, _, body = FORM.removeprefix("---\n").partition("---\n")
    chart = body.replace("| one | 1 |", "| 2. Next | < |\n| one | RED |")
    front = "bars: {2: [0, 1]}\ncolors: {RED: F4B0A8}\n"
    source.write_text(f"---\n{head}{front}---\n{chart}", encoding="utf-8")
    build = builder("builders_quad").build_quad
    built.write_bytes(build(source))
    assert build(source) == built.read_bytes()
    document = docx.Document(str(built))
    section = document.sections[0]
    assert section.page_width > section.page_height
    table = document.tables[1]
    room = section.page_width - section.left_margin - section.right_margin
    assert sum(column.width for column in table.columns) == pytest.approx(room, rel=0.01)
    fills = [[c._tc.xpath("string(w:tcPr/w:shd/@w:fill)") for c in row.cells] for row in table.rows]
    assert fills == [["E7E6E6", "E7E6E6"], ["E7E6E6", "E7E6E6"], ["", "F4B0A8"]]


def test_chart_with_a_bar_too_many_is_an_error(builder, source_error, tmp_path):
    source = tmp_path / "a.docx.quad"
    source.write_text(FORM.replace("key_value: [1]", "bars: {2: [7]}"), encoding="utf-8")
    with pytest.raises(source_error, match=r"a\.docx\.quad: bars names table 2, rows \[7\]"):
        builder("builders_quad").build_quad(source)


def test_text_attachment_is_its_source_and_has_plain_line_ends(builder, source_error, tmp_path):
    copy_text = builder("builders_plain").copy_text
    source = tmp_path / "a.csv"
    source.write_bytes("a,ß\n".encode())
    assert copy_text(source) == "a,ß\n".encode()
    source.write_bytes(b"a\r\n")
    with pytest.raises(source_error, match="carriage returns"):
        copy_text(source)
    source.write_bytes(b"a\xff\n")
    with pytest.raises(source_error, match="not UTF-8: invalid start byte at byte 1"):
        copy_text(source)


def test_manual_numbers_paragraphs_and_resolves_names(builder, tmp_path):
    source, built = tmp_path / "m.pdf.manual", tmp_path / "m.pdf"
    source.write_text(MANUAL, encoding="utf-8")
    build = builder("builders_manual").build_manual
    built.write_bytes(build(source))
    assert build(source) == built.read_bytes()
    text = read_document(built).text
    assert "1-1. The limit is 4." in text
    assert "1-2. Boats go in pairs." in text
    assert "1-3. The boat officer runs the boat pool at dawn." in text
    assert "D-1. Paragraph 1-1 is void." in text
    assert "Aby is invented." in text
    assert "| 1 | None | 4.0 |" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{ref:limit}", "{ref:lost}"), "no paragraph is named lost"),
        (("Paragraph {ref:limit}", "[limit] Paragraph"), "two paragraphs are named limit"),
    ],
)
def test_manual_with_a_wrong_name_is_an_error(builder, source_error, tmp_path, change, message):
    source = tmp_path / "m.pdf.manual"
    source.write_text(MANUAL.replace(*change), encoding="utf-8")
    with pytest.raises(source_error, match=message):
        builder("builders_manual").build_manual(source)
