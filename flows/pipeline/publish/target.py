"""The folder of an export: what it may replace, and how."""

from __future__ import annotations

import glob
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from flows.common.errors import ConfigError

CANARY = "staffbench canary "
"""The beginning of every canary string."""

_OWN = ("README.md", "LICENSE", "croissant.json", "data")


def recover(folder: Path) -> None:
    """Put back or delete what a kill between the two renames of `put` left."""
    for old in folder.parent.glob(f".{glob.escape(folder.name)}.*.old"):
        shutil.rmtree(old) if folder.exists() else old.rename(folder)


def earlier_canary(folder: Path) -> str | None:
    """Return the canary of an earlier export in `folder`; None if it is new or empty.

    Raises:
        ConfigError: it holds anything but an export.
    """
    recover(folder)
    expected = "a new or empty folder, or an earlier export"
    if folder.exists() and not folder.is_dir():
        raise ConfigError(folder, "a file", expected)
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if not names:
        return None
    inside = folder / "data"
    names += (
        [f"data/{path.name}" for path in inside.iterdir() if path.suffix != ".parquet"]
        if inside.is_dir()
        else []
    )
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


def put(part: Path, folder: Path, check: Callable[[Path], object]) -> None:
    """Put the new folder in the place of the earlier one.

    Args:
        part: the new folder, beside `folder`: its name with a point before and `.ID.part` behind.
        folder: what is replaced.
        check: raises if `folder` may not be replaced; somebody may have put something there meanwhile.

    Raises:
        OSError: it can't be renamed; the earlier one is there.
    """
    check(folder)
    if not folder.is_dir():
        part.rename(folder)
        return
    old = folder.with_name(part.name.removesuffix("part") + "old")
    folder.rename(old)
    try:
        part.rename(folder)
    except OSError:
        with suppress(OSError):
            old.rename(folder)
        raise
    shutil.rmtree(old)
