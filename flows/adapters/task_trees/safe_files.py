"""List and parse files of an untrusted tree; `flows.common.untrusted` opens them."""

import io
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from flows.common.errors import ScenarioError, StaffbenchError
from flows.common.strict_json import strict_json
from flows.common.untrusted import (
    NOT_THERE,
    PathRefused,
    first_link,
    inside,
    is_file,
    open_inside,
    plain_name,
)

T = TypeVar("T")

MAX_TEXT = 4 * 1024 * 1024
"""Maximum bytes of an instruction, configuration or rubric; known ones are a hundredth of it."""

MAX_FILES = 10_000
MAX_DEPTH = 64  # of nested JSON; json itself gives up at the interpreter's recursion limit

# Written by file managers, not by a task's author.
_DROPPINGS = re.compile(r"\.DS_Store|Thumbs\.db|desktop\.ini|\._.*|__MACOSX", re.IGNORECASE)


@dataclass(slots=True)
class Found:
    """State of reading one tree."""

    root: Path  # folder of the task
    step: str | None = None  # name of the step whose files take precedence; None in a task without steps
    problems: list[StaffbenchError] = field(default_factory=list[StaffbenchError])  # errors
    notes: list[str] = field(default_factory=list[str])  # remarks, one sentence each
    unused: dict[str, Any] = field(default_factory=dict[str, Any])  # ignored keys with their file

    def fault(self, path: str, found: str, expected: str = "", remedy: str = "") -> None:
        """Add an error for the file at `path`."""
        self.problems.append(ScenarioError(self.root / path, found, expected, remedy))

    def places(self, path: str) -> list[str]:
        """Return candidate paths: in the step, then at the root, as in Harbor."""
        return [path] if self.step is None else [f"steps/{self.step}/{path}", path]

    def first(self, path: str) -> str | None:
        """Return the first of `places` that is a file; None if there is none."""
        return next((place for place in self.places(path) if is_file(self.root, place)), None)

    def read(self, reader: Callable[[Path, str], T], path: str) -> T | None:
        """Return what `reader` finds in the file at `path`; None, with an error, if it can't."""
        try:
            return reader(self.root, path)
        except StaffbenchError as error:
            self.problems.append(error)
            return None


def walk(tree: Found, below: str) -> list[str]:
    """Return the regular files below a folder, sorted, as paths from the root; other entries are faults."""
    found: list[str] = []
    stack = [below]
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(os.scandir(tree.root / folder), key=lambda entry: entry.name)
        except OSError as error:
            tree.fault(folder, f"can't be listed ({error.strerror})", "a folder")
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if _DROPPINGS.fullmatch(entry.name):
                continue
            if entry.is_symlink():
                tree.fault(name, "a link", "a file", "put the file itself in its place")
            elif not plain_name(entry.name):
                expected = "a name without backslashes and control characters"
                remedy = "rename it, there and in the instruction"
                tree.fault(folder, f"a file named {entry.name!a}", expected, remedy)
            elif entry.is_dir(follow_symlinks=False):
                stack.append(name)
            elif entry.is_file(follow_symlinks=False):
                found.append(name)
            else:
                tree.fault(name, "a device, pipe or socket", "a file")
        if len(found) > MAX_FILES:
            tree.fault(below, f"over {MAX_FILES:,} files", f"at most {MAX_FILES:,}")
            break
    return sorted(found)


def open_file(root: Path, name: str) -> io.BufferedReader:
    """Open a file of the tree for reading; `name` is its path from the root.

    Raises:
        ScenarioError: it leads out of the tree, is missing, can't be opened, is not a regular file, or
            has a link in its path.
    """
    try:
        return open(open_inside(root, name), "rb")  # noqa: PTH123 -- pathlib can't open descriptors
    except PathRefused as error:
        found = error.found
    except OSError as error:
        found = "not there" if error.errno in NOT_THERE else f"can't be read ({error.strerror})"
    link = first_link(root, name) if inside(name) else None
    if link is not None:
        raise ScenarioError(link, "a link", "a file", "put the file itself in its place")
    raise ScenarioError(root / name, found, "a readable file in its folder")


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

    def twice(keys: list[str]) -> ScenarioError:
        found = f"key {', '.join(map(repr, sorted(keys)))} twice in one object"
        return ScenarioError(where, found, "each key once")

    try:
        value = strict_json(
            text, twice, lambda name: ScenarioError(where, f"the number {name}", "a number that JSON has")
        )
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
