"""From a path to a document: which reader, within which bounds."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import replace
from pathlib import Path

from flows.readers.words import normalised
from flows.schema.document import Block, Document, Notice
from flows.schema.errors import ReadError

READER_VERSIONS = {"docx": 1, "pdf": 2, "xlsx": 1, "csv": 1, "md": 1, "txt": 1, "eml": 1}
"""Raised whenever the same bytes give another document; part of a packet's key."""

SUFFIXES = {
    ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".dotm": "docx", ".pdf": "pdf",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".xltm": "xlsx", ".csv": "csv", ".tsv": "csv",
    ".md": "md", ".markdown": "md", ".txt": "txt", ".eml": "eml",
}  # fmt: skip
"""Suffixes that are read, in lower case, and the media that they stand for."""

MAX_BYTES = 100 * 1024 * 1024
_OLD = {".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".xlsb": ".xlsx", ".ppt": ".pdf", ".msg": ".eml"}
_MEDIA_OF_CONTENT = {b"%PDF-": "a PDF file", b"PK\x03\x04": "a zip package, as Office files are"}
_OLE = b"\xd0\xcf\x11\xe0"


def read_document(path: Path) -> Document:
    """Read one file whole; equal bytes give an equal document.

    Args:
        path: a file whose suffix is one of SUFFIXES.

    Raises:
        ReadError: the file is missing, empty, too large, damaged, protected, or not what its name
            says. Nothing of it is passed on.
    """
    path = Path(path)
    media = _media(path)
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise ReadError(path, "not a file", "a document", "name a file, not a folder")
        if size > MAX_BYTES:
            raise ReadError(path, f"{size:,} bytes", f"at most {MAX_BYTES:,}", "split the document")
        data = path.read_bytes()
    except OSError as error:
        raise ReadError(path, f"it can't be opened ({error.strerror or error})", "a readable file") from error
    return read_bytes(data, path, media)


def read_bytes(data: bytes, path: Path, media: str, depth: int = 0) -> Document:
    """Read a document from memory; `path` names it in errors. See `read_document`.

    Args:
        data: the file's bytes.
        path: its name.
        media: one of the values of SUFFIXES.
        depth: how many files it is inside of, as an attachment.
    """
    if not data.strip():
        raise ReadError(path, "the file is empty", "a document", "get the file again or leave it out")
    _refuse_other_content(data, path, media)
    try:
        blocks, notices = _read(data, path, media, depth)
    except ReadError:
        raise
    except RecursionError as error:
        raise ReadError(path, "it is nested too deeply to be read", "", "save it anew, simplified") from error
    except Exception as error:
        # A damaged or hostile file can break a library anywhere. Whatever it is, the packet must not
        # be built without the file, and the other files must still be read.
        raise ReadError(
            path,
            f"it can't be read ({type(error).__name__}: {error})",
            f"a sound {media} file",
            "open it in the program that made it and save it anew; if it looks sound there, report it",
        ) from error
    kept, said = _normalised(blocks, notices)
    if not kept:
        raise ReadError(
            path,
            "there is nothing to read in it",
            "a document with text",
            "open it: if it is empty there as well, leave it out; if not, the file is damaged",
        )
    return Document(
        name=path.name,
        media=media,
        sha256=hashlib.sha256(data).hexdigest(),
        reader=f"{media}/{READER_VERSIONS[media]}",
        blocks=tuple(kept),
        notices=tuple(said),
    )


def _media(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in _OLD:
        raise ReadError(
            path,
            f"the old binary format {suffix}",
            "one of " + ", ".join(SUFFIXES),
            f"open it in the program that made it and save it as {_OLD[suffix]}",
        )
    if suffix not in SUFFIXES:
        found = f"the suffix {suffix!r}" if suffix else "a name without a suffix"
        raise ReadError(path, found, "one of " + ", ".join(SUFFIXES), "convert the file or leave it out")
    return SUFFIXES[suffix]


def _refuse_other_content(data: bytes, path: Path, media: str) -> None:
    """Refuse a file whose first bytes belong to another format than its suffix."""
    mine = {"pdf": b"%PDF-", "docx": b"PK\x03\x04", "xlsx": b"PK\x03\x04"}.get(media)
    for magic, found in _MEDIA_OF_CONTENT.items():
        if data.startswith(magic) and magic != mine:
            raise ReadError(
                path, f"{found}, named {path.suffix}", f"{media} content", "give it the suffix of what it is"
            )
    if data.startswith(_OLE) and media not in {"docx", "xlsx"}:
        raise ReadError(path, f"an old Office file, named {path.suffix}", f"{media} content", "save it anew")
    if mine == b"PK\x03\x04" and not data.startswith((mine, _OLE)):
        raise ReadError(
            path,
            "no Office file inside",
            f"a {path.suffix} package",
            "get the file again, or give it the suffix of what it is",
        )


def _read(data: bytes, path: Path, media: str, depth: int) -> tuple[list[Block], list[Notice]]:
    # Each reader is imported when a file needs it: pdfplumber alone costs more than most packets.
    if media == "docx":
        from flows.readers import docx

        return docx.read(data, path)
    if media == "pdf":
        from flows.readers import pdf

        return pdf.read(data, path)
    if media == "xlsx":
        from flows.readers import xlsx

        return xlsx.read(data, path)
    if media == "eml":
        from flows.readers.text import mail

        return mail.read(data, path, lambda part, name: _attachment(part, name, depth))
    from flows.readers.text import plain

    return plain.read(data, path, media)


def _attachment(data: bytes, name: Path, depth: int) -> Document | None:
    """Read an attachment; None where its format is not one that is read, or it is nested too deeply."""
    media = SUFFIXES.get(name.suffix.lower())
    if media is None or depth >= 3:  # noqa: PLR2004 -- mail in mail in mail is enough
        return None
    return read_bytes(data, name, media, depth + 1)


def _normalised(blocks: list[Block], notices: list[Notice]) -> tuple[list[Block], list[Notice]]:
    """Normalise the text of all blocks and notices once, and say what that changed."""
    kept: list[Block] = []
    lost = composed = 0
    for block in blocks:
        text, bad = normalised(block.text)
        lost += bad
        composed += not unicodedata.is_normalized("NFC", block.text)
        if text.strip():
            kept.append(replace(block, text=text.rstrip(), place=normalised(block.place)[0]))
    said = [
        replace(notice, detail=normalised(notice.detail)[0], place=normalised(notice.place)[0])
        for notice in notices
    ]
    if lost:
        detail = f"{lost} characters that no text may hold were left out or replaced"
        said.append(Notice("mended_encoding", "document", detail))
    if composed:
        said.append(Notice("normalised", "document", f"{composed} blocks were composed to Unicode form NFC"))
    return kept, said
