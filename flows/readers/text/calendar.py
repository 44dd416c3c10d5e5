"""Read invitations (iCalendar, RFC 5545): subject, time, place, people and description."""

import re
from datetime import datetime, timedelta

from flows.readers.shared.notation import with_newlines
from flows.schema.document import Block, BlockKind

_LABELS = {
    "SUMMARY": "Subject", "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "DURATION": "Duration",
    "RRULE": "Repeats", "RDATE": "Also on", "EXDATE": "Not on", "RECURRENCE-ID": "Instead of",
    "LOCATION": "Place", "ORGANIZER": "Organiser", "ATTENDEE": "Attendee", "CONTACT": "Contact",
    "STATUS": "Status", "PRIORITY": "Priority", "COMMENT": "Comment", "URL": "Link", "ATTACH": "Attached",
    "DESCRIPTION": "Description",
}  # fmt: skip
_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry"}
_PARAMETER = re.compile(r";([\w-]+)=((?:\"[^\"]*\"|[^;:\"])*)")
_ESCAPED = re.compile(r"\\([nN,;\\])")
_FORM = re.compile(r"(\d{8})(?:T(\d{6}))?(Z?)")


def read(text: str) -> list[Block]:
    """The events and tasks of a calendar, a block each; times as written, with their zone."""
    lines = re.sub(r"\n[ \t]", "", with_newlines(text)).split("\n")
    blocks: list[Block] = []
    method = ""
    inside: list[str] = []
    said: list[tuple[str, str]] = []
    for line in lines:
        name, parameters, value = _parts(line)
        if name == "BEGIN":
            inside.append(value.strip().upper())
            said = [] if inside[-1] in _KINDS else said
        elif name == "END":
            kind = inside.pop() if inside else ""
            if kind in _KINDS:
                said.sort(key=lambda pair: list(_LABELS).index(pair[0]))
                head = f"[{_KINDS[kind]}{': ' + method.lower() if method else ''}]"
                text = "\n".join([head, *(f"{_LABELS[name]}: {value}" for name, value in said)])
                place = f"{_KINDS[kind].lower()} {len(blocks) + 1}"
                blocks.append(Block(BlockKind.paragraph, text, place))
        elif name == "METHOD":
            method = value.strip().upper()
        elif inside and inside[-1] in _KINDS and name in _LABELS and value.strip():
            said.append((name, _value(name, parameters, value)))
    return blocks


def _parts(line: str) -> tuple[str, dict[str, str], str]:
    head = re.match(r"[\w-]+", line)
    if head is None:
        return "", {}, ""
    parameters: dict[str, str] = {}
    at = head.end()
    while found := _PARAMETER.match(line, at):
        parameters[found.group(1).upper()] = found.group(2).strip('"')
        at = found.end()
    return head.group().upper(), parameters, line[at + 1 :] if line[at : at + 1] == ":" else ""


def _value(name: str, parameters: dict[str, str], value: str) -> str:
    if name in {"DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "RDATE", "EXDATE"}:
        return ", ".join(_time(one.strip(), parameters.get("TZID", ""), name) for one in value.split(","))
    if name in {"ORGANIZER", "ATTENDEE"}:
        address = re.sub("^mailto:", "", value.strip(), flags=re.IGNORECASE)
        person = parameters.get("CN", "")
        shown = f"{person} <{address}>" if person and person != address else address
        more = [parameters.get(key, "").lower().replace("-", " ") for key in ("ROLE", "PARTSTAT")]
        more = [word for word in more if word]
        return f"{shown} ({', '.join(more)})" if more else shown
    if name == "ATTACH" and parameters.get("VALUE", "").upper() == "BINARY":
        return "a file inside the invitation, not read"
    return _ESCAPED.sub(lambda sign: "\n" if sign.group(1) in "nN" else sign.group(1), value).strip()


def _time(value: str, zone: str, name: str) -> str:
    found = _FORM.fullmatch(value)
    if found is None:
        return f"{value} {zone}".strip()
    try:
        day = datetime.strptime(found.group(1), "%Y%m%d").date()  # noqa: DTZ007 -- a day has no zone
    except ValueError:
        return value
    clock = found.group(2)
    if not clock:
        # The end of whole days is written as the day after.
        return f"{day - timedelta(days=name == 'DTEND')} (all day)"
    seconds = "" if clock.endswith("00") else f":{clock[4:]}"
    where = "UTC" if found.group(3) else zone or "local time"
    return f"{day} {clock[:2]}:{clock[2:4]}{seconds} {where}"
