"""One part of a mail: its headers, its bytes, and what a signed one holds."""

import re
from collections.abc import Collection, Iterator
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import MIMEPart
from email.policy import EmailPolicy
from pathlib import Path
from typing import Any, TypeAlias

from flows.readers.shared.notation import flat

Message: TypeAlias = "MIMEPart[Any, Any]"
ENCRYPTED = "the message is encrypted and can't be read here; get it decrypted"
_SIGNED = bytes.fromhex("2a864886f70d010702")  # the identifier of signed data
_OPEN = 0x80  # a length that is not said: an end mark follows the value
_OCTETS = 0x04
_PEOPLE = frozenset(["from", "sender", "reply-to", "to", "cc", "bcc"])


class _Policy(EmailPolicy):
    """Headers as shown to people: raw 8-bit ones decoded, broken ones unchanged."""

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and not value.isascii():
            value = _utf8(value) or value.encode("utf-8", "surrogateescape").decode("cp1252", "replace")
        try:
            found = super().header_fetch_parse(name, value)
            # Addresses that break the rules stay as written, with encoded words decoded.
            broken = found.defects and name.lower() in _PEOPLE
            return flat(str(make_header(decode_header(value)))) if broken else found
        except Exception:  # noqa: BLE001 -- the standard library's parser breaks on some malformed headers
            return flat(str(value))


def parsed(data: bytes) -> Message:
    """A mail as the standard library parses it."""
    message: Any = message_from_bytes(data, policy=_Policy())
    return message


def is_guessed(message: Message, names: Collection[str]) -> bool:
    """Whether one of these headers holds bytes that are no UTF-8."""
    wanted = {name.lower() for name in names}
    raw = (str(value) for name, value in message.raw_items() if name.lower() in wanted)
    return any(_utf8(value) is None for value in raw)


def _utf8(value: str) -> str | None:
    """The text of a header, whose bytes the parser holds as surrogates; None if they are no UTF-8."""
    try:
        return value.encode("utf-8", "surrogateescape").decode()
    except UnicodeDecodeError:
        return None


def suffix(part: Message) -> str:
    """The suffix of the name that a part is sent under, in lower case."""
    return Path(part.get_filename() or "").suffix.lower()


def is_calendar(part: Message) -> bool:
    """Whether a part is an invitation."""
    kinds = {"text/calendar", "text/x-vcalendar", "application/ics"}
    return part.get_content_type() in kinds or suffix(part) == ".ics"


def charset(part: Message) -> str:
    """The charset that a part is labelled with; empty for none."""
    return str(part.get_content_charset("") or "")


def payload(part: Message) -> bytes:
    """The bytes of a part, its transfer encoding undone."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def unwrapped(text: str, *, joined: bool) -> str:
    """The lines of a flowed text (RFC 3676) as they were before they were wrapped."""
    lines: list[str] = []
    open_at = -1  # the quote depth of a line that goes on, -1 for none
    for raw in text.split("\n"):
        quoted = re.match(">*", raw)
        depth = quoted.end() if quoted else 0
        line = raw[depth:].removeprefix(" ")
        soft = line.endswith(" ") and line != "-- "
        kept = line[:-1] if soft and joined else line
        if open_at == depth and line != "-- ":
            lines[-1] += kept
        else:
            lines.append(f"{'>' * depth} {kept}" if depth else kept)
        open_at = depth if soft else -1
    return "\n".join(lines)


def called(part: Message, at: int) -> str:
    """How an attachment is called: by the name it was sent under, else by its number and type."""
    name = flat(part.get_filename() or "").replace("/", "_").replace("\\", "_")
    return name or f"part {at} ({part.get_content_type()})"


def content(data: bytes) -> bytes | None:
    """The message inside a signed one (CMS, RFC 5652), its signature not checked.

    None where it is encrypted, holds none, or is damaged.
    """
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
