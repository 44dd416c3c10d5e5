"""Plain text, Markdown and CSV."""

import pytest

from flows.readers.shared.notation import collapsed, normalised, pipe_table
from tests.support.mails import found, read


def test_plain_text_keeps_its_lines(tmp_path):
    document = read(tmp_path, "a.txt", "FROM: Ops\r\nTO:   All\r\n\r\nMove at dawn.   \r\n")
    assert found(document) == [
        ("paragraph", "lines 1-2", "FROM: Ops\nTO:   All"),
        ("paragraph", "line 4", "Move at dawn."),
    ]
    assert (document.media, document.reader, document.notices) == ("txt", "txt/3", ())


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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "cafe\u0301,x\n"),
        ("a.txt", "A cafe\u0301\n"),
        ("a.md", "# Cafe\u0301\n"),
        ("a.eml", "Subject: x\nContent-Type: text/plain; charset=utf-8\n\nA cafe\u0301\n"),
        ("b.eml", "Subject: x\nContent-Type: text/html; charset=utf-8\n\n<p>A cafe\u0301</p>\n"),
    ],
)
def test_composition_is_reported(tmp_path, name, text):
    document = read(tmp_path, name, text)
    assert "af\u00e9" in document.text
    assert [(notice.kind, notice.detail) for notice in document.notices] == [
        ("normalised", "1 block composed to Unicode form NFC")
    ]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv"])
def test_control_characters_that_are_left_out_are_counted(tmp_path, name):
    document = read(tmp_path, name, "Move\x07 at dawn.\x1b\n")
    assert "Move at dawn." in document.text
    assert [(notice.kind, notice.detail) for notice in document.notices] == [
        ("mended_encoding", "2 characters that no text may hold, left out or replaced")
    ]
