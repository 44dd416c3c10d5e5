"""Secrets: read from the environment for each call, and removed from everything received.

This covers keys and headers of writers, judges and panel members, passwords of proxies, and what litellm
reads from the environment. How a secret is searched for depends on whether a text may contain it by chance:

- sixteen characters or more: anywhere, in every form;
- from six, if a letter and a digit are adjacent or the prefix is typical of keys ("k3y-77", "sk-1234"):
  anywhere, in every form, but unencoded only as a separate word;
- other short ones, such as words, dates and numbers ("not-needed", "team-1"): placeholders or headers that
  are not secret. In messages from eight characters, and shorter ones after a word that introduces a key;
  never in a reply.
"""

import base64
import functools
import html
import json
import os
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any, cast

from flows.common.errors import ConfigError, Problems, ProviderError
from flows.schema.settings import ModelSettings, Transport

_PLACE = "[key]"
_LONG = 16
_SHORTEST_MIXED = 6
_SHORTEST_WORD = 8
_MIXED = re.compile(r"[0-9][A-Za-z]|[A-Za-z][0-9]|^(?:sk|pk|key|api|token)[-_]")
_FOUND_BY_LITELLM = re.compile(r"(?:KEY|KEY_ID|TOKEN|SECRET|PASSWORD)$")
_PROXIES = tuple(
    name
    for scheme in ("http", "https", "all", "ws", "wss", "ftp", "socks")
    for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY")
)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")

_names: set[str] = set()
"""Environment variables with secrets of this process. Their values are read when needed."""


def read_key(model: ModelSettings) -> str | None:
    """Read the key of `model` from the environment; None if it needs none.

    Raises:
        ProviderError: the variable is not set or not valid in an HTTP header.
    """
    name = model.api_key_env
    if name is None:
        return None
    # An endpoint of one's own may need none; a provider's always does.
    or_none = ", or set model.api_key_env=null (judge.api_key_env=null) where none is needed"
    remedy = f"set it: export {_shown(name)}=...{or_none if model.api_base else ''}"
    key = _read(model, name, "the provider's key in it", remedy)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ProviderError(
            f"model {model.label}",
            f"the environment variable {name} holds a character that no key has",
            "printable ASCII without spaces",
        )
    return key


def read_headers(model: ModelSettings) -> dict[str, str]:
    """Read the further headers of `model` by name from the environment.

    Raises:
        ProviderError: a variable is not set or not valid in an HTTP header.
    """
    found: dict[str, str] = {}
    for header, name in (model.headers or {}).items():
        value = _read(model, name, f"the header {header} in it", f"set it: export {_shown(name)}=...")
        if not value.isascii() or not value.isprintable():
            raise ProviderError(
                f"model {model.label}",
                f"the environment variable {name} holds a character that no header has",
                "printable ASCII",
            )
        found[header] = value
    return found


def _read(model: ModelSettings, name: str, expected: str, remedy: str) -> str:
    _names.add(name)
    value = os.environ.get(name, "").strip()  # `echo` leaves a newline at the end
    if not value:
        found = f"the environment variable {_shown(name)} is not set"
        raise ProviderError(f"model {model.label}", found, expected, remedy)
    return value


def _shown(name: str) -> str:
    """Return a variable's name, hiding what may be a key instead."""
    return name if _VARIABLE.fullmatch(name) or name in os.environ else "NAME"


def check_keys(models: Iterable[ModelSettings]) -> None:
    """Check before a run that the keys and headers of `models` are set.

    Raises:
        StaffbenchError: some are not set; each is named, with the models that need it.
    """
    needed_by: dict[tuple[str, str, str], list[str]] = {}
    for model in models:
        for read in (read_key, read_headers):
            try:
                read(model)
            except ProviderError as error:
                needed_by.setdefault((error.found, error.expected, error.remedy), []).append(model.label)
        if model.transport is Transport.litellm and model.api_key_env is None:
            _names.update(name for name in os.environ if _FOUND_BY_LITELLM.search(name))
    faults = [
        ProviderError(f"model {' and '.join(dict.fromkeys(labels))}", *fault)
        for fault, labels in needed_by.items()
    ]
    if faults:
        raise Problems.one_or_all("keys", faults)


def check_no_secret(where: str, settings: object) -> None:
    """Reject settings, a JSON value, that contain a secret: they are stored with every result.

    Raises:
        ConfigError: they contain a secret, which is not shown.
    """
    text = json.dumps(settings, ensure_ascii=False)
    if any(_is_certain(secret) and _pattern(secret).search(text) for secret in _secrets(None)):
        raise ConfigError(
            where,
            "contains a key, header or password from the environment, and settings are stored",
            remedy="name its environment variable: in api_key_env, or in headers",
        )


def check_no_key(model: ModelSettings, sent: str, key: str | None) -> None:
    """Reject a request that contains a secret: requests are stored. `sent` is all but its messages, as text.

    Raises:
        ConfigError: it contains a secret, or the address a password.
    """
    host = urllib.parse.urlsplit(model.api_base or "").netloc
    found = any(_is_certain(one) and _pattern(one).search(sent) for one in _secrets(key))
    if "@" in host or found or (len(key or "") >= _SHORTEST_WORD and json.dumps(key) in sent):
        raise ConfigError(
            f"model {model.label}",
            "a secret in api_base or parameters: they are stored with every reply",
            remedy="put it into an environment variable and name that in api_key_env, or in headers",
        )


def scrub(text: str, key: str | None) -> str:
    """Remove every secret from a message: plain, quoted, escaped, in hex or base64."""
    for secret in _secrets(key):
        if _is_certain(secret) or len(secret) >= _SHORTEST_WORD:
            text = _pattern(secret).sub(_PLACE, text)
        else:
            introduced = rf"((?i:\bbearer\s+|[:=]\s*[\"']?)){re.escape(secret)}(?![\w-])"
            text = re.sub(introduced, rf"\1{_PLACE}", text)
    return text


def scrub_reply(text: str, key: str | None) -> tuple[str, str]:
    """Remove secrets from a reply, and return a note if there were any.

    Only secrets that no brief contains by chance are removed.
    """
    cleaned = text
    for secret in _secrets(key):
        if _is_certain(secret) and any(form in cleaned for form in _forms(secret)):
            cleaned = _pattern(secret).sub(_PLACE, cleaned)
    return cleaned, "" if cleaned == text else "the provider's key was in the reply and was taken out"


def scrub_value(value: Any, key: str | None) -> tuple[Any, str]:
    """Remove secrets from a JSON value of a reply, as `scrub_reply`."""
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
    """Return the encodings of a key, longest first."""
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
    for lead in range(3):  # base64 differs by alignment, except in its middle
        coded = base64.b64encode(b"\0" * lead + raw).decode()
        middle = coded[(0, 2, 3)[lead] : len(coded) - (4 if coded.endswith("=") else 0)]
        forms |= {middle, middle.replace("+", "-").replace("/", "_")}
    return tuple(sorted(forms, key=len, reverse=True))


@functools.lru_cache(maxsize=64)
def _pattern(key: str) -> re.Pattern[str]:
    forms = [re.escape(form) for form in _forms(key) if form != key]
    if len(key) >= _LONG or not _is_certain(key):
        return re.compile("|".join([re.escape(key), *forms]), re.IGNORECASE)  # hex may be upper or lower case
    return re.compile("|".join([rf"(?<![A-Za-z0-9]){re.escape(key)}(?![A-Za-z0-9])", *forms]))


def _is_certain(secret: str) -> bool:
    """True if no ordinary text contains it by chance."""
    if len(secret) >= _LONG:
        return True
    return len(secret) >= _SHORTEST_MIXED and bool(_MIXED.search(secret))


def _secrets(key: str | None) -> list[str]:
    """Return the secrets, longest first, as one may contain another."""
    found = {key or "", *_of_proxies()}
    for name in _names:
        # A header may have a scheme before the secret.
        found.add(os.environ.get(name, "").strip().rpartition(" ")[2])
    return sorted(found - {""}, key=lambda secret: (-len(secret), secret))


@functools.cache
def _other_proxies() -> tuple[str, ...]:
    """Return the variables of other schemes or spellings that name a proxy when this process begins."""
    return tuple(name for name in os.environ if name.lower().endswith("_proxy") and name not in _PROXIES)


def _of_proxies() -> Iterator[str]:
    """Yield passwords of proxies from the environment, and user:password pairs, which are sent in base64."""
    # `urllib.request.getproxies` reads the whole environment: that took a twentieth of a sweep's CPU.
    for name in (*_PROXIES, *_other_proxies()):
        if (address := os.environ.get(name)) is None:
            continue
        host = address.rpartition("@")[0].rpartition("//")[2]
        for pair in (host, urllib.parse.unquote(host)):
            password = pair.partition(":")[2]
            yield from (pair, password) if password else ()
