"""Files of a job tree, opened so that nothing outside it is ever read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, cast

from flows.schema.harbor import Damage

MAX_BYTES = 64 * 1024 * 1024
"""Larger files are passed over, with a word about it: results and verdicts are kilobytes."""


class Tree:
    """A job's folder, and what was found wrong in it.

    Attributes:
        root: the job's folder, resolved.
        damage: grows as files are read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.damage: list[Damage] = []

    def note(self, where: Path | str, detail: str) -> None:
        """Remember something that was not as it should be."""
        shown = where.relative_to(self.root).as_posix() if isinstance(where, Path) else where
        damage = Damage(as_text(shown) or ".", as_text(detail) or "")
        if damage not in self.damage:
            self.damage.append(damage)

    def file(self, folder: Path, name: str) -> Path | None:
        """The file `name`, a path with slashes, below `folder`; None where there is none.

        A path that leads out of `folder`, or a link on the way, is noted and not followed: a job
        tree may come from a stranger, and names in it from a model.
        """
        found = self._inside(folder, name)
        return found if found is not None and found.is_file() else None

    def folder(self, folder: Path, name: str) -> Path | None:
        """The folder `name` below `folder`, as `file`."""
        found = self._inside(folder, name)
        return found if found is not None and found.is_dir() else None

    def folders(self, folder: Path) -> list[Path]:
        """Folders in `folder`, sorted; links are noted and left out."""
        return [path for path in self._entries(folder) if path.is_dir()]

    def files(self, folder: Path, suffix: str) -> list[Path]:
        """Files of that suffix in `folder`, sorted; links are noted and left out."""
        return [path for path in self._entries(folder) if path.suffix == suffix and path.is_file()]

    def json(self, path: Path | None) -> object:
        """What a JSON file holds; None, with a note, where it holds no JSON. NaN comes as a float."""
        if path is None:
            return None
        try:
            if path.stat().st_size > MAX_BYTES:
                self.note(path, f"larger than {MAX_BYTES // 2**20} MiB; not read")
                return None
            return json.loads(path.read_bytes())
        except OSError as error:
            self.note(path, f"can't be read ({error.strerror})")
        except RecursionError:
            self.note(path, "no JSON: nested too deeply")
        except ValueError as error:  # not JSON, or not UTF-8
            self.note(path, f"no JSON: {error}")
        return None

    def mapping(self, path: Path | None) -> dict[str, Any]:
        """The JSON object in a file; empty, with a note where the file holds something else."""
        value = self.json(path)
        fields = as_dict(value)
        if path is not None and value is not None and fields is not value:
            self.note(path, "JSON, and no object")
        return fields

    def _entries(self, folder: Path) -> list[Path]:
        if folder.is_symlink():
            self.note(folder, "a link; not followed")
            return []
        try:
            found = sorted(folder.iterdir()) if folder.is_dir() else []
        except OSError as error:
            self.note(folder, f"can't be read ({error.strerror})")
            return []
        for path in found:
            if path.is_symlink():
                self.note(path, "a link; not followed")
        return [path for path in found if not path.is_symlink()]

    def _inside(self, folder: Path, name: str) -> Path | None:
        relative = PurePosixPath(name)
        if not name or relative.is_absolute() or ".." in relative.parts or "\\" in name or "\0" in name:
            self.note(folder, f"the path {name!r} leads out of the tree; not read")
            return None
        path = folder
        for part in relative.parts:
            path = path / part
            try:
                if path.is_symlink():
                    self.note(path, "a link; not followed")
                    return None
            except OSError as error:  # a name too long for the file system
                self.note(folder, f"the path {name[:60]!r} can't be looked up ({error.strerror})")
                return None
        return path


def as_dict(value: object) -> dict[str, Any]:
    """`value` where it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """`value` where it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str | None:
    """`value` where it is a text with something in it, else None; without white space around it.

    JSON can hold halves of surrogate pairs, which no file or table can: they become `?`.
    """
    if not isinstance(value, str):
        return None
    return value.strip().encode("utf-8", "replace").decode("utf-8") or None


def as_number(value: object) -> float | None:
    """`value` where it is a finite number, else None. JSON's true and false are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        return None
    return number if math.isfinite(number) else None


def nested(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The object at the end of `keys`; empty where one of them is not there."""
    found = as_dict(value)
    for key in keys:
        found = as_dict(found.get(key))
    return found
