"""Read mail (.eml): headers, the message as shown, and its attachments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from flows.common.errors import ReadError
from flows.common.text import plural
from flows.readers.shared.notation import flat, normalised, with_newlines
from flows.readers.text import calendar, html, parts
from flows.readers.text.decode import decoded_part
from flows.schema.document import Block, BlockKind, Document, Notice

_HEADERS = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject", "Importance")
_OF_MAIL = (*_HEADERS, "Received", "Message-ID", "MIME-Version", "Content-Type", "Return-Path")
MAX_PARTS = 200
_MAX_DEPTH = 3  # mail in mail in mail is enough
_MAX_WORDS = 60  # that a notice lists
_SUFFIXES = {
    "application/pdf": ".pdf", "text/csv": ".csv", "text/tab-separated-values": ".tsv",
    "text/markdown": ".md", "message/rfc822": ".eml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.ms-word.document.macroenabled.12": ".docm",
    "application/vnd.ms-excel.sheet.macroenabled.12": ".xlsm",
}  # fmt: skip
_MARKS = {b"word/document.xml": ".docx", b"xl/workbook.xml": ".xlsx"}  # names in a package without one
_OTHER_FORMS = frozenset(["text/enriched", "text/richtext", "text/x-amp-html", "text/watch-html"])
_ARMOUR = re.compile(r"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.DOTALL)
# Ignored when two forms of a message are compared: addresses, and notes of the reader.
_UNCOUNTED = re.compile(r"https?://\S+|\[(?:Image|Attachments|spans)[^\]]{0,500}\]|cid:\S+")

Opener = Callable[[bytes, Path], Document | None]


@dataclass(slots=True)
class _Found:
    blocks: list[Block] = field(default_factory=list[Block])
    notices: list[Notice] = field(default_factory=list[Notice])
    attachments: list[parts.Message] = field(default_factory=list["parts.Message"])
    marked_up: bool = False

    def add(self, other: _Found) -> None:
        self.blocks += other.blocks
        self.notices += other.notices
        self.attachments += other.attachments
        self.marked_up |= other.marked_up

    def note(self, kind: str, text: str, place: str = "message") -> None:
        self.blocks.append(Block(BlockKind.note, f"[Reader's note: {text}]", place))
        self.notices.append(Notice(kind, place, text))


def read(data: bytes, path: Path, opener: Opener) -> tuple[list[Block], list[Notice]]:
    """Read one mail; `opener` reads an attachment, None where its format is not read.

    Raises:
        ReadError: the file is no mail, or an attachment that should be readable is not.
    """
    message = parts.parsed(data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n"))
    if not any(message[name] for name in _OF_MAIL):
        raise ReadError(path, "no mail headers", "a mail with From, Date, Subject", "save the mail as .eml")
    found = _message(message, path, opener, "")
    return found.blocks, found.notices


def _message(message: parts.Message, path: Path, opener: Opener, inside: str) -> _Found:
    lines = [f"{name}: {flat(str(value))}" for name in _HEADERS for value in message.get_all(name, [])]
    found = _Found([Block(BlockKind.metadata, "\n".join(lines), "headers")] if lines else [])
    if lost := "\n".join(lines).count("\ufffd"):
        detail = f"{plural(lost, 'character')} that can't be decoded, shown as \ufffd"
        found.notices.append(Notice("broken_encoding", "headers", detail))
    if parts.is_guessed(message, _HEADERS):
        found.notices.append(Notice("mended_encoding", "headers", "not UTF-8; read as cp1252"))
    body = _part(message, path)
    # Paragraphs are counted through the message, not through each part of it.
    found.add(replace(body, blocks=_counted(body.blocks)))
    attachments = found.attachments
    if len(attachments) > MAX_PARTS:
        raise ReadError(path, f"{len(attachments)} attachments", f"at most {MAX_PARTS}", "save them apart")
    if attachments:
        names = ", ".join(parts.called(part, at) for at, part in enumerate(attachments, 1))
        found.blocks.append(Block(BlockKind.metadata, f"[Attachments: {names}]", "attachments"))
    found.blocks = [replace(block, place=inside + block.place) for block in found.blocks]
    found.notices = [replace(notice, place=inside + notice.place) for notice in found.notices]
    for at, part in enumerate(attachments, 1):
        name = parts.called(part, at)
        more = _attachment(part, name, path, opener, inside)
        shown = {block.text for block in body.blocks}
        if parts.is_calendar(part) and {block.text for block in more.blocks} <= shown:
            continue  # the invitation that the message shows already, once more as a file
        if not more.blocks and not body.blocks:
            text = f"[Reader's note: {name} is not read, and the message has no text of its own]"
            more.blocks.append(Block(BlockKind.note, text, f"{inside}attachment {name}"))
        found.blocks += more.blocks
        found.notices += more.notices
    return found


def _counted(blocks: list[Block]) -> list[Block]:
    return [
        replace(block, place=re.sub(r"^paragraph \d+ of", f"paragraph {at} of", block.place))
        for at, block in enumerate(blocks, 1)
    ]


def _part(part: parts.Message, path: Path) -> _Found:  # noqa: PLR0911 -- one return a kind of part
    """What is read of a part as text of the message; what else it holds are attachments."""
    kind = part.get_content_type()
    if kind == "multipart/encrypted":
        found = _Found()
        found.note("encrypted", parts.ENCRYPTED)
        return found
    if kind in {"application/pkcs7-mime", "application/x-pkcs7-mime"} or parts.suffix(part) == ".p7m":
        return _sealed(part, path)
    if kind == "multipart/alternative" and part.is_multipart():
        return _alternatives([_part(child, path) for child in part.iter_parts()])
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        found = _Found()
        for child in part.iter_parts():
            found.add(_part(child, path))
        return found
    if kind in {"message/delivery-status", "message/disposition-notification"} and part.is_multipart():
        groups = filter(None, (str(group).strip() for group in part.get_payload()))
        return _Found([Block(BlockKind.paragraph, text, "paragraph 1 of the message") for text in groups])
    if part.get_content_maintype() not in {"text", "multipart"} or _is_file(part):
        return _Found(attachments=[part])
    try:
        return _text(part, path)
    except ReadError:  # labelled as text, and none
        return _Found(attachments=[part])


def _is_file(part: parts.Message) -> bool:
    """Whether a text stands beside the message, as a file of its own."""
    if part.get_content_maintype() == "multipart" or part.get_content_type() == "text/calendar":
        return False
    shown = part.get_content_type() in {"text/plain", "text/html", "text/rfc822-headers"}
    return not shown or part.get_content_disposition() == "attachment" or bool(parts.suffix(part))


def _sealed(part: parts.Message, path: Path) -> _Found:
    inner = parts.content(parts.payload(part))
    if inner is not None:
        return _part(parts.parsed(inner), path)
    found = _Found()
    if str(part.get_param("smime-type") or "") == "signed-data":
        found.note("unread_part", "the message is signed in a form that can't be opened")
    else:
        found.note("encrypted", parts.ENCRYPTED)
    return found


def _alternatives(forms: list[_Found]) -> _Found:
    """The form with the most words, HTML or the last one in doubt; what is no form of the text is added.

    Hidden words count for their form, so that the plain one does not bring back what HTML hides. A form
    has to have a tenth more words than one that is shown richer.
    """
    counts = [_words(form) for form in forms]
    texts = [at for at, form in enumerate(forms) if form.blocks and not _is_extra(form)]
    texts.sort(key=lambda at: forms[at].marked_up)
    best = texts[-1] if texts else -1
    for at in reversed(texts):
        best = at if counts[at].total() > 1.1 * counts[best].total() else best
    found = _Found()
    for at, form in enumerate(forms):
        if texts:
            other = [part for part in form.attachments if part.get_content_type() in _OTHER_FORMS]
            form.attachments = [part for part in form.attachments if part not in other]
            found.notices += [
                Notice("unread_part", "message", f"{part.get_content_type()}, another form of the text")
                for part in other
            ]
        if at == best or at not in texts:
            found.add(form)
            continue
        found.attachments += form.attachments
        found.notices += [notice for notice in form.notices if notice.kind == "hidden_text"]
        only = list((counts[at] - counts[best]).elements())
        if only:
            more = f" and {len(only) - _MAX_WORDS} more" if len(only) > _MAX_WORDS else ""
            detail = f"words that only another form of the message has: {' '.join(only[:_MAX_WORDS])}{more}"
            found.notices.append(Notice("other_form", "message", detail))
    return found


def _is_extra(form: _Found) -> bool:
    """Whether it stands beside the text: an invitation, or a note of what can't be read."""
    return all(not block.place.startswith("paragraph ") for block in form.blocks)


def _words(form: _Found) -> Counter[str]:
    texts = [block.text for block in form.blocks if block.kind is not BlockKind.note]
    texts += [notice.detail for notice in form.notices if notice.kind == "hidden_text"]
    return Counter(re.findall(r"\w+", _UNCOUNTED.sub(" ", normalised("\n".join(texts))[0])))


def _text(part: parts.Message, path: Path) -> _Found:
    kind = part.get_content_type()
    text, said = decoded_part(parts.payload(part), parts.charset(part), path, markup=kind == "text/html")
    text = with_newlines(text)
    if kind == "text/html":
        blocks, more = html.read(text)
        return _Found(blocks, said + more, marked_up=True)
    if parts.is_calendar(part) and (events := calendar.read(text)):
        return _Found(events, said)
    if str(part.get_param("format") or "").lower() == "flowed":
        text = parts.unwrapped(text, joined=str(part.get_param("delsp") or "").lower() == "yes")
    note = f"[Reader's note: {parts.ENCRYPTED}]"
    text, sealed = _ARMOUR.subn(f"\n\n{note}\n\n", text)
    if sealed:
        said.append(Notice("encrypted", "message", parts.ENCRYPTED))
    found = _Found(notices=said)
    paragraphs = (one.strip("\n") for one in re.split(r"\n[ \t]*\n", text) if one.strip())
    for at, paragraph in enumerate(paragraphs, 1):
        block = BlockKind.note if sealed and paragraph == note else BlockKind.paragraph
        found.blocks.append(Block(block, paragraph, f"paragraph {at} of the message"))
    return found


def _attachment(part: parts.Message, name: str, path: Path, opener: Opener, inside: str) -> _Found:
    place = f"{inside}attachment {name}: "
    kind = part.get_content_type()
    if kind in {"message/rfc822", "message/global"}:
        inner = next(iter(part.iter_parts()), None) if part.is_multipart() else None
        if inner is not None and not inner.keys() and "content-transfer-encoding" in part:
            # Encoded against the rules, as some programs do: the parser has taken it for text.
            inner["Content-Transfer-Encoding"] = str(part["content-transfer-encoding"])
            inner = parts.parsed(parts.payload(inner))
        if inner is not None and place.count("attachment ") <= _MAX_DEPTH:
            return _message(inner, path, opener, place)
        return _Found(notices=[Notice("unread_part", place.rstrip(": "), "mail nested too deeply")])
    data = parts.payload(part)
    if data and (kind == "text/html" or parts.suffix(part) in {".html", ".htm"}):
        text, said = decoded_part(data, parts.charset(part), path, markup=True)
        blocks, more = html.read(with_newlines(text))
        found = _Found(blocks, said + more)
    elif data and parts.is_calendar(part):
        found = _text(part, path)
    else:
        found = _Found()
        if part.get_content_maintype() == "text" and not data.startswith((b"%PDF-", b"PK\x03\x04")):
            try:
                text, found.notices = decoded_part(data, parts.charset(part), path, markup=False)
                data = text.encode()
            except ReadError:  # labelled as text, and none
                kind = "application/octet-stream"
        document = _opened(data, name, kind, path, opener)
        if document is None:
            # Logos and signatures are part of most mails; what is not read is named, in the text too.
            found.notices.append(Notice("unread_part", "", f"{kind}, {len(data):,} bytes"))
        else:
            found.blocks += document.blocks
            found.notices += document.notices
        if kind == "application/ms-tnef" or name.lower() == "winmail.dat":
            text = f"[Reader's note: {name} is a message in Outlook's own format, and is not read]"
            found.blocks.append(Block(BlockKind.note, text, "message"))
    found.blocks = [replace(block, place=place + block.place) for block in found.blocks]
    found.notices = [replace(notice, place=(place + notice.place).rstrip(": ")) for notice in found.notices]
    return found


def _opened(data: bytes, name: str, kind: str, path: Path, opener: Opener) -> Document | None:
    if not data:
        return None
    suffix = _SUFFIXES.get(kind, ".txt" if kind.startswith("text/") and kind != "text/rtf" else "")
    if data.startswith(b"PK"):
        suffix = next((found for mark, found in _MARKS.items() if mark in data), suffix)
    if data.startswith(b"%PDF-"):
        name, suffix = name.removesuffix(".pdf") + ".pdf", ""
    document = opener(data, Path(f"{path}!{name}"))
    if document is None and suffix:
        document = opener(data, Path(f"{path}!{name}{suffix}"))
    return document
