"""Content-addressed results of stages in `results/.cache/objects`. A cache: losing it only costs time.

With a shared store they are in it too, by stage and key: another machine finds what this one computed.

A payload is canonical JSON with its stage and key. Reading verifies address, stage and key, so a truncated,
edited or swapped file is never used.
"""

import json
import zlib
from pathlib import Path
from typing import Any

from flows.common.blobs import Blobs
from flows.common.digests import canonical_json, sha256_text
from flows.common.files import write_whole


class ObjectStore:
    """Content-addressed payloads in a folder, and in a shared store if there is one. Thread-safe.

    Attributes:
        is_remote: True if there is one: every method may then wait for it.
    """

    def __init__(self, folder: Path, blobs: Blobs | None = None) -> None:
        self._folder = folder
        self._blobs = blobs
        self.is_remote = blobs is not None

    def put(self, stage: str, key: str, value: Any) -> str:
        """Store `value` and return its address: sha256 over stage, key and value.

        Raises:
            StoreError: it can't be written.
        """
        text = canonical_json({"stage": stage, "key": key, "value": value})
        address = sha256_text(text)
        path = self._path(address)
        data = zlib.compress(text.encode("utf-8"), 1)
        if _read(path, stage, key, address) is None:  # missing or damaged
            write_whole(path, data)
        if self._blobs is not None:
            self._blobs.put(f"stages/{stage}/{key}", data)
        return address

    def get(self, stage: str, key: str, address: object) -> Any | None:
        """Return the value at `address`; None if it is missing, damaged or for another key."""
        if not isinstance(address, str) or not address.isalnum():
            return None
        value = _read(self._path(address), stage, key, address)
        if value is None and self._blobs is not None and (found := self.find(stage, key)) is not None:
            return found[1] if found[0] == address else None
        return value

    def find(self, stage: str, key: str) -> tuple[str, Any] | None:
        """Return address and value that any machine stored last under `key`; None without a shared store."""
        if self._blobs is None or (data := self._blobs.get(f"stages/{stage}/{key}")) is None:
            return None
        found = _opened(data, stage, key)
        if found is not None:
            write_whole(self._path(found[0]), data)
        return found

    def remember(self, stage: str, key: str, value: Any) -> None:
        """Store `value` so that `recall` can find it by its key.

        Raises:
            StoreError: it can't be written.
        """
        address = self.put(stage, key, value)
        write_whole(self._reference(stage, key), address.encode())

    def recall(self, stage: str, key: str) -> Any | None:
        """Return the value stored by `remember` under `key`; None if it is missing or damaged."""
        try:
            address = self._reference(stage, key).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            return None
        return self.get(stage, key, address)

    def _reference(self, stage: str, key: str) -> Path:
        return self._folder / stage / key

    def _path(self, address: str) -> Path:
        return self._folder / address[:2] / address


def _read(path: Path, stage: str, key: str, address: str) -> Any | None:
    try:
        found = _opened(path.read_bytes(), stage, key)
    except OSError:
        return None
    return found[1] if found is not None and found[0] == address else None


def _opened(data: bytes, stage: str, key: str) -> tuple[str, Any] | None:
    """Return address and value of a payload; None if it is damaged or for another key."""
    try:
        text = zlib.decompress(data).decode("utf-8")
        payload = json.loads(text)
        same = (payload["stage"], payload["key"]) == (stage, key)
        return (sha256_text(text), payload["value"]) if same else None
    except (zlib.error, ValueError, LookupError, TypeError):
        return None
