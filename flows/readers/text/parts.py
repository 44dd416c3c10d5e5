"""One part of a mail: its headers and its bytes."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import MIMEPart
from email.policy import EmailPolicy
from pathlib import Path
from typing import Any, TypeAlias

from flows.readers.words import flat

Message: TypeAlias = "MIMEPart[Any, Any]"
_PEOPLE = frozenset(["from", "sender", "reply-to", "to", "cc", "bcc"])


class _Policy(EmailPolicy):
    """Headers as shown to people: raw 8-bit ones decoded, broken ones unchanged."""

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and not value.isascii():
            raw = value.encode("utf-8", "surrogateescape")
            try:
                value = raw.decode()
            except UnicodeDecodeError:
                value = raw.decode("cp1252", "replace")
        try:
            found = super().header_fetch_parse(name, value)
            return _as_written(value) if found.defects and name.lower() in _PEOPLE else found
        except Exception:  # noqa: BLE001 -- the standard library's parser breaks on some malformed headers
            return flat(str(value))


def _as_written(value: str) -> str:
    """A header of addresses that breaks the rules: nothing put in order, encoded words decoded."""
    return flat(str(make_header(decode_header(value))))


def parsed(data: bytes) -> Message:
    """A mail as the standard library parses it."""
    message: Any = message_from_bytes(data, policy=_Policy())
    return message


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
