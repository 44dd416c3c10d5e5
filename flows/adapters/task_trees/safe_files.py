"""Safe access to files of an untrusted tree: bounded, regular, inside the tree, without links."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, cast

from flows.common.errors import ScenarioError, StaffbenchError

MAX_TEXT = 4 * 1024 * 1024
"""Maximum bytes of an instruction, configuration or rubric; known ones are a hundredth of it."""

MAX_FILES = 10_000
MAX_DEPTH = 64  # of nested JSON; json itself gives up at the interpreter's recursion limit

# Written by file managers, not by a task's author.
_DROPPINGS = re.compile(r"\.DS_Store|Thumbs\.db|desktop\.ini|\._.*|__MACOSX", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain_name(name: str) -> bool:
    """Whether `name` is a single printable path component."""
    return (
        bool(name.strip()) and name not in {".", ".."} and "/" not in name and not _UNPRINTABLE.search(name)
    )


def inside(name: str, base: str = "") -> str | None:
    """Normalise a path from a file of the tree, without file access.

    Args:
        name: the path, with `/` between its parts.
        base: folder in the tree that the path is relative to.

    Returns:
        The path from the tree's root; None if it is absolute, leads out of the tree or is not plain.
    """
    if not name or name.startswith("/") or re.match(r"[A-Za-z]:", name) or _UNPRINTABLE.search(name):
        return None
    parts: list[str] = []
    for part in (*PurePosixPath(base).parts, *PurePosixPath(name).parts):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or None


def is_file(root: Path, name: str) -> bool:
    """Whether `name` is a regular file of the tree, without links in its path."""
    path = root
    for part in PurePosixPath(name).parts:
        path /= part
        if path.is_symlink():
            return False
    return path.is_file()


def walk(root: Path, below: str, problems: list[StaffbenchError]) -> Iterator[str]:
    """Yield sorted regular files below a folder, as paths from `root`; report other entries."""
    found: list[str] = []
    stack = [below]
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            problems.append(ScenarioError(root / folder, f"can't be listed ({error.strerror})", "a folder"))
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if _DROPPINGS.fullmatch(entry.name):
                continue
            if entry.is_symlink():
                problems.append(
                    ScenarioError(root / name, "a link", "a file", "put the file itself in its place")
                )
            elif not plain_name(entry.name):
                problems.append(
                    ScenarioError(
                        root / folder,
                        f"a file named {entry.name!a}",
                        "a name without backslashes and control characters",
                        "rename it, there and in the instruction",
                    )
                )
            elif entry.is_dir(follow_symlinks=False):
                stack.append(name)
            elif entry.is_file(follow_symlinks=False):
                found.append(name)
            else:
                problems.append(ScenarioError(root / name, "a device, pipe or socket", "a file"))
        if len(found) > MAX_FILES:
            problems.append(
                ScenarioError(root / below, f"over {MAX_FILES:,} files", f"at most {MAX_FILES:,}")
            )
            break
    return iter(sorted(found))


def open_file(root: Path, name: str) -> io.BufferedReader:
    """Open a file of the tree for reading.

    Args:
        root: root of the tree.
        name: path of the file from the root.

    Raises:
        ScenarioError: it leads out of the tree, is missing, can't be opened, is not a regular file, or
            has a link in its path.
    """
    path = root / name
    if inside(name) is None:
        raise ScenarioError(path, "a path that leads out of its folder", "a file in it")
    if not is_file(root, name):
        where = root
        for part in PurePosixPath(name).parts:
            where /= part
            if where.is_symlink():
                raise ScenarioError(where, "a link", "a file", "put the file itself in its place")
        raise ScenarioError(path, "no regular file" if path.exists() else "not there", "a file")
    try:
        # O_NONBLOCK: a pipe created in between must not block.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ScenarioError(path, f"can't be read ({error.strerror})", "a readable file") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ScenarioError(path, "no regular file", "a file")
    return open(descriptor, "rb")  # noqa: PTH123 -- pathlib can't open descriptors; the caller closes it


def read_text(root: Path, name: str) -> str:
    r"""Read a text file of the tree: UTF-8, without a byte order mark, `\n` line ends.

    Raises:
        ScenarioError: see `open_file`; or it is too large, or not UTF-8.
    """
    path = root / name
    try:
        with open_file(root, name) as file:
            data = file.read(MAX_TEXT + 1)
    except OSError as error:
        raise ScenarioError(path, f"can't be read ({error.strerror})", "a readable file") from error
    if len(data) > MAX_TEXT:
        raise ScenarioError(path, f"over {MAX_TEXT:,} bytes", f"at most {MAX_TEXT:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(path, f"not UTF-8 at byte {error.start}", "UTF-8 text") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(root: Path, name: str) -> Any:
    """Read a JSON file of the tree.

    Raises:
        ScenarioError: as `read_text`; or invalid JSON, deep nesting, a duplicate key, or a
            number that JSON doesn't have.
    """
    return parse_json(read_text(root, name), root / name)


def parse_json(text: str, where: object) -> Any:
    """Parse JSON; see `read_json`."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # The standard parser silently keeps the last of two equal keys.
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
        if twice:
            raise ScenarioError(
                where, f"key {', '.join(map(repr, twice))} twice in one object", "each key once"
            )
        return dict(pairs)

    def refuse(name: str) -> Any:
        raise ScenarioError(where, f"the number {name}", "a number that JSON has")

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except RecursionError as error:
        raise ScenarioError(where, "nested too deeply", f"at most {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise ScenarioError(where, f"not JSON: {error}", "JSON") from error
    if _deeper(value, MAX_DEPTH):
        raise ScenarioError(where, "nested too deeply", f"at most {MAX_DEPTH} levels")
    return value


def read_toml(root: Path, name: str) -> dict[str, Any]:
    """Read a TOML file of the tree.

    Raises:
        ScenarioError: as `read_text`; or not TOML.
    """
    text = read_text(root, name)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScenarioError(root / name, f"not TOML: {error}", "TOML") from error


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return levels == 0 or any(_deeper(each, levels - 1) for each in inner)
