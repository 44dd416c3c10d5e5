"""Where Prefect keeps its record of a finished task: a file for each key, read and written at once.

Prefect's own folder resolves every path on the disk five times a task and reads in threads, which was
a third of the CPU of a task that takes a millisecond; and it writes in place, so that another task may
read half a record.

A record names how it is to be read: Prefect would unpickle one that says so. Nothing is read here but
JSON as our own tasks write it; any other record is none, and the work is done again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from prefect.filesystems import LocalFileSystem
from prefect.serializers import JSONSerializer
from prefect.settings import get_current_settings

from flows.common.files import write_whole

# Of every stage. Compared whole, for it names code to import.
_SERIALIZER = JSONSerializer().model_dump()


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
            ValueError: there is none that can be read, which is what Prefect expects to be told.
        """
        return self._checked(path)

    def read_path(self, path: str) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride] -- Prefect's is a decorator's object
        """As `aread_path`, for what is not asynchronous."""
        return self._checked(path)

    async def awrite_path(self, path: str, content: bytes) -> str:
        """Write a record whole or not at all; returns where."""
        whole = self._resolve_path(path)
        write_whole(whole, content)
        return str(whole)

    def result(self, key: str) -> str | None:
        """What a finished task of this key returned; None where there is no record that can be read."""
        try:
            return json.loads(_record(self._resolve_path(key))["result"])
        except ValueError:
            return None

    def _checked(self, path: str) -> bytes:
        # Not the file's bytes: another parser might find something else in them.
        return json.dumps(_record(self._resolve_path(path))).encode()


def _record(path: Path) -> dict[str, Any]:
    """A record of a task that returned a text.

    Raises:
        ValueError: there is none, it is damaged, or it is of another kind.
    """
    try:
        record = json.loads(path.read_bytes())
        metadata, result = record["metadata"], record["result"]
        told = metadata["serializer"], metadata["expiration"], isinstance(json.loads(result), str)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"no record at {path}") from error
    if told != (_SERIALIZER, None, True):
        raise ValueError(f"no record of ours at {path}")
    return {"metadata": cast("dict[str, Any]", metadata), "result": result}
