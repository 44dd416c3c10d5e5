"""Content-addressed results of stages in `results/.cache/objects`. A cache: losing it only costs time.

A payload is canonical JSON with its stage and key. Reading verifies address, stage and key, so a truncated,
edited or swapped file is never used.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from flows.common.digests import canonical_json, sha256_text
from flows.common.files import write_whole


class ObjectStore:
    """Content-addressed payloads in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, stage: str, key: str, value: Any) -> str:
        """Store `value` and return its address: sha256 over stage, key and value.

        Raises:
            StoreError: it can't be written.
        """
        text = canonical_json({"stage": stage, "key": key, "value": value})
        address = sha256_text(text)
        path = self._path(address)
        if self.get(stage, key, address) is None:  # missing or damaged
            write_whole(path, zlib.compress(text.encode("utf-8"), 1))
        return address

    def get(self, stage: str, key: str, address: object) -> Any | None:
        """Return the value at `address`; None if it is missing, damaged or for another key."""
        if not isinstance(address, str) or not address.isalnum():
            return None
        try:
            text = zlib.decompress(self._path(address).read_bytes()).decode("utf-8")
        except (OSError, zlib.error, UnicodeDecodeError):
            return None
        if sha256_text(text) != address:
            return None
        payload = json.loads(text)
        return payload["value"] if (payload["stage"], payload["key"]) == (stage, key) else None

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
