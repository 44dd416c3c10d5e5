"""Provider keys: read when a call is sent, and taken out of whatever comes back."""

from __future__ import annotations

import base64
import functools
import html
import json
import os
import re
import urllib.parse
from typing import Any, cast

from flows.schema.errors import ConfigError, ProviderError
from flows.schema.settings import ModelSettings

_PLACE = "[key]"
_SHORTEST_SECRET = 8  # below: "none", "EMPTY", placeholders for servers that ask for a key and take any
_SHORTEST_IN_TEXT = 16  # below: "not-needed", "lm-studio", which a reply may hold as words


def read_key(model: ModelSettings) -> str | None:
    """The key of `model`, from the environment; None where it needs none.

    Raises:
        ProviderError: the variable is not set, or holds what no HTTP header can.
    """
    name = model.api_key_env
    if name is None:
        return None
    key = os.environ.get(name, "").strip()  # a newline at the end is what `echo` leaves
    if not key:
        raise ProviderError(
            f"model {model.label}",
            f"the environment variable {name} is not set",
            "the provider's key in it",
            f"export {name}=..., or set model.api_key_env=null (judge.api_key_env=null) where none is needed",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ProviderError(
            f"model {model.label}",
            f"the environment variable {name} holds a character that no key has",
            "printable ASCII without spaces",
        )
    return key


def check_key(model: ModelSettings) -> None:
    """Make sure, before anything runs, that the key of `model` is there.

    Raises:
        ProviderError: it is not.
    """
    read_key(model)


def check_no_key(model: ModelSettings, sent: str, key: str | None) -> None:
    """Refuse a request that carries a key: what is sent is stored.

    Args:
        model: whom to ask.
        sent: everything but the messages, as text.
        key: of the model.

    Raises:
        ConfigError: the key is in it, or the address holds a password.
    """
    host = urllib.parse.urlsplit(model.api_base or "").netloc
    if "@" in host or scrub(sent, key) != sent:
        raise ConfigError(
            f"model {model.label}",
            "a secret in api_base or parameters: they are stored with every reply",
            remedy="put it into an environment variable and name that in api_key_env",
        )


def scrub(text: str, key: str | None) -> str:
    """A message without the key, however it is written: plain, quoted, escaped, in hex, in base64."""
    if key is None or len(key) < _SHORTEST_SECRET:
        return text
    return _pattern(key).sub(_PLACE, text)


def scrub_reply(text: str, key: str | None) -> tuple[str, str]:
    """The text of a reply without the key, and a note where it was there.

    Only what no brief holds by chance is taken out of one: a long key.
    """
    if key is None or len(key) < _SHORTEST_IN_TEXT or not any(form in text for form in _forms(key)):
        return text, ""
    return _pattern(key).sub(_PLACE, text), "the provider's key was in the reply and was taken out"


def scrub_value(value: Any, key: str | None) -> tuple[Any, str]:
    """A JSON value of a reply without the key, and a note, as for its text."""
    if isinstance(value, str):
        return scrub_reply(value, key)
    if isinstance(value, list):
        parts = [scrub_value(item, key) for item in cast("list[Any]", value)]
        return [part for part, _ in parts], next((note for _, note in parts if note), "")
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        values, note = scrub_value(list(fields.values()), key)
        return dict(zip(fields, values, strict=True)), note
    return value, ""


@functools.lru_cache(maxsize=64)
def _forms(key: str) -> tuple[str, ...]:
    """How the key may be written, longest first."""
    raw = key.encode()
    escaped = json.dumps(key)[1:-1]
    forms = {
        key,
        urllib.parse.quote(key),
        urllib.parse.quote(key, safe=""),
        escaped,
        escaped.replace("/", "\\/"),
        html.escape(key),
        repr(key)[1:-1],
        raw.hex(),
        "".join(f"\\x{byte:02x}" for byte in raw),
        "".join(f"\\u{byte:04x}" for byte in raw),
    }
    for lead in range(3):  # base64 looks different at each alignment; its middle does not
        coded = base64.b64encode(b"\0" * lead + raw).decode()
        middle = coded[(0, 2, 3)[lead] : len(coded) - (4 if coded.endswith("=") else 0)]
        forms |= {middle, middle.replace("+", "-").replace("/", "_")}
    return tuple(sorted(forms, key=len, reverse=True))


@functools.lru_cache(maxsize=64)
def _pattern(key: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _forms(key))), re.IGNORECASE)  # hex comes in both cases
