import pytest

from flows.common.errors import StaffbenchError
from flows.common.untrusted import PathRefused
from flows.pipeline.native.folder import Folder, display_path, parts_of


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("attachments/notes.docx", ("attachments", "notes.docx")),
        ("/app/attachments/notes.docx", ("attachments", "notes.docx")),
        ("/app/outputs/report.docx", ("outputs", "report.docx")),
        ("./attachments//a/./b.pdf", ("attachments", "a", "b.pdf")),
        ("attachments/Öl \u2013 Lage (2).xlsx", ("attachments", "Öl \u2013 Lage (2).xlsx")),
        ("attachments/a: b.docx", ("attachments", "a: b.docx")),
        ("attachments/...", ("attachments", "...")),
    ],
)
def test_spellings_of_a_path_in_the_folder(written, parts):
    assert parts_of(written) == parts


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", "no path"),
        ("  ", "no path"),
        ("/etc/passwd", "an absolute path"),
        ("//server/share", "an absolute path"),
        ("/app//etc/passwd", "an absolute path"),
        ("/app/app/attachments/x", "outside the two folders"),
        ("/apparent/attachments/x", "an absolute path"),
        ("/app", "outside the two folders"),
        ("..", "a path with .."),
        ("attachments/../../etc/passwd", "a path with .."),
        ("attachments/..", "a path with .."),
        ("/app/../etc/passwd", "a path with .."),
        ("attachments\\notes.docx", "a backslash"),
        ("..\\..\\x", "a backslash"),
        ("C:/Windows", "an absolute path"),
        ("/app/c:x", "an absolute path"),
        ("attachments/a\0.docx", "a character that no file's name holds"),
        ("attachments/a\n.docx", "a character that no file's name holds"),
        ("attachments/\udc80.docx", "a character that no file's name holds"),
        ("attachments/\u202excod.exe", "a character that no file's name holds"),
        ("tests/golden/report.docx", "outside the two folders"),
        ("Attachments/notes.docx", "outside the two folders"),
        ("report.docx", "outside the two folders"),
        ("~/x", "outside the two folders"),
        ("file:///etc/passwd", "outside the two folders"),
        ("attachments", "a folder"),
        ("outputs/", "a folder"),
        ("attachments/" + "a" * 5000, "5,012 characters"),
    ],
)
def test_paths_that_lead_elsewhere_are_refused_unopened(written, found):
    with pytest.raises(PathRefused) as refused:
        parts_of(written)
    assert refused.value.found == found
    assert isinstance(refused.value, StaffbenchError)
    str(refused.value).encode()  # an answer is UTF-8


@pytest.mark.parametrize(
    "path", ["attachments/notes.docx", "outputs/notes.docx", "outputs/Report.docx", "outputs/a/report.docx"]
)
def test_only_the_report_is_written(path, tmp_path):
    with Folder(tmp_path) as folder:
        with pytest.raises(PathRefused, match=r"not to be written; expected outputs/report\.docx"):
            folder.write(path, b"x")
        folder.write("/app/outputs/report.docx", b"x")


def test_a_path_is_quoted_short_and_printable():
    assert display_path("a\0b\ud800") == "a\ufffdb\ufffd"
    assert display_path("x" * 300) == "x" * 200 + "..."
