# ruff: noqa: ISC004 -- long blocks of text are wrapped
"""A text of a mail: its encoding, its forms, and invitations."""

import pytest

from tests.support.mails import body, kinds, multipart, read, single

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


@pytest.mark.parametrize(
    ("subject", "shown", "noticed"),
    [
        (b"=?utf-8?Q?Caf=C3=28_x?=", "Caf\ufffd( x", "1 character that can't be decoded, shown as \ufffd"),
        (b"=?x-nope?Q?Caf=E9?=", "Caf\ufffd", "1 character that can't be decoded, shown as \ufffd"),
        (b"Caf\xe9", "Caf\u00e9", "not UTF-8; read as cp1252"),
        ("Caf\u00e9".encode(), "Caf\u00e9", None),
        (b"=?utf-8?Q?Caf=C3=A9?=", "Caf\u00e9", None),
    ],
)
def test_what_a_header_lost_is_reported(tmp_path, subject, shown, noticed):
    document = read(tmp_path, "a.eml", b"Subject: " + subject + b"\nContent-Type: text/plain\n\nMove now\n")
    assert f"Subject: {shown}" in document.text
    assert [(one.place, one.detail) for one in document.notices] == (
        [("headers", noticed)] if noticed else []
    )


def test_the_label_that_is_wrong_is_named(tmp_path):
    page = "<meta charset='iso-8859-1'><p>Caf\u00e9</p>".encode()
    data = b"Subject: x\nContent-Type: text/html; charset=ascii\n\n" + page
    document = read(tmp_path, "a.eml", data)
    assert [one.detail for one in document.notices] == ["labelled iso-8859-1; read as UTF-8, which it is"]
