# ruff: noqa: ISC004 -- long blocks of text are wrapped
"""The parts of a mail: every one is read or reported."""

import base64
from email.message import EmailMessage
from pathlib import Path

import pytest

from flows.readers import read_document
from tests.support.mails import body, found, kinds, multipart, read, single

ROOT = Path(__file__).parents[2]
TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |"
ENCRYPTED = "[Reader's note: the message is encrypted and can't be read here; get it decrypted]"
INNER = b"Subject: inner\nContent-Type: text/plain\n\nInner words"


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
