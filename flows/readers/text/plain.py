"""Read plain text, Markdown and CSV: unchanged, split into blocks at empty lines."""

import csv
import io
import re
from itertools import islice
from pathlib import Path

from flows.common.errors import ReadError
from flows.readers.shared.notation import pipe_table, with_newlines
from flows.readers.text.decode import decoded
from flows.schema.document import Block, BlockKind, Notice

MAX_CELLS = 4_000_000
_HEADING = re.compile(r"(#{1,6})\s+\S")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)]|[A-Za-z][.)]|\([0-9A-Za-z]{1,4}\))\s+\S")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 100


def read(data: bytes, path: Path, media: str) -> tuple[list[Block], list[Notice]]:
    """Read a .txt, .md or .csv file.

    Raises:
        ReadError: it is no text, or a CSV file with a field or table out of bounds.
    """
    text, notices = decoded(data, path)
    if media == "csv":
        return _table(text, path, notices), notices
    return _blocks(with_newlines(text), markdown=media == "md"), notices


def _blocks(text: str, *, markdown: bool) -> list[Block]:
    blocks: list[Block] = []
    start, lines, fence = 0, list[str](), ""

    def close() -> None:
        if lines:
            first, last = start, start + len(lines) - 1
            place = f"line {first}" if first == last else f"lines {first}-{last}"
            kind, level = _kind(lines) if markdown else (BlockKind.paragraph, None)
            blocks.append(Block(kind, "\n".join(lines), place, level))
            lines.clear()

    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        mark = _FENCE.match(line) if markdown else None
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark.group(1)
        if not line and not fence:
            close()
            continue
        heading = markdown and not fence and _HEADING.match(line)
        if heading:
            close()
        if not lines:
            start = number
        lines.append(line)
        if heading:
            close()
    close()
    return blocks


def _kind(lines: list[str]) -> tuple[BlockKind, int | None]:
    heading = _HEADING.match(lines[0])
    if heading:
        return BlockKind.heading, len(heading.group(1))
    if len(lines) > 1 and re.fullmatch(r"=+|-+", lines[-1]) and not lines[0].startswith("|"):
        return BlockKind.heading, 1 if lines[-1].startswith("=") else 2
    if len(lines) > 1 and "|" in lines[0] and re.fullmatch(r"[\s|:-]*-[\s|:-]*", lines[1]):
        return BlockKind.table, None
    if _ITEM.match(lines[0]):
        return BlockKind.list_item, 1 + (len(lines[0]) - len(lines[0].lstrip())) // 2
    return BlockKind.paragraph, None


def _delimiter(text: str) -> str:
    """The delimiter under which the first rows have the most equal widths, wider than one column."""
    hint = re.match(r"sep=(.)\r?\n", text)
    if hint:
        return hint.group(1)
    best, delimiter = (0.0, 0), ","
    sample = text[: 1 << 16]
    if len(sample) < len(text):
        sample = sample[: sample.rfind("\n") + 1] or sample
    for candidate in _DELIMITERS:
        rows = csv.reader(io.StringIO(sample, newline=""), delimiter=candidate)
        try:
            widths = [len(row) for row in islice((row for row in rows if row), _SAMPLE_ROWS)]
        except csv.Error:
            continue
        usual = max(set(widths), key=lambda width: (widths.count(width), width), default=0)
        score = (widths.count(usual) / len(widths) if usual > 1 else 0.0, usual)
        if score > best:
            best, delimiter = score, candidate
    return delimiter


def _table(text: str, path: Path, notices: list[Notice]) -> list[Block]:
    delimiter = _delimiter(text)
    if text.startswith("sep="):
        text = text.partition("\n")[2]
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            cells += len(row)
            if cells > MAX_CELLS:
                raise ReadError(
                    path, f"more than {MAX_CELLS:,} cells", "a table that a person could read", "cut it down"
                )
            rows.append(row)
    except csv.Error as error:
        raise ReadError(path, f"no CSV file ({error})", "rows of one delimiter", "save it again") from error
    while rows and not any(field.strip() for field in rows[-1]):
        rows.pop()
    widths = {len(row) for row in rows if row}
    if len(widths) > 1:
        detail = f"rows of {min(widths)} to {max(widths)} fields; filled up"
        notices.append(Notice("uncertain_layout", "document", detail))
    return [Block(BlockKind.table, pipe_table(rows), f"rows 1-{len(rows)}")]
