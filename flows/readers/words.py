"""Normalisation of text, and notation for tables and marks, the same for every format."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_SPACE = re.compile(r"\s+")

_SCHEME = re.compile(r"^(?:mailto:|tel:|https?://)", re.IGNORECASE)


def normalised(text: str) -> tuple[str, int]:
    r"""Normalise: NFC, `\n` line ends, no control characters, no lone surrogates.

    Invisible characters stay, so that `read_bytes` sees all of them; see `flows.readers.invisible`.

    Returns:
        The text, and how many characters could not be kept: lone surrogates become U+FFFD,
        control characters go. The text of an ordinary file gives 0.
    """
    if text.isascii() and text.isprintable():
        return text, 0
    lost = 0
    if not text.isascii():
        text, lost = _SURROGATE.subn("\ufffd", text)
        text = unicodedata.normalize("NFC", text)
    text = _LINE_END.sub("\n", text)
    text, controls = _CONTROL.subn("", text)
    return text, lost + controls


def _one_space(match: re.Match[str]) -> str:
    run = match.group()
    return "\n" if "\n" in run else "\t" if "\t" in run else " "


def collapsed(text: str) -> str:
    """Make each run of white space one character: a line break, else a tab, else a space."""
    return _SPACE.sub(_one_space, text).strip()


def flat(text: str) -> str:
    """Return `text` on one line, with white space collapsed to spaces."""
    return " ".join(text.split())


def cell_text(text: str) -> str:
    r"""Format `text` for a cell of a pipe table: one line, line breaks as `<br>`, `|` as `\|`."""
    if "\n" not in text:
        return " ".join(text.split()).replace("|", "\\|")
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "<br>".join(line for line in lines if line).replace("|", "\\|")


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a pipe table, the first as its header; short rows are padded."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines: list[str] = []
    for number, row in enumerate(rows):
        cells = [cell_text(cell) for cell in row] + [""] * (width - len(row))
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            lines.append("|" + " --- |" * width)
    return "\n".join(lines)


def letters(column: int) -> str:
    """Return the name of a column: 1 is A, 27 is AA."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def span_mark(columns: int, rows: int) -> str:
    """Format the span of a merged cell; '' for a single cell."""
    spans = [f"{n} {what}" for n, what in ((columns, "columns"), (rows, "rows")) if n > 1]
    return f" [spans {', '.join(spans)}]" if spans else ""


def image(description: str) -> str:
    """Format an image, with its author's description if there is one."""
    return f"[Image: {description}]" if description else "[Image without description]"


def bare_address(address: str) -> str:
    """Return an address without scheme and trailing slash."""
    return _SCHEME.sub("", address).rstrip("/")
