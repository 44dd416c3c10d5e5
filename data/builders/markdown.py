"""The Markdown sources of documents, read into blocks. The format is described in build_documents.py."""

# Basic: the libraries behind the builders ship no complete types.
# pyright: basic
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FRONT_KEYS = {"title", "header", "footer", "font", "columns", "comments"}
INLINE = re.compile(r"(\*\*.+?\*\*|\*[^*\s][^*]*\*|\[\^\w+\])")
CHANGE = re.compile(r"(~~.+?~~|\{\+(?!\+).+?\+\}|\{-(?!-).+?-\})")
NUMBER = re.compile(
    r"^(\d+(?:\.[0-9a-z]+)*(?:\.?\([0-9a-z]+\)|\.)+|\d+(?:\.[0-9a-z]+)+|[a-z]\.|\([0-9a-z]+\))\s+(?=\S)"
)
MERGED = ("^", "<")  # cells that belong to the one above, or on the left


class SourceError(Exception):
    """A source that breaks its format; the message names the file and what is wrong."""


@dataclass(frozen=True)
class Block:
    """One block of a Markdown source: `kind` as in the module's docstring, `rows` for tables only."""

    kind: str
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def read_markdown(path: Path) -> tuple[dict[str, Any], list[Block], dict[str, str]]:
    """Front matter, blocks in order, and notes by mark. Raises SourceError."""
    parts = re.split(r"^---\n", path.read_text(encoding="utf-8"), maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0]:  # noqa: PLR2004 -- nothing, front matter, body
        raise SourceError(f"{path}: no front matter between two `---` lines at its start")
    meta, body = yaml.safe_load(parts[1]), parts[2]
    if "title" not in meta or not meta.keys() <= FRONT_KEYS:
        raise SourceError(f"{path}: front matter needs `title` and takes only {sorted(FRONT_KEYS)}")
    blocks: list[Block] = []
    notes: dict[str, str] = {}
    for chunk in re.split(r"\n\s*\n", body.strip("\n")):
        lines = chunk.splitlines()
        joined = " ".join(line.strip() for line in lines)
        if match := re.match(r"\[\^(\w+)\]:\s+(.+)", joined):
            notes[match[1]] = match[2]
        elif match := re.match(r"(#{1,4}) (.+)", joined):
            blocks.append(Block("heading", match[2], len(match[1])))
        elif joined == "---":
            blocks.append(Block("break", ""))
        elif joined.startswith("|"):
            blocks.append(Block("table", "", rows=_rows(path, lines)))
        elif joined.startswith("- "):
            blocks += _bullets(path, lines)
        else:
            number = NUMBER.match(joined)
            blocks.append(Block("paragraph", joined, _depth(number[1]) if number else 0))
    marks = set(re.findall(r"\[\^(\w+)\](?!:)", body))
    if marks != notes.keys():
        raise SourceError(f"{path}: note marks {sorted(marks)} but notes {sorted(notes)}")
    return meta, blocks, notes


def _rows(path: Path, lines: list[str]) -> tuple[tuple[str, ...], ...]:
    cells = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in lines]
    rows = tuple(row for row in cells if not all(re.fullmatch(r":?-+:?", cell) for cell in row))
    if len({len(row) for row in rows}) != 1:
        raise SourceError(f"{path}: table rows differ in length: {lines[0]}")
    return rows


def _bullets(path: Path, lines: list[str]) -> Iterator[Block]:
    for line in lines:
        match = re.fullmatch(r"( *)- (.+)", line)
        if not match:
            raise SourceError(f"{path}: not a bullet of one line: {line}")
        yield Block("bullet", match[2], len(match[1]) // 2 + 1)


def _depth(number: str) -> int:
    """Depth of a paragraph number: 3. is 0, 3.b. and b. are 1, 3.b.(2) and (2) are 2, (a) is 3."""
    if number.startswith("("):
        return 2 if number[1:-1].isdigit() else 3
    return 1 if number[0].isalpha() else len(re.findall(r"[0-9]+|[a-z]+", number)) - 1


def merges(rows: tuple[tuple[str, ...], ...]) -> Iterator[tuple[int, int, int, int]]:
    """First row, first column, last row, last column (all from 0) of each merged cell."""
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if cell not in MERGED:
                right, down = c, r
                while right + 1 < len(row) and row[right + 1] == "<":
                    right += 1
                while down + 1 < len(rows) and rows[down + 1][c] == "^":
                    down += 1
                if (right, down) != (c, r):
                    yield r, c, down, right
