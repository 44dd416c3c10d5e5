"""Names of people in the properties and comments of documents."""

from pathlib import Path

import pytest

from flows.common.errors import ReadError
from flows.readers.people import people_of

DOCUMENTS = Path(__file__).resolve().parents[1] / "fixtures" / "documents"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docx_comments.docx", {"python-docx", "John Reviewer", "Jane Editor"}),
        ("marked.docx", {"J. Moss", "R. Hale"}),
        ("marked.xlsx", {"openpyxl", "Q. Ames"}),
        ("xlsx_comments.xlsx", {"Marcus Sterling (MS)", "John Reviewer", "Jane Editor", "Jane Smith (JS)"}),
        ("marked.pdf", {"anonymous"}),
        ("stanley-cups.xlsx", set()),
        ("README.md", set()),
    ],
)
def test_names_are_found(name, expected):
    path = DOCUMENTS / name
    assert {person for person, _ in people_of(path.read_bytes(), path).names} == expected


def test_a_place_names_the_part():
    path = DOCUMENTS / "marked.docx"
    assert ("J. Moss", "word/comments.xml, comment") in people_of(path.read_bytes(), path).names


def test_a_comment_of_a_pdf_has_an_author(tmp_path):
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    canvas.setAuthor("Ann Author")
    canvas.drawString(72, 700, "Text")
    canvas.textAnnotation("Why?", Rect=[72, 600, 90, 618])
    canvas.save()
    data = path.read_bytes().replace(b"/Contents (Why?)", b"/Contents (Why?) /T (Rita)")
    assert people_of(data, path).names == (
        ("Ann Author", "PDF properties, Author"),
        ("Rita", "p. 1, author of a comment"),
    )


@pytest.mark.parametrize("data", [b"%PDF-1.4 nothing", b"PK\x03\x04 nothing"])
def test_a_damaged_file_is_an_error(data):
    with pytest.raises(ReadError):
        people_of(data, Path("a.docx"))
