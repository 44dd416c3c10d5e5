"""Read the content of a signed S/MIME message (CMS, RFC 5652) without checking the signature."""

from __future__ import annotations

from collections.abc import Iterator

ENCRYPTED = "the message is encrypted and can't be read here; get it decrypted"
_SIGNED = bytes.fromhex("2a864886f70d010702")  # the identifier of signed data
_OPEN = 0x80  # a length that is not said: an end mark follows the value
_OCTETS = 0x04


def content(data: bytes) -> bytes | None:
    """The message inside a signed one; None where it is encrypted, holds none, or is damaged."""
    try:
        kind, outer = _values(data, *_value(data, 0)[1:3])
        if data[kind[1] : kind[2]] != _SIGNED:
            return None
        signed = next(_values(data, outer[1], outer[2]))
        _, _, inner, *_ = _values(data, signed[1], signed[2])
        _, held = _values(data, inner[1], inner[2])
        return _octets(data, *next(_values(data, held[1], held[2]))[:3])
    except (IndexError, ValueError, StopIteration):
        return None


def _value(data: bytes, at: int) -> tuple[int, int, int, int]:
    """Tag, start and end of the value at `at`, and where the next one starts (X.690, BER)."""
    tag, length = data[at], data[at + 1]
    start = at + 2
    if length == _OPEN:
        end = start
        while data[end] or data[end + 1]:
            end = _value(data, end)[3]
        return tag, start, end, end + 2
    if length > _OPEN:
        start += length - _OPEN
        length = int.from_bytes(data[at + 2 : start])
    if start + length > len(data):
        raise ValueError(length)
    return tag, start, start + length, start + length


def _values(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    while at < end:
        tag, start, stop, at = _value(data, at)
        yield tag, start, stop


def _octets(data: bytes, tag: int, start: int, end: int) -> bytes:
    if tag == _OCTETS:
        return data[start:end]
    return b"".join(_octets(data, *part) for part in _values(data, start, end))
