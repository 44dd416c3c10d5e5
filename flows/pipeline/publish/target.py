"""The folder of an export: what it may replace, and how."""

import glob
import json
import shutil
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from flows.common.errors import ConfigError
from flows.common.files import unwritable

CANARY = "staffbench canary "
"""The beginning of every canary string."""

_OWN = ("README.md", "LICENSE", "croissant.json", "data")


def contents(folder: Path, expected: str) -> list[str]:
    """Return the names in a folder, sorted; none if there is no folder.

    What a kill between two renames of `replacing` left is put back or deleted first.

    Raises:
        ConfigError: it is a file; `expected` says what it should be.
    """
    for old in folder.parent.glob(f".{glob.escape(folder.name)}.*.old"):
        shutil.rmtree(old) if folder.exists() else old.rename(folder)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(folder, "a file", expected)
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def earlier_canary(folder: Path) -> str | None:
    """Return the canary of an earlier export in `folder`; None if it is new or empty.

    Raises:
        ConfigError: it holds anything but an export.
    """
    expected = "a new or empty folder, or an earlier export"
    names = contents(folder, expected)
    if not names:
        return None
    names += [f"data/{path.name}" for path in (folder / "data").glob("*") if path.suffix != ".parquet"]
    if odd := [name for name in names if name not in _OWN]:
        raise ConfigError(folder, f"holds {', '.join(odd[:3])}, which no export has", expected)
    try:
        described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
        _, mark, canary = str(described["description"]).partition(CANARY)
    except (OSError, ValueError, KeyError, TypeError):
        mark = canary = ""
    if not mark:
        raise ConfigError(folder, "no earlier export of staffbench", expected)
    return mark + canary


@contextmanager
def replacing(folder: Path, check: Callable[[Path], object]) -> Generator[Path]:
    """Give a new folder to write into, which then takes the place of the earlier one: all of it or nothing.

    `check` raises if `folder` may not be replaced: somebody may have put something there meanwhile.

    Raises:
        StoreError: it can't be written; the earlier one is there.
    """
    part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        check(folder)
        if folder.is_dir():
            old = part.with_suffix(".old")
            folder.rename(old)
            try:
                part.rename(folder)
            except OSError:
                with suppress(OSError):
                    old.rename(folder)
                raise
            shutil.rmtree(old)
        else:
            part.rename(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
