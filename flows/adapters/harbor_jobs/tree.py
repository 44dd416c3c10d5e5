"""Access to files of an untrusted job tree; nothing outside it is read."""

import json
import math
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, cast

from flows.common.untrusted import PathRefused, first_link, inside, open_inside
from flows.schema.harbor import Damage

MAX_BYTES = 64 * 1024 * 1024  # larger files are skipped with a note: results and verdicts are kilobytes


class Tree:
    """A job's folder and the damage found in it.

    Attributes:
        root: the job's folder, resolved.
        damage: problems found so far.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.damage: list[Damage] = []

    def note(self, where: Path | str, detail: str, *, is_fault: bool = True) -> None:
        """Record damage."""
        shown = where.relative_to(self.root).as_posix() if isinstance(where, Path) else where
        damage = Damage(as_text(shown) or ".", as_text(detail) or "", is_fault)
        if damage not in self.damage:
            self.damage.append(damage)

    def file(self, folder: Path, name: str) -> Path | None:
        """Return the file `name`, a path with slashes, below `folder`; None if there is none.

        Links and paths out of `folder` are noted and not followed: job trees and names in them are untrusted.
        """
        found = self._inside(folder, name)
        return found if found is not None and found.is_file() else None

    def folder(self, folder: Path, name: str) -> Path | None:
        """Return the folder `name` below `folder`, as `file`."""
        found = self._inside(folder, name)
        return found if found is not None and found.is_dir() else None

    def folders(self, folder: Path) -> list[Path]:
        """Return sorted subfolders; links are noted and skipped."""
        return [path for path in self._entries(folder) if path.is_dir()]

    def files(self, folder: Path, suffix: str) -> list[Path]:
        """Return sorted files with that suffix; links are noted and skipped."""
        return [path for path in self._entries(folder) if path.suffix == suffix and path.is_file()]

    def json(self, path: Path | None) -> object:
        """Parse a JSON file; None, with a note, if it is not JSON. NaN becomes a float."""
        if path is None:
            return None
        try:
            relative = path.relative_to(self.root).as_posix()
            with open(open_inside(self.root, relative), "rb") as file:  # noqa: PTH123 -- pathlib can't open descriptors
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                self.note(path, f"larger than {MAX_BYTES // 2**20} MiB; not read")
                return None
            return json.loads(data)
        except PathRefused as error:
            self.note(path, error.found)
        except OSError as error:
            self.note(path, f"can't be read ({error.strerror})")
        except RecursionError:
            self.note(path, "no JSON: nested too deeply")
        except ValueError as error:  # not JSON or not UTF-8
            self.note(path, f"no JSON: {error}")
        return None

    def mapping(self, path: Path | None) -> dict[str, Any]:
        """Parse a JSON object; empty, with a note, if the file has something else."""
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
        if inside(name) is None or ".." in PurePosixPath(name).parts:
            self.note(folder, f"the path {name!r} leads out of the tree; not read")
            return None
        try:
            link = first_link(folder, name)
        except OSError as error:  # a name too long for the file system
            self.note(folder, f"the path {name[:60]!r} can't be looked up ({error.strerror})")
            return None
        if link is not None:
            self.note(link, "a link; not followed")
        return folder / name if link is None else None


def as_dict(value: object) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return `value` if it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str | None:
    """Return `value` stripped if it is a non-empty text, else None.

    Lone surrogates, which files and tables can't hold, become `?`.
    """
    if not isinstance(value, str):
        return None
    return value.strip().encode("utf-8", "replace").decode("utf-8") or None


def as_number(value: object) -> float | None:
    """Return `value` if it is a finite number, else None. Booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        return None
    return number if math.isfinite(number) else None


def as_count(value: object) -> int | None:
    """Return `value` as an integer if it is a finite number, else None."""
    number = as_number(value)
    return None if number is None else int(number)


def nested(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the object at the path `keys`; empty if one of them is missing."""
    found = as_dict(value)
    for key in keys:
        found = as_dict(found.get(key))
    return found
