"""Which words of a report that was handed in are shown, and which count."""

import functools
import re
import warnings
import zipfile

import docx
import pytest
from docx.oxml.ns import nsdecls

from flows.pipeline.inputs.submission_check import WORD_RULE, check_report
from flows.schema.report_task import ReportStatus
from tests.pipeline.submission_support import add, counts, rewrite, write_report

BOX = (
    '<w:p><w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><w:txbxContent>'
    "<w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
)


@pytest.fixture
def report(tmp_path):
    return functools.partial(write_report, tmp_path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: setattr(d.add_table(1, 1).cell(0, 0), "text", "In a table"), (0, 3, 0, 0, 0)),
        (lambda d: setattr(d.sections[0].header.paragraphs[0], "text", "In a header"), (0, 0, 0, 0, 3)),
        (lambda d: setattr(d.sections[0].footer.paragraphs[0], "text", "In a footer"), (0, 0, 0, 0, 3)),
        (add(BOX), (0, 0, 0, 3, 0)),
        (
            add("<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"),
            (3, 0, 0, 0, 0),
        ),
    ],
    ids=["table", "header", "footer", "text box", "content control"],
)
def test_words_outside_of_paragraphs_are_found(report, change, expected):
    path = report(change=change)
    found = check_report(path)
    assert found.status is ReportStatus.readable
    assert len(re.findall(r"In a \w+", found.text)) == 1
    assert counts(path) == expected


def test_insertions_count_and_deletions_do_not_and_no_name_is_told(report):
    changes = (
        '<w:p><w:ins w:id="1" w:author="some-model-9"><w:r><w:t>four new words here</w:t></w:r></w:ins>'
        '<w:del w:id="2" w:author="some-model-9"><w:r><w:delText>three old words</w:delText></w:r></w:del>'
        "</w:p>"
    )
    found = check_report(report("Two words", change=add(changes)))
    assert "four new words here" in found.text
    assert "three old words" not in found.text
    assert found.words.counted == 6
    assert any("three old words" in notice.detail for notice in found.notices)
    assert "some-model-9" not in found.text + repr(found.notices)


def test_a_comment_is_shown_without_its_author_and_not_counted(report):
    def change(document):
        run = document.add_paragraph().add_run("Two words")
        document.add_comment(run, text="five words of a comment", author="some-model-9", initials="sm")

    found = check_report(report(change=change))
    assert "[Comment" in found.text
    assert "five words of a comment" in found.text
    assert "some-model-9" not in found.text
    assert found.words.counted == 2


def test_numbers_that_word_sets_are_shown_and_not_counted(report):
    def change(document):
        document.add_paragraph("first point", style="List Number")
        document.add_paragraph("second point", style="List Number")
        document.add_paragraph("a bullet", style="List Bullet")
        document.add_paragraph("1. typed number")

    path = report(change=change)
    assert "1. first point" in check_report(path).text
    assert counts(path) == (2 + 2 + 2 + 3, 0, 0, 0, 0)


def test_tables_count_once_for_each_merged_cell(report):
    def change(document):
        table = document.add_table(2, 2)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "Fleet status"  # 2
        table.cell(1, 0).text = "M1A2\nready"  # 2, on two lines
        table.cell(1, 1).text = "12 of 14 | 86%"  # 4: a bar separates

    assert counts(report("One", change=change)) == (1, 8, 0, 0, 0)


def with_notes(path):
    """Add a footnote and an endnote of two and three words to the first paragraph."""

    def change(name, data):
        if name == "[Content_Types].xml":
            for kind in ("footnotes", "endnotes"):
                entry = (
                    f'<Override PartName="/word/{kind}.xml" ContentType="application/vnd.openxmlformats-'
                    f'officedocument.wordprocessingml.{kind}+xml"/></Types>'
                )
                data = data.replace(b"</Types>", entry.encode())
        if name == "word/_rels/document.xml.rels":
            for kind in ("footnotes", "endnotes"):
                entry = (
                    f'<Relationship Id="r{kind}" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
                    f'relationships/{kind}" Target="{kind}.xml"/></Relationships>'
                )
                data = data.replace(b"</Relationships>", entry.encode())
        if name == "word/document.xml":
            marks = (
                b'<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r></w:p>'
            )
            data = data.replace(b"</w:p>", marks, 1)
        return data

    rewrite(path, change)
    with zipfile.ZipFile(path, "a") as package:
        for kind, text in (("footnote", "Range log"), ("endnote", "As of May")):
            package.writestr(
                f"word/{kind}s.xml",
                f'<w:{kind}s {nsdecls("w")}><w:{kind} w:id="2"><w:p><w:r><w:t>{text}</w:t></w:r></w:p>'
                f"</w:{kind}></w:{kind}s>",
            )
    return path


def test_notes_count_and_their_marks_do_not(report):
    path = with_notes(report("Three words here"))
    found = check_report(path)
    assert "[^1]: Range log" in found.text
    assert counts(path) == (3, 0, 2 + 3, 0, 0)


def test_a_link_counts_as_its_text(report):
    def change(document):
        relation = document.part.relate_to(
            "https://example.org/annex", docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True
        )
        add(f'<w:p><w:hyperlink r:id="{relation}"><w:r><w:t>the annex</w:t></w:r></w:hyperlink></w:p>')(
            document
        )
        add(
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
            '<w:r><w:instrText>HYPERLINK "https://example.org/b"</w:instrText></w:r>'
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>annex B</w:t></w:r>'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        )(document)

    path = report(change=change)
    assert "the annex (https://example.org/annex)" in check_report(path).text
    assert counts(path) == (4, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ready\u2014not yet", 3),  # a dash separates
        ("well-known state-of-the-art", 2),  # a hyphen joins
        ("and/or 14/16", 4),  # a slash separates
        ("3,000 12.5 86% 2031-05-14", 4),  # a number is one
        ("\u6253\u9776 \u5b8c\u6210", 4),  # each ideograph is one
        ("one\u200btwo", 2),  # what nobody sees separates
        ("(a) [b] \u201cc\u201d \u2022 &", 3),  # signs are none
    ],
)
def test_the_word_counter_holds_in_a_word_file(report, text, words):
    assert check_report(report(text)).words.counted == words


def test_marks_typed_by_a_writer_do_not_hide_words(report):
    typed = "[Text box] [Image: nine words that nobody is going to count] [Header] x [spans 2 columns]"
    assert check_report(report(typed)).words.counted == 2 + 9 + 1 + 1 + 3


def test_the_rule_has_a_version(report):
    assert check_report(report("x")).words.rule == WORD_RULE == "r1/w1"


@pytest.mark.parametrize(
    ("task", "words"),
    [("sb-war-02", 200), ("sb-war-08", 150), ("sb-psr-01", 350), ("sb-aar-04", 1500)],
)
def test_the_expert_reports_keep_to_their_own_limits(project, task, words):
    found = check_report(project / "data/mission_report/tasks" / task / "tests/golden/report.docx")
    assert found.status is ReportStatus.readable
    assert words // 2 < found.words.counted <= words


def test_every_fixture_is_read_once_and_without_a_warning(project):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = check_report(project / "tests/fixtures/documents/docx-hdrftr.docx")
    # Header: First header para, Table cell1, Table cell2, Last header para.
    # Footer: para1, cell1, a, f, b, c, d, e, para2.
    assert (found.words.body, found.words.outside) == (2, 10 + 9)
