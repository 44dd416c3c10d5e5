# ruff: noqa: ISC004 -- long blocks of text are wrapped
"""Plain text, Markdown, CSV and mail."""

import base64
from email.message import EmailMessage
from pathlib import Path

import pytest

from flows.readers import read_document
from flows.readers.words import collapsed, normalised, pipe_table

ROOT = Path(__file__).parents[2]


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
        ("other_form", "words that only another form of the message has: Plain words"),
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


HEAD = b"From: a@example.org\nSubject: s\nMIME-Version: 1.0\n"


def single(kind, body, encoding="8bit"):
    return HEAD + f"Content-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n".encode() + body


def multipart(kind, *parts):
    lines = [HEAD + f'Content-Type: multipart/{kind}; boundary="B"\n'.encode()]
    lines += [b"--B\nContent-Type: " + part for part in parts]
    return b"\n".join([*lines, b"--B--\n"])


def body(document):
    return [block.text for block in document.blocks if block.place != "headers"]


def hidden(document):
    return [notice.detail for notice in document.notices if notice.kind == "hidden_text"]


def kinds(document):
    return [notice.kind for notice in document.notices]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("10<sup>6</sup> H<sub>2</sub>O 1<sup>st</sup>", ["10⁶ H₂O 1st"]),
        ('10<sup>-<b>6</b></sup> 2<span style="vertical-align:super">10</span>', ["10⁻⁶ 2¹⁰"]),
        ("2<sup>1/2</sup>", ["2^(1/2)"]),
        ("10<span style='position:relative;top:-4.0pt;mso-text-raise:4.0pt'>6</span>", ["10⁶"]),
        (
            "10<span style='vertical-align:30%'>6</span> H<span style='vertical-align:-2pt'>2</span>",
            ["10⁶ H₂"],
        ),
        ("at <s>0400</s> <strike>a <b>b</b> </strike>0600", ["at ~~0400 a b~~ 0600"]),
        ('at <span style="text-decoration: line-through red">0400</span> 0600', ["at ~~0400~~ 0600"]),
        ("<del><p>one<p>two</del>three", ["~~one~~", "~~two~~", "three"]),
        ('<s style="text-decoration:none">live</s>', ["live"]),
        ("<ol type=a start=2><li>x<li value=27>y</ol>", ["b. x", "aa. y"]),
        ("<ol reversed><li>x<li>y</ol>", ["2. x", "1. y"]),
        ("<ol><li><ol type=a><li>x<li>y</ol><li>z</ol>", ["  1. a. x", "  b. y", "2. z"]),
        (
            "<ol><li><table><tr><td>x<td>y</table></ol>",
            ["1. [table below]", "| x | y |\n| --- | --- |"],
        ),
        (
            '<ol style="list-style-type:upper-roman"><li>x<ul><li>z</ul>more</ol>',
            ["I. x", "  - z", "   more"],
        ),
        (
            "<table><caption>Strength</caption><tr><th>Bde<th>Unit<th>Men<tr><td rowspan=2>1<td>A<td>9"
            "<tr><td>B<td>8<tr><td colspan=2>All<td>17</table>",
            [
                "Strength",
                "| Bde | Unit | Men |\n| --- | --- | --- |\n| 1 [spans 2 rows] | A | 9 |\n|  | B | 8 |\n"
                "| All [spans 2 columns] |  | 17 |",
            ],
        ),
        (
            "<table><tr><th><h3># of vehicles</h3><th>Unit<tr><td>14<td>A</table>",
            ["| # of vehicles | Unit |\n| --- | --- |\n| 14 | A |"],
        ),
        (
            "<table><tfoot><tr><td>f<td>g</tfoot><tr><td rowspan=0>a<td>b<tr><td>c</table>",
            ["| a [spans 2 rows] | b |\n| --- | --- |\n|  | c |\n| f | g |"],
        ),
        (
            "<table><tr><td colspan=1000>T<tr><td>a<td>b</table>",
            ["| T [spans 2 columns] |  |\n| --- | --- |\n| a | b |"],
        ),
        (
            "<table><tr><th>A<th>B<tr><td>1<td><table><tr><td>x<td>y</table></table>",
            [
                "| A | B |\n| --- | --- |\n| 1 | [table below] |",
                "[Table inside row 2, column 2]\n| x | y |\n| --- | --- |",
            ],
        ),
        (
            "<table><tr><td><table><tr><td>x<td>y</table><td>side</table>",
            ["| x | y |\n| --- | --- |", "side"],
        ),
        ("<table>stray<form><tr><td>a<td>b</form></table>", ["stray", "| a | b |\n| --- | --- |"]),
        (
            "Name: <input value=SMITH> <input type=checkbox checked>Go <input type=radio>Stay <select>"
            "<option>red<option selected>green</select> <select multiple><option>a<option selected>b",
            ["Name: SMITH ☒ Go ☐ Stay green ☐ a, ☒ b"],
        ),
        ("Remarks: <textarea>two\n  lines</textarea>", ["Remarks:", "two\n  lines"]),
        ("<select><option>first<option>other</select> <input placeholder=When>", ["first [empty: When]"]),
        (
            '<a href="https://x.org/a"><p>annex</a> <a href="https://x.org/b"></a>',
            ["annex (https://x.org/a)"],
        ),
        ('<a href="https://x.org/m"><img alt=Map src=m></a>', ["[Image: Map] (https://x.org/m)"]),
        ("<pre>a   b\n  c</pre><p style='white-space:pre-wrap'>x  y</p>", ["a   b\n  c", "x  y"]),
        ("q&amp;r&nbsp;s<br>t <q>u</q>", ["q&r s\nt “u”"]),
        ("<ruby>漢<rp>(</rp><rt>kan</rt></ruby>", ["漢 (kan)"]),
        (
            "<details><summary>More</summary>inside</details><noscript>plain</noscript>",
            ["More", "inside", "plain"],
        ),
        ('<?xml version="1.0" encoding="iso-8859-1"?><p>ü', ["ü"]),
        ("<!-- nothing -->", []),
        ("<div>" * 300 + "deep" + "</div>" * 300, ["deep"]),
    ],
)
def test_html_is_read_as_it_is_seen(tmp_path, html, expected):
    document = read(tmp_path, "a.eml", single("text/html; charset=utf-8", html.encode()))
    assert body(document) == expected
    assert hidden(document) == []


@pytest.mark.parametrize(
    "html",
    [
        '<p style="color:rgb(255,255,255)">X',
        '<p style="color:#FEFEFE">X',
        '<p style="color:white !important;color:red">X',
        '<p style="color:rgba(0,0,0,0)">X',
        "<font color=white>X</font>",
        "<p hidden>X",
        '<p style="visibility:hidden">X',
        '<p style="font-size:0">X',
        '<p style="font:0/0 a">X',
        '<p style="font-size:1%">X',
        '<p style="opacity:0">X',
        '<p style="max-height:0;overflow:hidden">X',
        '<p style="position:absolute;left:-9999px">X',
        "<style>.a{display:none}</style><p class='b a'>X",
        "<style>@media screen{#i{display:none}}</style><p id=i>X",
        "<style>td > span, div p.c{color:#fff}</style><div><p class=c>X</div>",
        "<style>[data-k='1']{display:none}</style><p data-k=1>X",
        "<style>p{color:#fff !important}</style><p style='color:red'>X",
        '<body bgcolor=navy><p style="color:rgb(0 0 128)">X',
        '<table style="background:hsl(240,100%,25%)"><tr><td style="color:#000080">X</table>',
        '<table><tr style="display:none"><td>X</table>',
        '<table><tr><td style="display:none">X</table>',
        "<table style='display:none'><tr><td>X</table>",
        "<input type=hidden value=X>",
        "<template>X</template>",
    ],
)
def test_what_html_hides_is_reported_with_its_text(tmp_path, html):
    document = read(tmp_path, "a.eml", single("text/html", html.encode()))
    assert body(document) == []
    assert hidden(document) == ["not visible: X"]


@pytest.mark.parametrize(
    "html",
    [
        '<p style="color:yellow">X',
        '<p style="color:#FAFAFA">X',
        '<table><tr bgcolor="#1F3864"><td><font color="#FFFFFF">X</font></table>',
        '<table><tr><td style="background:#1F3864"><p><span style="color:white">X</table>',
        '<table bgcolor=navy><tr><td style="color:white">X</table>',
        '<div style="background-color:rgba(0,0,0,.8)"><p style="color:#fff">X</div>',
        '<body style="background:#abc none repeat 0 0;color:white">X',
        '<div style="background:linear-gradient(#fff,#fff)"><p style="color:#fff">X</div>',
        '<div style="background:#fff url(x.png)"><p style="color:#fff">X</div>',
        '<table background=x.png><tr><td style="color:#fff">X</table>',
        '<p style="color:var(--ink)">X',
        "<style>p:first-child{background:navy} p{color:#fff}</style><p>X",
        "<style>@media print{p{display:none}} p:hover{display:none}</style><p>X",
        "<style>:root{color-scheme:light}</style><p>X",
        '<p style="visibility:hidden"><span style="visibility:visible">X</span>',
        '<p style="font-size:0"><span style="font-size:12px">X</span>',
        '<table><tr><td style="height:0;overflow:hidden">X</table>',
        "<mark style='color:#fff'>X</mark>",
    ],
)
def test_html_that_may_be_seen_is_kept(tmp_path, html):
    document = read(tmp_path, "a.eml", single("text/html", html.encode()))
    assert body(document) == ["X"]
    assert hidden(document) == []


def test_style_rules_without_end_are_left_out_and_reported(tmp_path):
    rules = "".join(f"#i{at}{{display:none}}" for at in range(1002)) + "p{color:#fff}"
    document = read(tmp_path, "a.eml", single("text/html", f"<style>{rules}</style><p>X".encode()))
    assert hidden(document) == ["not visible: X"]
    assert [notice.detail for notice in document.notices] == ["3 style rules of too many", "not visible: X"]


def test_a_hidden_item_takes_no_number(tmp_path):
    html = b"<ol><li style='display:none'>x<li>y</ol>"
    document = read(tmp_path, "a.eml", single("text/html", html))
    assert body(document) == ["1. y"]
    assert hidden(document) == ["not visible: x"]


def test_a_link_in_white_text_has_a_colour_of_its_own(tmp_path):
    html = b'<p style="color:#fff">see <a href="https://x.org/a">annex</a></p>'
    document = read(tmp_path, "a.eml", single("text/html", html))
    assert body(document) == ["annex (https://x.org/a)"]
    assert hidden(document) == ["not visible: see"]


MOVE = "Übung Çankaya jetzt €"


@pytest.mark.parametrize(
    ("kind", "data", "text", "mended"),
    [
        ("text/plain", MOVE.encode(), MOVE, False),
        ("text/plain; charset=iso-8859-1", MOVE.encode(), MOVE, True),
        ("text/plain; charset=x-unknown", MOVE.encode(), MOVE, False),
        ("text/plain; charset=iso-8859-1", MOVE.encode("cp1252"), MOVE, False),
        ("text/plain; charset=utf-8", MOVE.encode("cp1252"), MOVE, True),
        ("text/plain", "El Niño: señal à 50 °C".encode("cp1252"), "El Niño: señal à 50 °C", True),
        ("text/plain; charset=utf-8", MOVE.encode() + b"\xc3", MOVE + "\ufffd", True),
        ("text/plain; charset=gb2312", "部队将于六点出发".encode("gbk"), "部队将于六点出发", False),
        ("text/plain; charset=iso-2022-jp", "部隊は出発".encode("iso-2022-jp"), "部隊は出発", False),
        ("text/plain; charset=unicode_escape", b"Move\0 at 0600", "Move at 0600", True),
        ("text/html", b"<meta charset=utf-8><p>" + MOVE.encode(), MOVE, False),
        ("text/html", b"<meta content='text/html; charset=iso-8859-9'><p>\xddzmir", "İzmir", False),
    ],
)
def test_a_text_is_decoded_by_what_its_bytes_are(tmp_path, kind, data, text, mended):
    document = read(tmp_path, "a.eml", single(kind, data))
    assert body(document) == [text]
    assert kinds(document) == ["mended_encoding"] * mended


EVENT = (
    b"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY;LANGUAGE=en:O-Group\\, all\r\n"
    b"DTSTART;TZID=Europe/Berlin:20260603T060000\r\nDTEND:20260603T053000Z\r\nLOCATION:CP Alpha\r\n"
    b'ORGANIZER;CN="Smith, J":MAILTO:smith@example.org\r\n'
    b"ATTENDEE;ROLE=REQ-PARTICIPANT;CN=Bob:mailto:bo\r\n b@example.org\r\nDESCRIPTION:Line one\\nline two\r\n"
    b"BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:Leave\r\n"
    b"DTSTART;VALUE=DATE:20260604\r\nDTEND;VALUE=DATE:20260606\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
SHOWN = [
    "[Event: request]\nSubject: O-Group, all\nStart: 2026-06-03 06:00 Europe/Berlin\n"
    "End: 2026-06-03 05:30 UTC\nPlace: CP Alpha\nOrganiser: Smith, J <smith@example.org>\n"
    "Attendee: Bob <bob@example.org> (req participant)\nDescription: Line one\nline two",
    "[Event: request]\nSubject: Leave\nStart: 2026-06-04 (all day)\nEnd: 2026-06-05 (all day)",
]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (single("text/calendar", EVENT), SHOWN),
        (
            multipart(
                "alternative", b"text/plain\n\nInvitation", b"text/calendar; method=REQUEST\n\n" + EVENT
            ),
            ["Invitation", *SHOWN],
        ),
        (
            multipart("mixed", b"text/plain\n\nSee", b"application/ics; name=invite.ics\n\n" + EVENT),
            ["See", "[Attachments: invite.ics]", *SHOWN],
        ),
        (
            multipart("mixed", b"text/calendar\n\n" + EVENT, b"application/ics; name=invite.ics\n\n" + EVENT),
            [*SHOWN, "[Attachments: invite.ics]"],
        ),
    ],
)
def test_an_invitation_gives_time_place_and_people(tmp_path, data, expected):
    assert body(read(tmp_path, "a.eml", data)) == expected


@pytest.mark.parametrize(
    ("plain", "html", "expected", "noticed"),
    [
        ("MOVE NOW", "<p></p>", "MOVE NOW", []),
        ("No HTML", "<p>Move at 0600 to the ford", "Move at 0600 to the ford", ["other_form"]),
        ("Move at 0600. Bring rations.", "<p>Move at 0600.", "Move at 0600. Bring rations.", []),
        ("Move now", "<p>Move now", "Move now", []),
        ("Move now STOP", "<p>Move now<i hidden>STOP</i>", "Move now", ["hidden_text"]),
    ],
)
def test_the_fuller_form_of_a_message_is_read(tmp_path, plain, html, expected, noticed):
    parts = b"text/plain\n\n" + plain.encode(), b"text/html\n\n" + html.encode()
    document = read(tmp_path, "a.eml", multipart("alternative", *parts))
    assert body(document) == [expected]
    assert kinds(document) == noticed


def test_html_is_preferred_in_doubt_wherever_it_stands(tmp_path):
    parts = b"text/html\n\n<h1>Move now</h1>", b"text/plain\n\nMove now"
    assert body(read(tmp_path, "a.eml", multipart("alternative", *parts))) == ["# Move now"]


TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |"
ENCRYPTED = "[Reader's note: the message is encrypted and can't be read here; get it decrypted]"
INNER = b"Subject: inner\nContent-Type: text/plain\n\nInner words"


@pytest.mark.parametrize(
    ("data", "expected", "noticed"),
    [
        (single("text/csv", b"a,b\n1,2\n"), ["[Attachments: part 1 (text/csv)]", TABLE], []),
        (
            single('application/octet-stream; name="=?utf-8?Q?=C3=9C.csv?="', b"a,b\n1,2\n"),
            ["[Attachments: Ü.csv]", TABLE],
            [],
        ),
        (
            single("application/octet-stream; name*0*=utf-8''%C3%9C; name*1*=b.csv", b"a,b\n1,2\n"),
            ["[Attachments: Üb.csv]", TABLE],
            [],
        ),
        (single("application/octet-stream; name=Ü.csv", b"a,b\n1,2\n"), ["[Attachments: Ü.csv]", TABLE], []),
        (
            single("application/zip; name=x.zip", b"PK"),
            [
                "[Attachments: x.zip]",
                "[Reader's note: x.zip is not read, and the message has no text of its own]",
            ],
            ["unread_part"],
        ),
        (
            single("application/pkcs7-mime; smime-type=enveloped-data", b"MIIB", "base64"),
            [ENCRYPTED],
            ["encrypted"],
        ),
        (multipart("encrypted", b"application/pgp-encrypted\n\nVersion: 1"), [ENCRYPTED], ["encrypted"]),
        (
            single(
                "text/plain", b"Keep.\n-----BEGIN PGP MESSAGE-----\nhQ==\n-----END PGP MESSAGE-----\nThis."
            ),
            ["Keep.", ENCRYPTED, "This."],
            ["encrypted"],
        ),
        (
            multipart("signed", b"text/plain\n\nOrder", b"application/pkcs7-signature; name=smime.p7s\n\nx"),
            ["Order", "[Attachments: smime.p7s]"],
            ["unread_part"],
        ),
        (
            multipart(
                "mixed", b"text/plain\n\nFirst", b"image/png; name=a.png\n\nx", b"text/html\n\n<p>Second"
            ),
            ["First", "Second", "[Attachments: a.png]"],
            ["unread_part"],
        ),
        (
            multipart("mixed", b"text/plain\n\nSee", b"text/html; name=r.html\n\n<p>Report"),
            ["See", "[Attachments: r.html]", "Report"],
            [],
        ),
        (
            multipart("mixed", b"text/plain\n\nSee", b"application/ms-tnef; name=winmail.dat\n\nx"),
            [
                "See",
                "[Attachments: winmail.dat]",
                "[Reader's note: winmail.dat is a message in Outlook's own format, and is not read]",
            ],
            ["unread_part"],
        ),
        (
            multipart("mixed", b"text/plain\n\nSee", b"message/rfc822\n\n" + INNER),
            ["See", "[Attachments: part 1 (message/rfc822)]", "Subject: inner", "Inner words"],
            [],
        ),
        (
            multipart(
                "mixed",
                b"message/rfc822\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(INNER),
            ),
            ["[Attachments: part 1 (message/rfc822)]", "Subject: inner", "Inner words"],
            [],
        ),
        (
            multipart("report", b"text/plain\n\nFailed", b"message/delivery-status\n\nAction: failed"),
            ["Failed", "Action: failed"],
            [],
        ),
        (
            multipart("alternative", b"text/plain\n\nHello", b"text/enriched\n\n<bold>Hello</bold>"),
            ["Hello"],
            ["unread_part"],
        ),
        (
            single("text/plain; name=a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1"),
            [
                "[Attachments: a.png]",
                "[Reader's note: a.png is not read, and the message has no text of its own]",
            ],
            ["unread_part"],
        ),
        (single("text/plain", b"TW92ZSE", "base64"), ["Move!"], []),
        (single("multipart/mixed", b"no boundary"), ["no boundary"], []),
        (b"Content-Type: text/plain\n\nonly words", ["only words"], []),
        (b"\xef\xbb\xbf\n" + single("text/plain", b"words"), ["words"], []),
        (single("text/plain", b"one\n\ntwo").replace(b"\n", b"\r"), ["one", "two"], []),
        (
            single("text/plain; format=flowed", b"Move at \n0600.\n> said \n> so\n>> deep\n -- \nname"),
            ["Move at 0600.\n> said so\n>> deep\n-- \nname"],
            [],
        ),
        (single("text/plain; format=flowed; delsp=yes", b"Mo \nve"), ["Move"], []),
    ],
)
def test_every_part_of_a_mail_is_read_or_reported(tmp_path, data, expected, noticed):
    document = read(tmp_path, "a.eml", data)
    assert body(document) == expected
    assert kinds(document) == noticed


def test_a_mail_that_is_one_pdf_is_read_as_one(tmp_path):
    sheet = next((ROOT / "data").rglob("*.pdf"))
    data = single("application/octet-stream", base64.encodebytes(sheet.read_bytes()), "base64")
    blocks = [block.text for block in read_document(sheet).blocks]
    assert body(read(tmp_path, "a.eml", data))[1:] == blocks


@pytest.mark.parametrize("streamed", [False, True])
def test_a_sealed_signature_is_read_through(tmp_path, streamed):
    def value(tag, *inside):
        data = b"".join(inside)
        if streamed and tag & 0x20:
            return bytes([tag, 0x80]) + data + b"\0\0"
        return bytes([tag, 0x82]) + len(data).to_bytes(2) + data

    signed, plain = (value(6, bytes.fromhex(f"2a864886f70d01070{last}")) for last in (2, 1))
    octets = value(0x24, value(4, INNER[:20]), value(4, INNER[20:])) if streamed else value(4, INNER)
    inner = value(0x30, value(2, b"\1"), value(0x31), value(0x30, plain, value(0xA0, octets)), value(0x31))
    sealed = base64.encodebytes(value(0x30, signed, value(0xA0, inner)))
    data = single("application/pkcs7-mime; name=smime.p7m", sealed, "base64")
    assert body(read(tmp_path, "a.eml", data)) == ["Inner words"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"Subject: \xc3\x9cbung", "Subject: Übung"),
        (b"Subject: \xdcbung", "Subject: Übung"),
        (b"Subject: =?utf-8?B?w5xidW5n?=", "Subject: Übung"),
        (b"From: John Smith (Ops) john@example.org", "From: John Smith (Ops) john@example.org"),
        (b"From: =?utf-8?Q?M=C3=BCller?= <m@example.org>", "From: Müller <m@example.org>"),
        (b"Date: at noon", "Date: at noon"),
    ],
)
def test_headers_are_shown_as_they_were_meant(tmp_path, raw, shown):
    assert read(tmp_path, "a.eml", raw + b"\n\nwords").blocks[0].text == shown
