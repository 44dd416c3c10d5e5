"""Decode bytes to text, and detect the encoding of a file without a label."""

import codecs
import re
from pathlib import Path

from flows.common.errors import ReadError
from flows.common.text import plural
from flows.schema.document import Notice

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
_LATIN = ["cp1252", "cp1250", "cp1254", "iso8859_15", "mac_roman"]
_SAMPLE = 256 * 1024
# How much better than cp1252, which most such files are in, another encoding has to look.
_CHAOS, _COHERENCE = 0.08, 0.05
# What a label stands for in practice, where that is more than it says: WHATWG's encoding standard.
_WIDER = {
    "ascii": "", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "cp950",
}  # fmt: skip
_MAX_LOST = 0.5  # of the signs beyond ASCII; with more, the bytes are no UTF-8 at all
_MAX_ZEROS = 0.1  # of the bytes; with more they are UTF-16, or no text
_META = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)


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
    text = _decoded_as(data, "utf-8")
    if text is not None and "\0" not in text:
        return text, []
    for name, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        if zeros and zeros.count(0) > len(zeros) // 2:
            return _strictly(data, name, path), [_guess(name)]
    if b"\0" in data:
        raise ReadError(path, "bytes that are no text", "a text file", "give it the suffix of what it is")
    name = _likely(data[:_SAMPLE])
    if (text := _decoded_as(data, name)) is not None:
        return text, [_guess(name)]
    # Latin-1 takes every byte: the words stay readable and the notice says what was done.
    return data.decode("latin-1"), [_guess("latin-1")]


def _likely(data: bytes) -> str:
    from charset_normalizer import from_bytes  # only files that are not UTF-8 need it

    # Signs beyond ASCII that stand alone are accents: a word of another script has more than one letter.
    candidates = _CANDIDATES if re.search(rb"[\x80-\xff]{2}", data) else _LATIN
    matches = list(from_bytes(data, cp_isolation=candidates))
    for match in matches:
        near = (
            match.chaos <= matches[0].chaos + _CHAOS and match.coherence >= matches[0].coherence - _COHERENCE
        )
        if near and "cp1252" in match.could_be_from_charset:
            return "cp1252"
    return matches[0].encoding if matches else "cp1252"


def decoded_part(data: bytes, label: str, path: Path, *, markup: bool) -> tuple[str, list[Notice]]:
    """Decode a part of a mail by what its bytes are; its label counts where it can be true.

    `label` is the charset of the part's header; with `markup` an HTML file may name its encoding itself.

    Returns:
        The text, and a `mended_encoding` notice where the label is wrong, or characters are lost.

    Raises:
        ReadError: the bytes are no text.
    """
    named = _META.search(data[:4096]) if markup else None
    if not _codec(label) and named:
        label = named.group(1).decode("ascii", "ignore")
    name = _codec(label)
    if data.startswith(tuple(mark for mark, _ in _MARKS)):
        return decoded(data, path)
    said: list[Notice] = []
    zeros = data.count(b"\0")
    if zeros and zeros <= _MAX_ZEROS * len(data):
        data = data.replace(b"\0", b"")
        said.append(_mended(f"{plural(zeros, 'zero byte')} left out"))
        zeros = 0
    if not zeros and (text := _decoded_as(data, "utf-8")) is not None:
        if name in {"", "utf-8"}:
            return text, said + _lost(text)
        if not data.isascii():
            said.append(_mended(f"labelled {label or name}; read as UTF-8, which it is"))
            return text, said + _lost(text)
    if not zeros and name in {"", "utf-8"}:
        text = data.decode("utf-8", "replace")
        if text.count("\ufffd") <= _MAX_LOST * sum(not sign.isascii() for sign in text):
            return text, said + _lost(text)
    elif name and not name.startswith(("utf-16", "utf-32")) and (text := _decoded_as(data, name)) is not None:
        return text, said
    text, guessed = decoded(data, path)
    return text, said + [_mended(notice.detail) for notice in guessed]


def _lost(text: str) -> list[Notice]:
    lost = text.count("\ufffd")
    return [_mended(f"{plural(lost, 'character')} lost in transport")] if lost else []


def _codec(label: str) -> str:
    """The codec of Python that a label means; empty where there is none, or it says nothing."""
    bare = label.strip().strip("\"'").lower().removeprefix("x-").removesuffix("-i").removesuffix("-e")
    try:
        name = codecs.lookup(bare).name
    except (LookupError, ValueError):
        return ""
    return _WIDER.get(name, name)


def _decoded_as(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except (LookupError, ValueError):  # not a text encoding, or not these bytes
        return None


def _strictly(data: bytes, name: str, path: Path) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise ReadError(
            path, f"text that is not the {name} it claims to be ({error})", name, "save it as UTF-8"
        ) from error


def _guess(name: str) -> Notice:
    return _mended(f"not UTF-8; read as {name}, which fits best", "document")


def _mended(detail: str, place: str = "message") -> Notice:
    return Notice("mended_encoding", place, detail)
