"""Durable, content-addressed store of reports: `results/<benchmark>/reports/files/<sha256>.docx`.

A MissionReport brief is a Word file. Its layout is judged too, and a model's report can't be recreated
without cost, so the file is kept under the sha256 of its bytes.
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
        """Store a report durably and return its sha256.

        Raises:
            StoreError: it can't be written.
        """
        name = sha256_bytes(data)
        path = self.path(name)
        if not self.has(name):
            write_whole(path, data, durable=True)
        return name

    def path(self, name: str) -> Path:
        """Return the path of the report with that sha256.

        Raises:
            ValueError: not a sha256.
        """
        if len(name) != hashlib.sha256().digest_size * 2 or not name.isalnum():
            raise ValueError(f"{name!r} is no sha256")
        return self._folder / f"{name}.docx"

    def has(self, name: str) -> bool:
        """True if the report exists and matches its sha256."""
        try:
            return sha256_bytes(self.path(name).read_bytes()) == name
        except OSError:
            return False
