"""Where Prefect keeps its record of a finished task: a file for each key, read and written at once.

Prefect's own folder resolves every path on the disk five times a task and reads in threads, which was
a third of the CPU of a task that takes a millisecond; and it writes in place, so that another task may
read half a record.
"""

from __future__ import annotations

import os
from pathlib import Path

from prefect.filesystems import LocalFileSystem
from prefect.results import ResultRecord  # pyright: ignore[reportPrivateImportUsage] -- defined in a private module, and meant to be had from this one
from prefect.settings import get_current_settings

_RECORD = ResultRecord[str]  # the address of what a stage stored; made once, for pydantic takes its time


class RecordFolder(LocalFileSystem):
    """Records in one folder, by their key. Used as a flow's `result_storage`."""

    _block_type_name = "staffbench records"

    @classmethod
    def of_settings(cls) -> RecordFolder:
        """The folder that `PREFECT_LOCAL_STORAGE_PATH` names."""
        return cls(basepath=str(get_current_settings().results.local_storage_path.expanduser().absolute()))

    def _resolve_path(self, path: str) -> Path:
        """Keys are digests and random names of ours and Prefect's: nothing that leads out of the folder."""
        return Path(self.basepath or ".", path)

    async def aread_path(self, path: str) -> bytes:
        """The record at `path`.

        Raises:
            ValueError: there is none, which is what Prefect expects to be told.
        """
        try:
            return self._resolve_path(path).read_bytes()
        except OSError as error:
            raise ValueError(f"no record at {path}") from error

    async def awrite_path(self, path: str, content: bytes) -> str:
        """Write a record whole or not at all; returns where."""
        whole = self._resolve_path(path)
        scratch = whole.with_suffix(f".{os.getpid()}")
        whole.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(content)
        scratch.replace(whole)
        return str(whole)

    def result(self, key: str) -> str | None:
        """What a finished task of this key returned; None where there is no record that can be read."""
        try:
            return _RECORD.deserialize(self._resolve_path(key).read_bytes()).result
        except (OSError, ValueError):
            return None
