"""When a report that was handed in is missing, corrupt, empty or readable."""

import functools
import zipfile

import pytest

from flows.common.errors import ReadError
from flows.pipeline.inputs import submission_check as report_file
from flows.pipeline.inputs.submission_check import check_report
from flows.schema.report_task import ReportStatus
from tests.pipeline.submission_support import add, rewrite, write_report


@pytest.fixture
def report(tmp_path):
    return functools.partial(write_report, tmp_path)


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


def test_only_a_comment_is_an_empty_report(report):
    def change(document):
        document.add_comment(document.add_paragraph().add_run(" "), text="a note", author="x")

    found = check_report(report(change=change))
    assert (found.status, found.reason.endswith(", only comments")) == (ReportStatus.empty, True)
