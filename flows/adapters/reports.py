"""Reports by content: `results/<benchmark>/reports/files/<sha256>.docx`. Durable, and never rewritten.

A brief of MissionReport is a Word file. Its text alone can't be judged by its look, and a report that a
model wrote can't be had again for nothing, so the file itself is kept, under the sha256 of its bytes.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from pathlib import Path

from flows.common.errors import StoreError


class ReportStore:
    """Content-addressed report files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Store a report and return its sha256. It is on the disk before this returns.

        Raises:
            StoreError: it can't be written.
        """
        name = hashlib.sha256(data).hexdigest()
        path = self.path(name)
        if self.has(name):
            return name
        # A name of its own: attempts of one run may hand in equal reports at the same moment.
        scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(path)
        except OSError as error:
            with suppress(OSError):  # the folder itself may be what is wrong
                scratch.unlink()
            raise StoreError(
                path, f"can't be written ({error.strerror})", remedy="free space, or mend the rights"
            ) from error
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
            return hashlib.sha256(self.path(name).read_bytes()).hexdigest() == name
        except OSError:
            return False
