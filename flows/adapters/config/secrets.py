"""Reject secrets in a configuration without showing them.

Settings are stored with every result; keys and headers come from the environment.
"""

import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any, cast

from flows.common.errors import ConfigError
from flows.schema.settings import Transport

_QUERY = re.compile(
    r"key|token|^sig$|signature|secret|passw|pwd|auth|credential|^code$|session|jwt|bearer", re.IGNORECASE
)
"""Query parameters that are credentials, unlike `api-version`."""
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/_=%.-]{32,}")
_HEADERS = frozenset({"headers", "extraheaders", "defaultheaders", "httpheaders", "customheaders"})
_KEYS = re.compile(
    r"apikey|authorization|subscriptionkey|secretkey|accesskey|privatekey|secretaccess|accesstoken|authtoken"
    r"|bearertoken|sessiontoken|refreshtoken|azureadtoken|clientsecret|sharedsecret|vertexcredentials"
    r"|^(?:auth|bearer|token|credentials?|password|secret|idtoken)$"
)
"""Request parameters that are credentials, in lower case without punctuation."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_OURS = frozenset({"content-type", "content-length", "host", "accept", "transfer-encoding", "connection"})


def is_credential(name: str) -> bool:
    """True if a setting of that name holds a key, a token or a header with one."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain in _HEADERS or _KEYS.search(plain) is not None


def instead_of_secret(section: str) -> str:
    """Return what to set instead of a secret of a model."""
    return f"{section}.api_key_env=VARIABLE for a key, {section}.headers.NAME=VARIABLE for a header"


def refuse_secrets(section: str, settings: Mapping[str, Any]) -> None:
    """Check a model's address, parameters, efforts and headers.

    Raises:
        ConfigError: what looks like a secret, or a header that can't be sent.
    """
    environment = instead_of_secret(section)
    local = settings.get("transport") == Transport.gguf.value
    if not local:
        _refuse_address(f"{section}.api_base", str(settings.get("api_base") or ""), environment)
    variable = settings.get("api_key_env")
    if isinstance(variable, str) and not _VARIABLE.fullmatch(variable):
        raise ConfigError(f"{section}.api_key_env", "no name of an environment variable", "such as MY_KEY")
    for part in ("parameters", "efforts"):
        for name in _names(settings.get(part)):
            if is_credential(name):
                why = "would be stored with every reply"
                raise ConfigError(f"{section}.{part}", f"{name} {why}", remedy=f"set {environment}")
    _refuse_headers(f"{section}.headers", settings.get("headers"), is_local=local)


def _refuse_address(key: str, address: str, environment: str) -> None:
    parts = urllib.parse.urlsplit(address)
    found = ""
    if "@" in parts.netloc:
        found = "a user or a password in the address"
    for name, value in urllib.parse.parse_qsl(parts.query or parts.fragment, keep_blank_values=True):
        if _QUERY.search(name) or _RANDOM.fullmatch(value):
            found = f"what looks like a secret in the address, under {name!r}"
    if found:
        raise ConfigError(key, f"{found}; it would be stored with every reply", remedy=f"set {environment}")


def _refuse_headers(key: str, headers: object, *, is_local: bool) -> None:
    if not isinstance(headers, dict):
        return  # pydantic says what is wrong with it
    seen: set[str] = set()
    for name, variable in cast("dict[str, Any]", headers).items():
        if is_local:
            raise ConfigError(key, "has no effect on a file on this machine")
        if not _HEADER.fullmatch(name):
            raise ConfigError(key, f"{name!r} is no name of a header", "letters, digits and -")
        if name.lower() in _OURS or name.lower() in seen:
            raise ConfigError(f"{key}.{name}", "is set already", "another header")
        seen.add(name.lower())
        if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
            expected = "the name of a variable that holds the header's value"
            raise ConfigError(f"{key}.{name}", "no name of an environment variable", expected)


def is_random(value: str) -> bool:
    """True for a value as only keys and tokens have: long, letters and digits, and no path."""
    return "/" not in value and _RANDOM.fullmatch(value) is not None


def _names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in cast("dict[str, object]", value).items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _names(inner)


def check_address(key: str, address: str) -> None:
    """Check that an endpoint has an address with a scheme.

    Raises:
        ConfigError: it has none.
    """
    try:
        parts = urllib.parse.urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        whole = address if "/" in address.rstrip("/") else f"{address.rstrip('/')}/v1"
        remedy = f"write {key}=http://{whole}" if "://" not in address else ""
        raise ConfigError(f"{key}={address}", "no address", "http://HOST:PORT/v1 or https://HOST/v1", remedy)
