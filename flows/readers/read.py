"""From a path to a document: which reader, within which bounds."""

import importlib
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path

from flows.common.digests import sha256_bytes
from flows.common.errors import ReadError
from flows.common.text import plural
from flows.readers.invisible import without_invisible
from flows.readers.limits import MAX_BYTES, MAX_TEXT
from flows.readers.shared.notation import normalised
from flows.schema.document import Block, Document, Notice

READER_VERSIONS = {"docx": 3, "pdf": 3, "xlsx": 3, "csv": 2, "md": 3, "txt": 3, "eml": 3}
"""Raised whenever the same bytes give another document; part of a packet's key."""

SUFFIXES = {
    ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".dotm": "docx", ".pdf": "pdf",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".xltm": "xlsx", ".csv": "csv", ".tsv": "csv",
    ".md": "md", ".markdown": "md", ".txt": "txt", ".eml": "eml",
}  # fmt: skip
"""Suffixes that are read, in lower case, and the media that they stand for."""

_OLD = {".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".xlsb": ".xlsx", ".ppt": ".pdf", ".msg": ".eml"}
_MEDIA_OF_CONTENT = {b"%PDF-": "a PDF file", b"PK\x03\x04": "a zip package, as Office files are"}
_SMALLER = "split the document, or leave out what is not needed"
_OLE = b"\xd0\xcf\x11\xe0"


def read_document(path: Path) -> Document:
    """Read one file, whose suffix is one of SUFFIXES, whole; equal bytes give an equal document.

    Raises:
        ReadError: the file is missing, empty, too large, damaged, protected, or not what its name
            says. Nothing of it is passed on.
    """
    data, media = source(path)
    return read_bytes(data, Path(path), media)


def source(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file, and its medium.

    Raises:
        ReadError: it is missing, too large, or of a format that is not read.
    """
    path = Path(path)
    media = media_of(path)
    try:
        if path.exists() and not path.is_file():
            raise ReadError(path, "not a file", "a document", "name a file, not a folder")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1), media
    except OSError as error:
        raise ReadError(path, f"it can't be opened ({error.strerror or error})", "a readable file") from error


def read_bytes(data: bytes, path: Path, media: str, depth: int = 0) -> Document:
    """Read a document from memory; `path` names it in errors. See `read_document`.

    `media` is one of the values of SUFFIXES, `depth` the number of files that contain it, as an attachment.
    """
    if len(data) > MAX_BYTES:
        raise ReadError(path, f"over {MAX_BYTES:,} bytes", f"at most {MAX_BYTES:,}", "split the document")
    if not data.strip():
        raise ReadError(path, "the file is empty", "a document", "get the file again or leave it out")
    _refuse_other_content(data, path, media)
    try:
        blocks, notices = _read(data, path, media, depth)
    except ReadError:
        raise
    except RecursionError as error:
        raise ReadError(
            path, "it is nested too deeply to be read", "", "save it again, simplified"
        ) from error
    except MemoryError as error:
        raise ReadError(path, "it takes more memory than there is for a document", "", _SMALLER) from error
    except Exception as error:
        # A damaged or hostile file can raise anything in a library. The packet must not be built without
        # the file, and other files must still be read.
        raise ReadError(
            path,
            f"it can't be read ({type(error).__name__}: {error})",
            f"a sound {media} file",
            "open it in the program that made it and save it again; if it looks sound there, report it",
        ) from error
    if sum(len(block.text) for block in blocks) > MAX_TEXT:
        raise ReadError(path, f"over {MAX_TEXT:,} characters of text", f"at most {MAX_TEXT:,}", _SMALLER)
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
        sha256=sha256_bytes(data),
        reader=f"{media}/{READER_VERSIONS[media]}",
        blocks=tuple(kept),
        notices=tuple(said),
    )


def media_of(path: Path) -> str:
    """Return the medium of a file's suffix.

    Raises:
        ReadError: it is not supported.
    """
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
        raise ReadError(path, f"an old Office file, named {path.suffix}", f"{media} content", "save it again")
    if mine == b"PK\x03\x04" and not data.startswith((mine, _OLE)):
        raise ReadError(
            path,
            "no Office file inside",
            f"a {path.suffix} package",
            "get the file again, or give it the suffix of what it is",
        )


def _read(data: bytes, path: Path, media: str, depth: int) -> tuple[list[Block], list[Notice]]:
    # Each reader is imported when a file needs it: pdfplumber alone costs more than most packets.
    if media in {"docx", "pdf", "xlsx"}:
        return importlib.import_module(f"flows.readers.{media}").read(data, path)
    if media == "eml":
        from flows.readers.text import mail

        def attachment(part: bytes, name: Path) -> Document | None:
            inner = SUFFIXES.get(name.suffix.lower())
            if inner is None or depth >= 3:  # noqa: PLR2004 -- mail in mail in mail is enough
                return None
            return read_bytes(part, name, inner, depth + 1)

        return mail.read(data, path, attachment)
    from flows.readers.text import plain

    return plain.read(data, path, media)


def _normalised(blocks: list[Block], notices: list[Notice]) -> tuple[list[Block], list[Notice]]:
    """Normalise the text of all blocks and notices, and report the changes."""
    kept: list[Block] = []
    said = [replace(notice, detail=_line(notice.detail), place=_line(notice.place)) for notice in notices]
    lost = composed = 0
    unseen: Counter[str] = Counter()
    for block in blocks:
        visible, hidden = without_invisible(block.text)
        text, bad = normalised(visible)
        lost += bad
        composed += not unicodedata.is_normalized("NFC", block.text)
        unseen += hidden.others
        if hidden.message:
            message = f"invisible characters that say: {_line(hidden.message)}"
            said.append(Notice("hidden_text", _line(block.place), message))
        if text.strip():
            kept.append(replace(block, text=text.rstrip(), place=_line(block.place)))
    if unseen:
        counts = ", ".join(f"{number} {name}" for name, number in sorted(unseen.items()))
        said.append(Notice("hidden_text", "document", f"invisible characters: {counts}"))
    if lost:
        detail = f"{plural(lost, 'character')} that no text may hold, left out or replaced"
        said.append(Notice("mended_encoding", "document", detail))
    if composed:
        detail = f"{plural(composed, 'block')} composed to Unicode form NFC"
        said.append(Notice("normalised", "document", detail))
    return kept, said


def _line(text: str) -> str:
    return normalised(without_invisible(text)[0])[0]
