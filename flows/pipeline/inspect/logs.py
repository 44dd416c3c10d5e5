"""Read Inspect's logs, which anybody may have written."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)

from flows.common.errors import ConfigError, StaffbenchError, StoreError

MAX_LOG_BYTES = 4 << 30
"""Unpacked size of a log: more than 10,000 attempts with their trajectories."""
MAX_SAMPLE_BYTES = 256 << 20
_UNREAD = {"events", "timelines", "events_data"}
"""Fields that nothing here uses; of an agent's log they are most of it."""
_T = TypeVar("_T")


def log_files(given: Path) -> list[Path]:
    """Return the logs that a path names: itself, or those in a folder.

    Raises:
        ConfigError: there is none.
    """
    found = [given] if given.is_file() else sorted([*given.glob("*.eval"), *given.glob("*.json")])
    found = [path for path in found if path.name not in ("logs.json", "listing.json", "eval-set.json")]
    if not found:
        what = "no log in it" if given.is_dir() else "no such file or folder"
        raise ConfigError(given, what, "an .eval or .json file of Inspect, or a folder of them")
    return found


def read_header(path: Path) -> EvalLog:
    """Read a log without its samples.

    Raises:
        StoreError: it is no log, damaged or too large.
    """
    _check_size(path)
    return _read(path, lambda: read_eval_log(str(path), header_only=True))


def read_samples(path: Path) -> Iterator[EvalSample]:
    """Read one sample after another, each with its attachments.

    Raises:
        StoreError: the log is damaged.
    """
    for key in _read(path, lambda: read_eval_log_sample_summaries(str(path))):
        yield _read(path, lambda key=key: _sample(path, key.id, key.epoch))


def _sample(path: Path, sample_id: str | int, epoch: int) -> EvalSample:
    return read_eval_log_sample(
        str(path), sample_id, epoch, resolve_attachments="full", exclude_fields=set(_UNREAD)
    )


def _check_size(path: Path) -> None:
    if path.suffix.lower() == ".eval":
        sizes = [entry.file_size for entry in _read(path, lambda: zipfile.ZipFile(path).infolist())]
    else:
        sizes = [_read(path, path.stat).st_size]
    if sum(sizes) > MAX_LOG_BYTES or max(sizes, default=0) > MAX_SAMPLE_BYTES:
        expected = f"at most {MAX_LOG_BYTES >> 30} GB unpacked, and {MAX_SAMPLE_BYTES >> 20} MB a sample"
        raise StoreError(path, f"{sum(sizes):,} bytes", expected)


def _read(path: Path, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except StaffbenchError:
        raise
    except Exception as error:  # readers of zip, JSON and pydantic raise what they like
        said = " ".join(str(error).split())[:200]
        raise StoreError(
            path, f"not readable as a log of Inspect ({type(error).__name__}: {said})"
        ) from error
