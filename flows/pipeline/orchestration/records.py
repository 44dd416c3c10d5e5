"""Prefect's records of finished tasks, one file per key, written atomically.

Prefect's own `LocalFileSystem` resolves every path five times per task and reads in threads, a third of
the CPU of a task that takes a millisecond. It also writes in place, so that another task may read half a
record.

A record names its serializer, and Prefect would unpickle one that says so. Only JSON as our own tasks
write it is accepted here; any other record is ignored, and the task runs again.
"""

import json
import os
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, cast

from prefect.filesystems import LocalFileSystem
from prefect.serializers import JSONSerializer
from prefect.settings import get_current_settings

from flows.common.files import write_whole

# Compared as a whole, since it names code to import.
_SERIALIZER = JSONSerializer().model_dump()


class RecordFolder(LocalFileSystem):
    """Task records in one folder, by key. Used as a flow's `result_storage`."""

    _block_type_name = "staffbench records"

    def _resolve_path(self, path: str) -> Path:
        """Join folder and key. Keys are digests or random names, so none leads out of the folder."""
        return Path(self.basepath or ".", path)

    async def aread_path(self, path: str) -> bytes:
        """Return the record at `path`.

        Raises:
            ValueError: there is no readable record, the error that Prefect expects.
        """
        return self._checked(path)

    def read_path(self, path: str) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride] -- Prefect decorates its own
        """Return the record at `path`; the synchronous form of `aread_path`."""
        return self._checked(path)

    async def awrite_path(self, path: str, content: bytes) -> str:
        """Write a record atomically; return its full path."""
        full_path = self._resolve_path(path)
        write_whole(full_path, content)
        return str(full_path)

    def result(self, key: str) -> str | None:
        """Return the result of the finished task with this key; None without a readable record."""
        try:
            return json.loads(_record(self._resolve_path(key))["result"])
        except ValueError:
            return None

    def _checked(self, path: str) -> bytes:
        # Not the file's raw bytes: another parser might read them differently.
        return json.dumps(_record(self._resolve_path(path))).encode()


def _record(path: Path) -> dict[str, Any]:
    """Read the record of a task that returned a string.

    Raises:
        ValueError: the record is missing, damaged or of another kind.
    """
    try:
        record = json.loads(path.read_bytes())
        metadata, result = record["metadata"], record["result"]
        kind = metadata["serializer"], metadata["expiration"], isinstance(json.loads(result), str)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"no record at {path}") from error
    if kind != (_SERIALIZER, None, True):
        raise ValueError(f"no record of ours at {path}")
    return {"metadata": cast("dict[str, Any]", metadata), "result": result}


_OWN_FOLDER: ContextVar[Path | None] = ContextVar("folder of a run's records", default=None)


def keep_records_in(folder: Path) -> None:
    """Keep the records of this context's tasks in a folder: a worker serves runs of several."""
    _OWN_FOLDER.set(folder)


def records() -> RecordFolder:
    """Return where a flow keeps its results: by `PREFECT_LOCAL_STORAGE_PATH`, also if it was set late."""
    return _opened(_OWN_FOLDER.get() or os.environ.get("PREFECT_LOCAL_STORAGE_PATH"))


@cache
def _opened(folder: Path | str | None) -> RecordFolder:
    path = Path(folder or get_current_settings().results.local_storage_path)
    return RecordFolder(basepath=str(path.expanduser().absolute()))
