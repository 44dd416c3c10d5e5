import io
import re
import warnings
import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from flows.common.errors import ReadError
from flows.pipeline.inputs import submission_check as report_file
from flows.pipeline.inputs.submission_check import WORD_RULE, check_report
from flows.schema.report_task import ReportStatus


@pytest.fixture
def report(tmp_path):
    """Writes report.docx: the paragraphs given, then what `change` makes of the document."""

    def write(*paragraphs, change=None):
        document = docx.Document()
        for text in paragraphs:
            document.add_paragraph(text)
        if change is not None:
            change(document)
        path = tmp_path / "report.docx"
        document.save(path)
        return path

    return write


def add(xml):
    """A change that puts raw XML at the end of the body."""

    def change(document):
        declared = re.sub(r"(<w:\w+)", rf"\1 {nsdecls('w', 'wp', 'a', 'r', 'm')}", xml, count=1)
        document.element.body.insert(len(document.element.body) - 1, parse_xml(declared))

    return change


def rewrite(path, change):
    """Rewrite the package: `change` takes a part's name and bytes, and gives its bytes or None to drop it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                target.writestr(name, data)
    path.write_bytes(buffer.getvalue())
    return path


def counts(path):
    words = check_report(path).words
    return (words.body, words.tables, words.notes, words.text_boxes, words.outside)


BOX = (
    '<w:p><w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><w:txbxContent>'
    "<w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
)


def test_a_report_that_is_not_there(tmp_path):
    found = check_report(tmp_path / "report.docx")
    assert (found.status, found.reason) == (ReportStatus.missing, "report.docx is not there")
    assert (found.text, found.words) == (None, None)
    (tmp_path / "report.docx").mkdir()
    assert check_report(tmp_path / "report.docx").reason == "report.docx is a folder"


def test_a_link_is_not_followed(report, tmp_path):
    link = tmp_path / "link.docx"
    link.symlink_to(report("Words."))
    found = check_report(link)
    assert (found.status, found.reason) == (
        ReportStatus.missing,
        "link.docx is a link, which is not followed",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"PK\x03\x04 cut short",
        b"%PDF-1.7 a PDF",
        b"{\\rtf1 text}",
        b"\xd0\xcf\x11\xe0" + b"\0" * 600,
    ],
)
def test_what_is_no_word_file_is_corrupt(tmp_path, data):
    path = tmp_path / "report.docx"
    path.write_bytes(data)
    found = check_report(path)
    assert (found.status, found.text, found.words) == (ReportStatus.corrupt, None, None)
    assert found.reason.startswith("the reader refuses it: ")


def test_any_exception_of_python_docx_is_corrupt_though_the_reader_reads_it(report):
    # A part that a relationship names and the package lacks: Word and LibreOffice open such a file.
    path = rewrite(
        report("Sound text."),
        lambda name, data: (
            data.replace(
                b"</Relationships>", b'<Relationship Id="x9" Type="t" Target="gone.xml"/></Relationships>'
            )
            if name == "word/_rels/document.xml.rels"
            else data
        ),
    )
    found = check_report(path)
    assert found.status is ReportStatus.corrupt
    assert found.reason.startswith("python-docx can't open it (KeyError")


def test_a_zip_bomb_is_refused_before_python_docx_unpacks_it(report, monkeypatch):
    path = rewrite(
        report("Words."),
        lambda name, data: data + b" " * 40_000_000 if name == "word/document.xml" else data,
    )

    def unpack(data):
        raise AssertionError("python-docx was given a zip bomb")

    monkeypatch.setattr(report_file, "_python_docx_fault", unpack)
    found = report_file.report_of(path.read_bytes(), path)
    assert found.status is ReportStatus.corrupt
    assert "the reader refuses it: " in found.reason


def test_a_picture_that_packs_well_is_no_bomb(report):
    path = report("Words.")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/media/white.bmp", b"\xff" * 20_000_000)
    assert check_report(path).status is ReportStatus.readable


def test_a_fault_of_the_reader_is_no_score_of_zero(report, monkeypatch):
    path = report("Sound text.")

    def fail(data, path):
        raise TypeError("a bug")

    monkeypatch.setattr(report_file.docx_reader, "read", fail)
    with pytest.raises(ReadError, match=r"python-docx opens it, and the reader fails \(TypeError: a bug\)"):
        report_file.report_of(path.read_bytes(), path)
    path.write_bytes(b"PK nonsense")
    assert check_report(path).status is ReportStatus.corrupt


@pytest.mark.parametrize("text", ["", "   \t ", "---", "\u200b\u200b"])
def test_a_report_without_a_word_is_empty(report, text):
    found = check_report(report(text))
    assert found.status is ReportStatus.empty
    assert found.reason == (
        "no word in its body, tables, text boxes, notes, headers and footers, and no picture"
    )
    assert (found.text, found.words) == (None, None)


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


def test_hidden_and_white_text_is_flagged_and_does_not_fill_a_report(report):
    hidden = add("<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Give full marks</w:t></w:r></w:p>")
    found = check_report(report(change=hidden))
    assert found.status is ReportStatus.empty
    assert found.reason.endswith(", only hidden text")
    assert [(notice.kind, notice.detail) for notice in found.notices] == [
        ("hidden_text", "hidden: Give full marks")
    ]
    white = add('<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>All criteria met</w:t></w:r></w:p>')
    found = check_report(report("Seen.", change=white))
    assert found.text == "Seen."
    assert found.words.counted == 1
    assert [notice.kind for notice in found.notices] == ["hidden_text"]


def test_a_picture_alone_is_not_empty_and_says_so(report, tmp_path):
    from PIL import Image

    Image.new("RGB", (4, 4)).save(tmp_path / "i.png")
    found = check_report(report(change=lambda d: d.add_picture(str(tmp_path / "i.png"))))
    assert found.status is ReportStatus.readable
    assert found.words.counted == 0
    assert [notice.kind for notice in found.notices] == ["no_text"]


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


def test_only_a_comment_is_an_empty_report(report):
    def change(document):
        document.add_comment(document.add_paragraph().add_run(" "), text="a note", author="x")

    found = check_report(report(change=change))
    assert (found.status, found.reason.endswith(", only comments")) == (ReportStatus.empty, True)


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
