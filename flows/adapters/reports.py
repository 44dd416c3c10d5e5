"""Durable, content-addressed store of reports: `results/<benchmark>/reports/files/<sha256>.docx`.

A MissionReport brief is a Word file. Its layout is judged too, and a model's report can't be recreated
without cost, so the file is kept under the sha256 of its bytes.
"""

import hashlib
from pathlib import Path

from flows.common.blobs import Mirror
from flows.common.digests import sha256_bytes
from flows.common.files import write_whole


class ReportStore:
    """Content-addressed report files in a folder."""

    def __init__(self, folder: Path, mirror: Mirror | None = None) -> None:
        self._folder = folder
        self._mirror = mirror

    def put(self, data: bytes) -> str:
        """Store a report durably and return its sha256.

        Raises:
            StoreError: it can't be written.
        """
        name = sha256_bytes(data)
        path = self.path(name)
        if not self.has(name):
            write_whole(path, data, durable=True)
        if self._mirror is not None:
            self._mirror.push(path)
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
        """True if the report exists and matches its sha256; it is fetched from a shared store."""
        path = self.path(name)
        return self._is_here(path, name) or (
            self._mirror is not None and self._mirror.pull(path) and self._is_here(path, name)
        )

    @staticmethod
    def _is_here(path: Path, name: str) -> bool:
        try:
            return sha256_bytes(path.read_bytes()) == name
        except OSError:
            return False
