import io
import re

import docx
import pytest
from PIL import Image as Picture

from flows.adapters.pages import Rendered
from flows.common.digests import canonical_json, sha256_text
from flows.pipeline.native import reading, renders
from flows.pipeline.native.offered import offered_tools
from flows.pipeline.native.toolbox import page_of

pytestmark = pytest.mark.usefixtures("office")


def test_what_is_offered_stays_the_same_bytes():
    """It is part of the key of every stored call: another digest means that all are paid again."""
    digest = "874536ba4a9e7841e5b87377cfb59002fb7716e590ff8446f8ec8c7a417cd4cc"
    assert sha256_text(canonical_json(offered_tools(images=True))) == digest


def test_a_model_without_eyes_is_not_offered_pages(kit):
    made = kit(images=False)
    assert "view_page" not in [tool["function"]["name"] for tool in made.tools.offered]
    assert made.fails("view_page", path="attachments/log.pdf").startswith("view_page: no such tool; expected")


def test_files_are_listed(kit):
    made = kit({"attachments/notes.txt": b"12345"})
    assert made.says("list_files") == "attachments/notes.txt (5 bytes)"
    made.says("start_report")
    # Without the report's size, which compression may make another on another machine.
    assert made.says("list_files", "").splitlines() == [
        "attachments/notes.txt (5 bytes)",
        "outputs/report.docx",
    ]


def test_no_files(kit):
    assert kit({}).says("list_files") == "There is no file."


def test_a_file_is_read_in_parts(kit):
    text = "\n\n".join(f"Line {number:02}." for number in range(10))  # 8 characters and 2 line feeds each
    made = kit({"attachments/a.txt": text.encode()}, page_chars=45)
    assert made.says("read_file", path="attachments/a.txt") == (
        "attachments/a.txt, characters 0 to 40 of 98:\n\n"
        "Line 00.\n\nLine 01.\n\nLine 02.\n\nLine 03.\n\n\n\n[58 characters are left: go on with offset=40]"
    )
    assert made.says("read_file", path="attachments/a.txt", offset=80) == (
        "attachments/a.txt, characters 80 to 98 of 98:\n\nLine 08.\n\nLine 09.\n\n[This is the end.]"
    )
    assert made.fails("read_file", path="attachments/a.txt", offset=98) == (
        "attachments/a.txt: offset 98; expected 0 to 97"
    )


def test_parts_join_to_the_whole():
    text = "".join(f"{number}\n" * (number % 7) for number in range(300))
    parts, offset = [], 0
    while offset is not None:
        answer = page_of(text, offset, 100, "x")
        head, _, rest = answer.partition(":\n\n")
        start, end = map(int, re.search(r"characters (\d+) to (\d+)", head).groups())
        parts.append(rest[: end - start])
        more = re.search(r"offset=(\d+)\]$", answer)
        offset = int(more[1]) if more else None
    assert "".join(parts) == text
    assert page_of("", 0, 100, "x") == "x, 0 characters, whole:\n\n"


def test_what_a_page_does_not_show_is_told(kit):
    document = docx.Document()
    run = document.add_paragraph("Seen.").add_run("Not to be seen.")
    run.font.hidden = True
    buffer = io.BytesIO()
    document.save(buffer)
    text = kit({"attachments/a.docx": buffer.getvalue()}).says("read_file", path="attachments/a.docx")
    assert "\n\n[The reader says:\n- hidden_text, paragraph 1: hidden: Not to be seen.\n]\n\nSeen." in text


def test_word_pdf_and_the_report_are_read(kit):
    made = kit()
    assert "[Bottom line]" in made.says("read_file", path="attachments/template.docx")
    assert "Range 7 closed on 9 June." in made.says("read_file", path="/app/attachments/log.pdf")
    made.says("start_report", template="attachments/template.docx")
    assert "Weekly report" in made.says("read_file", path="/app/outputs/report.docx")


def test_a_document_is_read_once_for_all_attempts(kit, monkeypatch):
    made = kit({"attachments/once.txt": b"Read once."})
    first = made.says("read_file", path="attachments/once.txt")
    monkeypatch.setattr(reading, "read_guarded_bytes", None)
    assert made.says("read_file", path="attachments/once.txt") == first


def test_files_that_cannot_be_read_are_told_and_noted(kit):
    made = kit({"attachments/a.docx": b"no zip", "attachments/b.doc": b"old", "attachments/c.png": b"x"})
    assert made.fails("read_file", path="attachments/a.docx").startswith(
        "attachments/a.docx: no Office file inside; expected a .docx package"
    )
    assert made.fails("read_file", path="attachments/b.doc").startswith(
        "attachments/b.doc: no reader for such a file"
    )
    assert made.fails("read_file", path="attachments/c.png").startswith("attachments/c.png: a picture")
    made.fails("read_file", path="attachments/a.docx")
    assert made.tools.unread == [
        "attachments/a.docx: no Office file inside",
        "attachments/b.doc: no reader for such a file",
    ]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/etc/passwd", "/etc/passwd: an absolute path"),
        ("../secret", "../secret: a path with .."),
        ("attachments/no.txt", "attachments/no.txt: no such file"),
        ("attachments", "attachments: a folder"),
        ("attachments/a\ud800.txt", "attachments/a\ufffd.txt: a character that no file's name holds"),
    ],
)
def test_every_tool_that_takes_a_path_refuses_what_leads_elsewhere(kit, path, found):
    made = kit()
    assert made.fails("read_file", path=path).startswith(found)
    assert made.fails("view_page", path=path).startswith(found)
    assert made.fails("start_report", template=path).startswith(found)
    assert not (made.root / "outputs/report.docx").exists()


def test_pages_are_looked_at(kit):
    made = kit()
    answer = made.call("view_page", path="attachments/log.pdf", page=2)
    assert (answer.text, answer.is_error) == ("attachments/log.pdf, page 2 of 2:", False)
    assert [image.media for image in answer.images] == ["image/png"]
    assert made.call("view_page", path="attachments/log.pdf", page=2) == answer
    assert made.fails("view_page", path="attachments/log.pdf", page=3) == (
        "attachments/log.pdf: page 3; expected 1 to 2"
    )
    assert made.fails("view_page", path="attachments/notes.txt").startswith(
        "attachments/notes.txt: a file of the kind .txt; expected Word, PDF, Excel or a picture"
    )


def test_the_report_is_looked_at_too(kit, monkeypatch):
    drawn = Rendered(1, (b"picture",), None, "LibreOffice 7")
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: drawn)
    made = kit()
    made.says("start_report")
    answer = made.call("view_page", path="/app/outputs/report.docx")
    assert (answer.text, answer.images[0].data) == ("outputs/report.docx, page 1 of 1:", b"picture")


def test_pages_of_office_files_up_to_the_last_that_is_drawn(kit, monkeypatch):
    found = Rendered(30, tuple(b"%d" % number for number in range(1, 21)), None, "LibreOffice 7")
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: found)
    made = kit({"attachments/a.xlsx": b"sheet"})
    answer = made.call("view_page", path="attachments/a.xlsx", page=20)
    assert (answer.text, answer.images[0].data) == ("attachments/a.xlsx, page 20 of 30:", b"20")
    assert made.fails("view_page", path="attachments/a.xlsx", page=21) == (
        "attachments/a.xlsx: page 21 of 30; expected one of the first 20, for such a file"
    )


def test_without_libreoffice_a_page_is_not_looked_at_and_a_check_says_so(kit, monkeypatch):
    monkeypatch.setattr(renders, "find_converter", lambda: None)
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: Rendered(None, reason="none"))
    made = kit()
    absent = "pages are not measured here: LibreOffice is not installed."
    assert made.says("view_page", path="attachments/template.docx") == f"attachments/template.docx: {absent}"
    made.says("start_report")
    made.says("insert", blocks=[{"kind": "paragraph", "text": "The visit is on Monday."}])
    assert f"\nPages: {absent}\n" in made.says("check_report")


def test_pictures_are_shown_as_they_are(kit, monkeypatch):
    buffer = io.BytesIO()
    Picture.new("RGB", (3, 3)).save(buffer, "JPEG")
    made = kit({"attachments/map.JPG": buffer.getvalue(), "attachments/no.png": b"GIF89a"})
    image = made.call("view_page", path="attachments/map.JPG").images[0]
    assert (image.media, image.data) == ("image/jpeg", buffer.getvalue())
    assert made.fails("view_page", path="attachments/no.png") == (
        "attachments/no.png: no PNG inside; expected a picture"
    )
    monkeypatch.setattr(reading, "_MAX_PICTURE", 10)
    assert "at most 10" in made.fails("view_page", path="attachments/map.JPG")
