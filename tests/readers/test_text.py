# ruff: noqa: ISC004 -- long blocks of text are wrapped
"""Plain text, Markdown, CSV and mail."""

from email.message import EmailMessage

import pytest

from flows.readers import read_document
from flows.readers.words import collapsed, normalised, pipe_table


def read(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_document(path)


def found(document):
    return [(block.kind, block.place, block.text) for block in document.blocks]


def test_plain_text_keeps_its_lines(tmp_path):
    document = read(tmp_path, "a.txt", "FROM: Ops\r\nTO:   All\r\n\r\nMove at dawn.   \r\n")
    assert found(document) == [
        ("paragraph", "lines 1-2", "FROM: Ops\nTO:   All"),
        ("paragraph", "line 4", "Move at dawn."),
    ]
    assert (document.media, document.reader, document.notices) == ("txt", "txt/2", ())


def test_markdown_blocks(tmp_path):
    text = "# Order\nBody.\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n\n# no heading\n```\n\n- item\n  - deeper\n"
    assert [(block.kind, block.level, block.text) for block in read(tmp_path, "a.md", text).blocks] == [
        ("heading", 1, "# Order"),
        ("paragraph", None, "Body."),
        ("table", None, "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("paragraph", None, "```\ncode\n\n# no heading\n```"),
        ("list_item", 1, "- item\n  - deeper"),
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a;b\n1,5;2\n", "| a | b |\n| --- | --- |\n| 1,5 | 2 |"),
        ("a\tb\n1\t2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("a|b\n1|2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            'name,note\nX,"two\nlines, and | a bar"\n',
            "| name | note |\n| --- | --- |\n| X | two<br>lines, and \\| a bar |",
        ),
        ("sep=;\na;b\n", "| a | b |\n| --- | --- |"),
        ("only\none\n", "| only |\n| --- |\n| one |"),
    ],
)
def test_delimiter_is_found(tmp_path, data, expected):
    assert read(tmp_path, "a.csv", data).text == expected


def test_rows_of_unequal_length_are_filled_and_reported(tmp_path):
    document = read(tmp_path, "a.csv", "a,b,c\n1,2\n")
    assert document.text.split("\n")[2] == "| 1 | 2 |  |"
    assert [notice.kind for notice in document.notices] == ["uncertain_layout"]


@pytest.mark.parametrize(
    ("data", "guessed"),
    [
        ("Grüße aus Köln — gut".encode("utf-8-sig"), False),
        ("Grüße aus Köln — gut".encode("utf-16"), False),
        ("Grüße aus Köln — gut".encode("utf-16-le"), True),
        ("Grüße aus Köln — gut".encode("cp1252"), True),
    ],
)
def test_encodings(tmp_path, data, guessed):
    document = read(tmp_path, "a.txt", data)
    assert document.text == "Grüße aus Köln — gut"
    assert [notice.kind for notice in document.notices] == ["mended_encoding"] * guessed


def test_text_is_normalised_once_and_says_so():
    assert normalised("e\u0301\r\nx\ud800\x07y") == ("é\nx\ufffdy", 2)
    assert normalised("plain") == ("plain", 0)
    assert collapsed(" a \t b\u00a0\u00a0c \n d ") == "a\tb c\nd"
    assert pipe_table([["a|b", "x"], ["l1\nl2"]]) == "| a\\|b | x |\n| --- | --- |\n| l1<br>l2 |  |"


def test_composition_is_reported(tmp_path):
    document = read(tmp_path, "a.csv", "cafe\u0301,x\n")
    assert document.text == "| café | x |\n| --- | --- |"
    assert [notice.kind for notice in document.notices] == ["normalised"]


@pytest.fixture
def mail():
    message = EmailMessage()
    message["From"], message["To"] = "Ops <ops@example.org>", "Staff <staff@example.org>"
    message["Subject"], message["Date"] = "Ränge und Zeiten", "Mon, 05 Jan 2026 10:00:00 +0000"
    message.set_content("Plain words.")
    message.add_alternative(
        "<html><body><style>x</style><h2>Timings</h2><p>Cross at <b>0430</b>, see "
        '<a href="https://example.org/annex">annex</a>.</p><span style="display:none">secret</span>'
        "<ol start=3><li>Boats<li>Rafts</ol><table><tr><th>Unit<th>Men<tr><td>Alpha<td>90</table>"
        '<p style="color:#fff">white</p><img alt="Sketch" src="x"></body></html>',
        subtype="html",
    )
    message.add_attachment(b"unit,men\nBravo,80\n", maintype="text", subtype="csv", filename="men.csv")
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="x.bin")
    return message


def test_mail_with_html_and_attachments(tmp_path, mail):
    document = read(tmp_path, "a.eml", mail.as_bytes())
    assert found(document) == [
        (
            "metadata",
            "headers",
            "From: Ops <ops@example.org>\nTo: Staff <staff@example.org>\n"
            "Date: Mon, 05 Jan 2026 10:00:00 +0000\nSubject: Ränge und Zeiten",
        ),
        ("heading", "paragraph 1 of the message", "## Timings"),
        ("paragraph", "paragraph 2 of the message", "Cross at 0430, see annex (https://example.org/annex)."),
        ("list_item", "paragraph 3 of the message", "3. Boats"),
        ("list_item", "paragraph 4 of the message", "4. Rafts"),
        ("table", "paragraph 5 of the message", "| Unit | Men |\n| --- | --- |\n| Alpha | 90 |"),
        ("paragraph", "paragraph 6 of the message", "[Image: Sketch]"),
        ("metadata", "attachments", "[Attachments: men.csv, x.bin]"),
        ("table", "attachment men.csv: rows 1-2", "| unit | men |\n| --- | --- |\n| Bravo | 80 |"),
    ]
    assert [(notice.kind, notice.detail) for notice in document.notices] == [
        ("hidden_text", "not visible: secret"),
        ("hidden_text", "not visible: white"),
        ("unread_part", "application/octet-stream, 2 bytes"),
    ]


def test_forwarded_mail_is_read_in_its_turn(tmp_path, mail):
    outer = EmailMessage()
    outer["From"], outer["Subject"] = "a@example.org", "Fwd"
    outer.set_content("See below.")
    outer.add_attachment(mail)
    texts = [block.text for block in read(tmp_path, "a.eml", outer.as_bytes()).blocks]
    assert texts[:2] == ["From: a@example.org\nSubject: Fwd", "See below."]
    assert "| Bravo | 80 |" in texts[-1]
