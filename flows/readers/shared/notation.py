# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""How things stand in the text, the same for every format: tables, cells, struck and raised text, marks."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from flows.schema.document import Block, BlockKind

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_SPACE = re.compile(r"\s+")
_SCHEME = re.compile(r"^(?:mailto:|tel:|https?://)", re.IGNORECASE)
_SIGNS = "0123456789+-−–=()n"
_RAISED = str.maketrans(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₙ")
SHIFTS = {"superscript": 1, "subscript": -1}  # what Office's names of a script mean for `shifted`

ALONGSIDE = frozenset(
    {BlockKind.textbox, BlockKind.image, BlockKind.footnote, BlockKind.endnote, BlockKind.comment}
)
"""Blocks anchored in a paragraph; they follow it and are not part of its text."""

_INSIDE = "[Table inside"


def normalised(text: str) -> tuple[str, int]:
    r"""Normalise: NFC, `\n` line ends, no control characters, no lone surrogates.

    Invisible characters stay; `flows.readers.invisible` removes them.

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
    text, controls = _CONTROL.subn("", with_newlines(text))
    return text, lost + controls


def with_newlines(text: str) -> str:
    r"""Make every line end `\n`, and leave all else: what `normalised` changes later is counted there."""
    return _LINE_END.sub("\n", text)


def _one_space(match: re.Match[str]) -> str:
    run = match.group()
    return "\n" if "\n" in run else "\t" if "\t" in run else " "


def collapsed(text: str) -> str:
    """Make each run of white space one character: a line break, else a tab, else a space."""
    return _SPACE.sub(_one_space, text).strip()


def flat(text: str) -> str:
    """Return `text` on one line, with white space collapsed to spaces."""
    return " ".join(text.split())


def _cell_text(text: str) -> str:
    if "\n" in text:
        text = "<br>".join(filter(None, map(flat, text.split("\n"))))
    return flat(text).replace("|", "\\|")


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    r"""Format rows as a pipe table, the first as its header; short rows are padded.

    A line break in a cell is `<br>`, a bar is `\|`.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines: list[str] = []
    for row in rows:
        cells = [_cell_text(cell) for cell in row] + [""] * (width - len(row))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


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


def shifted(text: str, shift: int, *, behind_digit: bool = True) -> str:
    """Write superscripts and subscripts: 10 with superscript 6 is a million, not 106.

    Args:
        text: text of one script.
        shift: above 0 superscript, below 0 subscript, 0 on the baseline.
        behind_digit: whether it may follow a digit directly. Characters without a Unicode superscript are
            then separated by a mark: 10 with superscript 0.5 is not 100.5.
    """
    bare = text.strip()
    if not shift or not bare:
        return text
    table = _RAISED if shift > 0 else _LOWERED
    if all(ord(sign) in table for sign in bare):
        return text.translate(table)
    apart = behind_digit and re.search("[0-9]", bare)
    return text.replace(bare, f"{'^' if shift > 0 else '_'}({bare})") if apart else text


def struck_out(parts: Iterable[tuple[str, bool]]) -> str:
    """Join pieces of text; struck-out ones stand between `~~`, with surrounding white space outside."""
    joined: list[str] = []
    run = ""
    for text, struck in [*parts, ("", False)]:
        if run and not struck and (text.strip() or not text):
            core = run.strip()
            joined += [run[: len(run) - len(run.lstrip())], f"~~{core}~~", run[len(run.rstrip()) :]]
            run = ""
        if run or (struck and text.strip()):
            run += text
        else:
            joined.append(text)
    return "".join(joined)


def in_cell(blocks: Iterable[Block], where: str) -> tuple[str, list[Block]]:
    """Return the text of a cell, which `where` names, and the blocks that follow its table."""
    lines: list[str] = []
    following: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.table and not block.text.startswith(_INSIDE):
            lines.append("[table below]")
            following.append(
                replace(block, text=f"{_INSIDE} {where}]\n{block.text}", place=f"table in {where}")
            )
        elif block.kind is BlockKind.image and "\n" not in block.text:
            lines.append(block.text)
        elif block.kind in ALONGSIDE or block.kind is BlockKind.table:
            following.append(block)  # a table deeper inside is marked already
        else:
            lines.append(unmarked(block))
    return "\n".join(lines), following


def unmarked(block: Block) -> str:
    """Return the text of a block without our heading marks; marks that its author wrote stay."""
    return block.text[(block.level or 0) + 1 :] if block.kind is BlockKind.heading else block.text
