"""The format of stored records: a line of JSON with a checksum.

    {"checksum":"<sha256>","format":1,"kind":"completion","id":"<key>","status":"complete","body":{...}}
    {"checksum":"<sha256>","format":1,"kind":"text","id":"<sha256 of the text>","body":"..."}

The checksum covers every byte from after its comma to the end of the line. The head has a fixed layout, so a
store is opened by hashing lines without parsing them. Message texts are stored once and referred to by their
sha256. Images are stored as base64 texts, an assistant's tool calls and carried fields as JSON texts.
Optional fields are omitted.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from flows.adapters.completions.senders.fields import tame
from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ConfigError, StoreError
from flows.schema.completion import (
    Completion,
    CompletionStatus,
    Image,
    Message,
    Request,
    ToolCall,
)
from flows.schema.rows import as_row, from_row

FORMAT = 2
"""Increment if an older reader could misread a record. 2 has `partial`; all else is still written as 1, so
equal records have equal bytes."""

_OPTIONAL = frozenset({"tool_calls", "carried", "fragment", "reasoning", "raw"})

LEAD = b'{"checksum":"'  # how a record begins

_COVERED_FROM = len(LEAD) + 64 + 2  # the checksum, its closing quote and the comma
_HEAD = re.compile(  # a later format may go on differently
    rb'\{"checksum":"(?P<checksum>[0-9a-f]{64})","format":(?P<format>[0-9]{1,9}),'
    rb'(?:"kind":"(?P<kind>text|completion)","id":"(?P<id>[0-9a-f]{64})"(?:,"status":"(?P<status>[a-z]+)")?,)?'
)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a record, readable without parsing JSON."""

    kind: str  # `completion` or `text`
    id: str  # the request's key, or the text's sha256
    status: CompletionStatus | None  # the completion's status; None for a text


def _encode(kind: str, name: str, status: CompletionStatus | None, body: object) -> bytes:
    form = FORMAT if status is CompletionStatus.partial else 1
    head = {"format": form, "kind": kind, "id": name} | ({"status": status.value} if status else {})
    try:
        covered = orjson.dumps({**head, "body": body})[1:]
    except TypeError:  # raised by orjson: a number out of range, half a surrogate pair
        covered = orjson.dumps({**head, "body": tame(body)})[1:]
    return b'%b%b",%b\n' % (LEAD, hashlib.sha256(covered).hexdigest().encode(), covered)


def encode_text(name: str, text: str) -> bytes:
    """Encode a text as a line; `name` is its sha256."""
    return _encode("text", name, None, text)


def encode_request(request: Request, completion: Completion) -> tuple[bytes, dict[str, str]]:
    """Encode a request and its completion as a line, and return the texts that it refers to by sha256.

    Raises:
        StoreError: they can't be represented in JSON.
    """
    sent, texts = _request_body(request)
    fields = as_row(completion) | {
        "usage": as_row(completion.usage),
        "attempts": [as_row(attempt) for attempt in completion.attempts],
        "asked": dict(completion.asked),
        "tool_calls": [as_row(call) for call in completion.tool_calls],
        "carried": dict(completion.carried),
    }
    key, status = completion.key, completion.status
    del fields["key"], fields["status"]  # both stand in the record's head
    body = {name: value for name, value in fields.items() if value or name not in _OPTIONAL}
    try:
        return _encode("completion", key, status, {"request": sent, "completion": body}), texts
    except TypeError as error:  # orjson's own error is one
        raise StoreError(f"completion {key[:12]}", f"can't be stored: {error}") from error


def _request_body(request: Request) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a request as stored, with texts replaced by their sha256, and the texts."""
    texts: dict[str, str] = {}

    def named(text: str) -> str:
        name = sha256_text(text)
        texts[name] = text
        return name

    messages: list[dict[str, Any]] = []
    for message in request.messages:
        turn: dict[str, Any] = {"role": message.role, "text": named(message.content)}
        if message.images:
            turn["images"] = [
                {
                    "media": image.media,
                    "sha256": image.sha256,
                    "text": named(base64.b64encode(image.data).decode("ascii")),
                }
                for image in message.images
            ]
        if message.tool_call_id is not None:
            turn["tool_call_id"] = message.tool_call_id
        if message.tool_calls or message.carried:
            # By name, like texts: each request of a chat repeats all its turns.
            calls = [as_row(call) for call in message.tool_calls]
            further = {"tool_calls": calls, "carried": dict(message.carried)}
            turn["further"] = named(canonical_json(further))
        messages.append(turn)
    return as_row(request) | {"messages": messages, "parameters": dict(request.parameters)}, texts


def check_storable(request: Request, asked: Mapping[str, Any]) -> None:
    """Reject a request that could not be stored after paying for it.

    Raises:
        ConfigError: a parameter or a value in `asked` can't be represented in JSON.
    """
    for name, value in (("parameters", request.parameters), ("asked", asked)):
        try:
            orjson.dumps(dict(value))
        except TypeError as error:  # raised by orjson
            raise ConfigError(f"request to {request.model}", f"{name} can't be stored: {error}") from error


def verify(line: bytes) -> Head | None:
    """Return the head of a complete, undamaged record, with or without newline; None for anything else.

    Raises:
        StoreError: the record has a newer, unknown format.
    """
    match = _HEAD.match(line)
    covered = memoryview(line)[_COVERED_FROM : len(line) - line.endswith(b"\n")]
    if match is None or hashlib.sha256(covered).hexdigest().encode() != match["checksum"]:
        return None
    if (found := int(match["format"])) > FORMAT:
        raise StoreError(
            "completion store",
            f"a record of format {found}",
            f"format {FORMAT} or below",
            "upgrade staffbench: it was written by a newer version",
        )
    if match["kind"] is None:
        return None
    kind, status = match["kind"].decode(), match["status"]
    if (kind == "completion") != (status is not None):
        return None
    try:
        known = CompletionStatus(status.decode()) if status is not None else None
    except ValueError:
        return None
    return Head(kind, match["id"].decode(), known)


def decode_text(line: bytes) -> str:
    """Decode the text of a verified `text` record.

    Raises:
        ValueError: it is not the text that its id names.
    """
    record = orjson.loads(line)
    text = record["body"]
    if not isinstance(text, str) or sha256_text(text) != record["id"]:
        raise ValueError("not the text that its id names")
    return text


def decode_completion(line: bytes) -> tuple[Completion, dict[str, Any]]:
    """Decode the completion of a verified record, and its request as from `encode_request`.

    Raises:
        ValueError, KeyError, TypeError: the record lacks fields of a completion.
    """
    record = orjson.loads(line)
    fields = {**record["body"]["completion"], "key": record["id"], "status": record["status"]}
    return from_row(Completion, fields), record["body"]["request"]


def decode_request(key: str, body: Mapping[str, Any], find: Callable[[str], str | None]) -> Request | None:
    """Decode the request of `encode_request`; None if a text or a field is missing or damaged.

    `find` returns a text by its sha256; None if it is missing, ValueError if it is damaged.
    """
    try:
        texts = {name: find(name) for name in _texts_of(body)}
        if None in texts.values():
            return None
        messages = tuple(_message(turn, texts) for turn in body["messages"])
        fields: dict[str, Any] = {**body, "messages": messages}
        request = Request(**fields)
    except (KeyError, TypeError, ValueError):
        return None
    return request if request.key == key else None


def _texts_of(body: Mapping[str, Any]) -> Iterator[str]:
    for turn in body["messages"]:
        yield turn["text"]
        yield from (image["text"] for image in turn.get("images", ()))
        if "further" in turn:
            yield turn["further"]


def _message(turn: Mapping[str, Any], texts: Mapping[str, Any]) -> Message:
    further: dict[str, Any] = json.loads(texts[turn["further"]]) if "further" in turn else {}
    return Message(
        role=turn["role"],
        content=texts[turn["text"]],
        images=tuple(_image(image, texts) for image in turn.get("images", ())),
        tool_calls=tuple(ToolCall(**call) for call in further.get("tool_calls", ())),
        tool_call_id=turn.get("tool_call_id"),
        carried=further.get("carried", {}),
    )


def _image(image: Mapping[str, Any], texts: Mapping[str, Any]) -> Image:
    found = Image(image["media"], base64.b64decode(texts[image["text"]], validate=True))
    if found.sha256 != image["sha256"]:
        raise ValueError("not the image that its record names")
    return found
