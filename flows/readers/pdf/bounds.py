"""Check how much a PDF file decompresses to and paints, before any library does it."""

import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pdfminer.ascii85 import ascii85decode, asciihexdecode
from pdfminer.lzw import LZWDecoder

from flows.common.errors import ReadError
from flows.readers.pdf.objects import entries, keys, resolved, string

MAX_UNPACKED = 512 * 1024 * 1024  # bytes of all streams and all their filter layers
MAX_CONTENT = 128 * 1024 * 1024  # bytes that one page interprets, each form as often as it is drawn
MAX_FORMS = 50_000  # forms that one page draws
_CHUNK = 1 << 18
_DEPTH = 40  # forms inside one another, as pdfium reads them
_DICTIONARY = 4096  # bytes before a stream in which its filters are looked for
_STREAM = re.compile(rb"stream\r?\n")
_FILTER = re.compile(rb"/(?:Filter|F)\s*(\[[^\]]*\]|/[^\s/<>\[\]]+)")
_NAMES = re.compile(rb"/([^\s/<>\[\]]+)")
_USED = re.compile(rb"/([^\s/<>\[\]()]+)\s+(?:Do|scn|SCN)\b")
_SHOWN = re.compile(rb"\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f\s]+>", re.DOTALL)
_BOMB = "don't open it; get the document from a source that you trust"


def _flate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj()
    for chunk in chunks:
        while chunk and not unpacker.eof:
            yield unpacker.decompress(chunk, _CHUNK)
            chunk = unpacker.unconsumed_tail  # noqa: PLW2901 -- what did not fit


def _hex(chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield asciihexdecode(b"".join(chunks))


def _ascii85(chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield ascii85decode(b"".join(chunks).partition(b"~>")[0])


def _runs(chunks: Iterable[bytes]) -> Iterator[bytes]:
    data = b"".join(chunks)
    at = 0
    while at < len(data) - 1 and data[at] != 128:  # noqa: PLR2004 -- end of data
        copied = data[at] < 128  # noqa: PLR2004 -- up to here bytes are copied, from here repeated
        yield data[at + 1 : at + 2 + data[at]] if copied else data[at + 1 : at + 2] * (257 - data[at])
        at += data[at] + 2 if copied else 2


def _lzw(chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield from LZWDecoder(io.BytesIO(b"".join(chunks))).run()


_FILTERS = {
    b"FlateDecode": _flate, b"Fl": _flate, b"ASCIIHexDecode": _hex, b"AHx": _hex, b"ASCII85Decode": _ascii85,
    b"A85": _ascii85, b"RunLengthDecode": _runs, b"RL": _runs, b"LZWDecode": _lzw, b"LZW": _lzw,
}  # fmt: skip


class _Budget:
    """Counts bytes down; raises OverflowError when there are none left."""

    def __init__(self, size: int) -> None:
        self.left = size

    def counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.left -= len(chunk)
            if self.left < 0:
                raise OverflowError
            yield chunk


def _pieces(data: bytes, start: int) -> Iterator[bytes]:
    end = data.find(b"endstream", start)
    end = len(data) if end < 0 else end
    for at in range(start, end, _CHUNK):
        yield data[at : min(at + _CHUNK, end)]


def check_unpacked(data: bytes, path: Path) -> None:
    """Unpack all streams piece by piece, each filter on what the one before it gives, and keep nothing.

    Raises:
        ReadError: all layers together have more than MAX_UNPACKED bytes.
    """
    budget = _Budget(MAX_UNPACKED)
    try:
        for match in _STREAM.finditer(data):
            head = data[max(match.start() - _DICTIONARY, 0) : match.start()]
            found = list(_FILTER.finditer(head[head.rfind(b" obj") + 1 :]))
            chunks: Iterable[bytes] = _pieces(data, match.end())
            for name in _NAMES.findall(found[-1].group(1)) if found else []:
                decode = _FILTERS.get(name)
                if decode is None:
                    break  # pictures, which unpack when they are drawn
                chunks = budget.counted(decode(chunks))
            if found:
                _drain(chunks)
    except OverflowError:
        raise ReadError(
            path,
            f"its streams unpack to more than {MAX_UNPACKED:,} bytes (a decompression bomb?)",
            "a document that a person could read",
            _BOMB,
        ) from None


def _drain(chunks: Iterable[bytes], keep: Callable[[bytes], None] = lambda _: None) -> None:
    try:
        for chunk in chunks:
            keep(chunk)
    except OverflowError:
        raise
    except Exception:  # noqa: BLE001, S110 -- a damaged or encrypted stream; whoever reads it says so
        pass


def _content(stream: Any) -> bytes:
    """The bytes of a content stream. pdfminer would keep them as long as the file is open."""
    data: bytes | None = getattr(stream, "rawdata", None)
    if data is None:
        return getattr(stream, "data", None) or b""
    if stream.decipher:
        data = stream.decipher(stream.objid, stream.genno, data, stream.attrs)
    chunks: Iterable[bytes] = [data or b""]
    for name, _ in stream.get_filters():
        decode = _FILTERS.get(string(name).encode())
        chunks = decode(chunks) if decode else chunks
    found: list[bytes] = []
    _drain(_Budget(MAX_CONTENT + 1).counted(chunks), found.append)
    return b"".join(found)


class Load:
    """How much the content of pages makes a reader do, its forms counted as often as they are drawn."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int, int]] = {}
        self._forms: list[Any] = []  # held, so that their ids stay theirs

    def check(self, page: Any, place: str, path: Path, most_shown: int) -> None:
        """Check a pdfminer page, before it is interpreted.

        Raises:
            ReadError: it interprets more than MAX_CONTENT bytes, draws more than MAX_FORMS forms, or
                shows more than `most_shown` bytes of strings.
        """
        streams = [resolved(part) for part in entries(page.contents)]
        try:
            size, shown, forms = self._sum(streams, keys(page.resources), 0)
        except OverflowError:
            size, shown, forms = MAX_CONTENT + 1, 0, 0
        for count, most, what in (
            (size, MAX_CONTENT, "bytes of content"),
            (forms, MAX_FORMS, "drawings inside one another"),
            (shown, most_shown, "bytes of text"),
        ):
            if count > most:
                raise ReadError(path, f"more than {most:,} {what} on {place}", "a document for people", _BOMB)

    def _sum(self, streams: list[Any], resources: dict[str, Any], depth: int) -> tuple[int, int, int]:
        size = shown = forms = 0
        used: Counter[bytes] = Counter()
        for stream in streams:
            data = _content(stream)
            size += len(data)
            shown += sum(len(text) for text in _SHOWN.findall(data))
            used.update(_USED.findall(data))
        drawn = keys(resources.get("Pattern")) | keys(resources.get("XObject"))
        for name, times in used.items():
            child = resolved(drawn.get(name.decode("latin-1")))
            attrs = keys(child)
            if not hasattr(child, "rawdata") or string(attrs.get("Subtype")) == "Image" or depth >= _DEPTH:
                continue
            known = self._known.get(id(child))
            if known is None:
                self._forms.append(child)
                self._known[id(child)] = (0, 0, 0)  # a form that draws itself is not read again
                known = self._sum([child], keys(attrs.get("Resources")) or resources, depth + 1)
                self._known[id(child)] = known
            size, shown, forms = (
                size + times * known[0],
                shown + times * known[1],
                forms + times * (1 + known[2]),
            )
        return size, shown, forms
