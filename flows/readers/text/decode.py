"""Bytes to text: which encoding a file without a label is in."""

from __future__ import annotations

import codecs
from pathlib import Path

from flows.schema.document import Notice
from flows.schema.errors import ReadError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What files of offices are in when they are not UTF-8. Left to itself the detector offers rare
# code pages (cp775, hp_roman8) for short texts.
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "iso8859_15",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "mac_roman",
]  # fmt: skip
_SAMPLE = 256 * 1024


def decoded(data: bytes, path: Path) -> tuple[str, list[Notice]]:
    """Decode a text file: by its byte order mark, as UTF-8, or as the encoding that fits best.

    Returns:
        The text, and a `mended_encoding` notice where the encoding had to be guessed.

    Raises:
        ReadError: the bytes are no text.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data, name, path), []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        if "\0" not in text:
            return text, []
    for name, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        if zeros and zeros.count(0) > len(zeros) // 2:
            return _strictly(data, name, path), [_guess(name)]
    if b"\0" in data:
        raise ReadError(path, "bytes that are no text", "a text file", "give it the suffix of what it is")
    from charset_normalizer import from_bytes  # only files that are not UTF-8 need it

    best = from_bytes(data[:_SAMPLE], cp_isolation=_CANDIDATES).best()
    name = best.encoding if best is not None else "cp1252"
    try:
        return data.decode(name), [_guess(name)]
    except UnicodeDecodeError:
        # Latin-1 takes every byte: the words stay readable and the notice says what was done.
        return data.decode("latin-1"), [_guess("latin-1")]


def _strictly(data: bytes, name: str, path: Path) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise ReadError(
            path, f"text that is not the {name} it claims to be ({error})", name, "save it as UTF-8"
        ) from error


def _guess(name: str) -> Notice:
    return Notice("mended_encoding", "document", f"not UTF-8; read as {name}, which fits best")
