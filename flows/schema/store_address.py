"""The address of a store that several machines share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from flows.common.errors import ConfigError

_EXPECTED = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or a folder"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,221}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PREFIX = re.compile(r"[A-Za-z0-9!_.*'()+=,@/-]*")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where a shared store is."""

    scheme: str  # `s3`, `gs`, `az` or `file`
    bucket: str  # bucket or container; the folder, if the scheme is `file`
    prefix: str = ""  # names in the bucket begin with it; without slashes at its ends, may be empty

    @classmethod
    def of(cls, text: str, project: Path | None = None) -> StoreAddress:
        """Parse an address.

        A relative path starts from `project`, else from the current folder.

        Raises:
            ConfigError: it is not understood, or holds a password or a token.
        """
        scheme = f"{text.partition('://')[0]}://" if "@" in text.partition("://")[2] else ""
        shown = f"store={scheme}{re.split('[?#]', text.rpartition('@')[2])[0]}"  # without what may be secret
        _check_text(text)
        if not _SCHEME.match(text):
            return cls("file", str(((project or Path.cwd()) / Path(text).expanduser()).absolute()))
        try:
            parts = urlsplit(text)
        except ValueError:
            raise ConfigError(shown, "not an address", _EXPECTED) from None
        if "@" in text or parts.query or parts.fragment:
            raise ConfigError(
                shown,
                "holds a name, a password or parameters: addresses are stored and shown",
                _EXPECTED,
                "set credentials in the environment",
            )
        if parts.scheme == "file":
            if parts.netloc or len(parts.path) < 2:  # noqa: PLR2004 -- a slash and a name
                raise ConfigError(shown, "names no folder", "three slashes, as in file:///mnt/shared/store")
            return cls("file", unquote(parts.path))
        prefix = parts.path.strip("/")
        if parts.scheme not in ("s3", "gs", "az"):
            raise ConfigError(shown, f"an address of kind {parts.scheme}", _EXPECTED)
        if not text.lower().startswith(f"{parts.scheme}://") or not _BUCKET.fullmatch(parts.netloc):
            raise ConfigError(shown, f"names no bucket: {parts.netloc!r}", _EXPECTED)
        if not _PREFIX.fullmatch(prefix) or {"", ".", ".."} & set(prefix.split("/")) - {prefix}:
            raise ConfigError(shown, "the prefix is not one", "letters, digits and - _ . between slashes")
        return cls(parts.scheme, parts.netloc, prefix)

    def __str__(self) -> str:
        if self.scheme == "file":
            return f"file://{self.bucket}"
        return f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")


def _check_text(text: str) -> None:
    if not text.strip() or not text.isprintable():
        raise ConfigError("store", "empty, or with a character that no address has", _EXPECTED)
    if text.lower() in ("none", "null"):
        raise ConfigError(f"store={text}", "a folder of that name is hardly meant", f"null, or ./{text}")
