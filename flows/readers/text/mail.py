"""Mail (.eml): headers, the message as shown, attachments read in their turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import MIMEPart
from pathlib import Path
from typing import Any, TypeAlias

from flows.readers.text import html
from flows.readers.words import flat, normalised
from flows.schema.document import Block, BlockKind, Document, Notice
from flows.schema.errors import ReadError

_HEADERS = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject", "Importance")
MAX_PARTS = 200

Message: TypeAlias = "MIMEPart[Any, Any]"
Opener = Callable[[bytes, Path], Document | None]


def read(data: bytes, path: Path, opener: Opener) -> tuple[list[Block], list[Notice]]:
    """Read one mail.

    Args:
        data: the file's bytes.
        path: its name, for errors.
        opener: reads an attachment; None where its format is not read.

    Raises:
        ReadError: the file is no mail, or an attachment that should be readable is not.
    """
    message = message_from_bytes(data, policy=policy.default)
    if not any(message[name] for name in ("From", "To", "Date", "Subject")):
        raise ReadError(path, "no mail headers", "a mail with From, Date, Subject", "save the mail as .eml")
    return _message(message, path, opener, "")


def _message(message: Message, path: Path, opener: Opener, inside: str) -> tuple[list[Block], list[Notice]]:
    notices: list[Notice] = []
    lines = [f"{name}: {flat(str(value))}" for name in _HEADERS for value in message.get_all(name, [])]
    blocks = [Block(BlockKind.metadata, "\n".join(lines), inside + "headers")] if lines else []
    body = message.get_body(preferencelist=("html", "plain"))
    if body is not None:
        found, said = _body(body)
        blocks += [replace(block, place=inside + block.place) for block in found]
        notices += said
    attachments = _attachments(message, body)
    if len(attachments) > MAX_PARTS:
        raise ReadError(path, f"{len(attachments)} attachments", f"at most {MAX_PARTS}", "save them apart")
    if attachments:
        names = ", ".join(_name(part, at) for at, part in enumerate(attachments, 1))
        blocks.append(Block(BlockKind.metadata, f"[Attachments: {names}]", inside + "attachments"))
    for at, part in enumerate(attachments, 1):
        more, said = _attachment(part, _name(part, at), path, opener, inside)
        blocks += more
        notices += said
    return blocks, notices


def _body(body: Message) -> tuple[list[Block], list[Notice]]:
    text = _text(body)
    notices: list[Notice] = []
    if "\ufffd" in text:
        notices.append(
            Notice("mended_encoding", "message", f"{text.count(chr(0xFFFD))} characters lost in transport")
        )
    if body.get_content_type() == "text/html":
        blocks, said = html.read(normalised(text)[0])
        return blocks, notices + said
    blocks = [
        Block(BlockKind.paragraph, part.strip("\n"), f"paragraph {at} of the message")
        for at, part in enumerate((p for p in normalised(text)[0].split("\n\n") if p.strip()), 1)
    ]
    return blocks, notices


def _text(part: Message) -> str:
    try:
        return str(part.get_content())
    except LookupError:
        # An encoding that Python does not know: keep what is ASCII, and the caller reports the rest.
        payload = part.get_payload(decode=True)
        return payload.decode("ascii", "replace") if isinstance(payload, bytes) else ""


def _attachments(message: Message, body: Message | None) -> list[Message]:
    """All leaves that are neither the body nor another form of it, images inside the text included."""
    found: list[Message] = []

    def visit(part: Message) -> None:
        if part.get_content_type() == "multipart/alternative":
            for child in part.iter_parts():
                if child is body or child.get_content_maintype() == "text":
                    continue
                visit(child)
        elif part.is_multipart() and part.get_content_type() != "message/rfc822":
            for child in part.iter_parts():
                visit(child)
        elif part is not body:
            found.append(part)

    if message.is_multipart():
        visit(message)
    return found


def _name(part: Message, at: int) -> str:
    name = flat(part.get_filename() or "").replace("/", "_").replace("\\", "_")
    return name or f"part {at} ({part.get_content_type()})"


def _attachment(
    part: Message, name: str, path: Path, opener: Opener, inside: str
) -> tuple[list[Block], list[Notice]]:
    place = f"{inside}attachment {name}: "
    if part.get_content_type() == "message/rfc822":
        inner = next(iter(part.iter_parts()), None)
        if inner is not None and place.count("attachment ") <= 3:  # noqa: PLR2004 -- mail in mail in mail is enough
            return _message(inner, path, opener, place)
        return [], [Notice("unread_part", place.rstrip(": "), "mail nested too deeply")]
    content = part.get_content() if part.get_content_maintype() != "multipart" else b""
    data = content.encode() if isinstance(content, str) else bytes(content)
    document = opener(data, Path(f"{path}!{name}")) if data else None
    if document is None:
        # Logos and signatures are part of most mails; what is not read is named, in the text too.
        return [], [
            Notice("unread_part", place.rstrip(": "), f"{part.get_content_type()}, {len(data):,} bytes")
        ]
    return (
        [replace(block, place=place + block.place) for block in document.blocks],
        [replace(notice, place=place + notice.place) for notice in document.notices],
    )
