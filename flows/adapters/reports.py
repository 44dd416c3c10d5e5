"""Reports by content: `results/<benchmark>/reports/files/<sha256>.docx`. Durable, and never rewritten.

A brief of MissionReport is a Word file. Its text alone can't be judged by its look, and a report that a
model wrote can't be had again for nothing, so the file itself is kept, under the sha256 of its bytes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from flows.common.digests import sha256_bytes
from flows.common.files import write_whole


class ReportStore:
    """Content-addressed report files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Store a report and return its sha256. It is on the disk before this returns.

        Raises:
            StoreError: it can't be written.
        """
        name = sha256_bytes(data)
        path = self.path(name)
        if not self.has(name):
            write_whole(path, data, durable=True)
        return name

    def path(self, name: str) -> Path:
        """Where the report of that sha256 lies.

        Raises:
            ValueError: no sha256.
        """
        if len(name) != hashlib.sha256().digest_size * 2 or not name.isalnum():
            raise ValueError(f"{name!r} is no sha256")
        return self._folder / f"{name}.docx"

    def has(self, name: str) -> bool:
        """True where the report is there and its bytes are those that it is named after."""
        try:
            return sha256_bytes(self.path(name).read_bytes()) == name
        except OSError:
            return False
