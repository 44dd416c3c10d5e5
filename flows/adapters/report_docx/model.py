"""Public types: places, blocks and edit errors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from flows.common.errors import StaffbenchError

PlaceKind = Literal[
    "heading", "paragraph", "list_item", "table", "cell", "control", "textbox", "header", "footer"
]
BlockKind = Literal["heading", "paragraph", "bullet", "number", "table"]

HEADING_LEVELS = 9  # Word's built-in heading styles
LIST_LEVELS = 9  # w:ilvl is 0 to 8
MAX_COLUMNS = 63  # of a table in Word

# What XML 1.0 can't hold: control characters, lone surrogates, and two noncharacters.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_INLINE = re.compile(
    # Each stops at the next mark of its kind, so a line of unclosed marks does not take quadratic time.
    r"\\(?P<star>\*)|\*\*\*(?P<both>(?=\S)(?:(?!\*\*\*).)+(?<=\S))\*\*\*(?!\*)"
    r"|(?<!\*)\*\*(?!\*)(?P<bold>(?=\S)(?:(?!\*\*(?!\*)).)+(?<=[^\s\\]))\*\*(?!\*)"
    r"|(?<![\w*])\*(?P<italic>[^\s*]|[^\s*][^*\n]*?[^\s*\\])\*(?![\w*])"
)


class EditError(StaffbenchError):
    """An edit that is not possible. The document is unchanged."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something in the document that can be read, set, or have blocks put after it."""

    # Where it is: `p7` paragraph of the body, `t2` table, `t2r3c1` the cell in row 3 at column 1 of its grid,
    # `t2r3c1p2` a paragraph of a cell, `s4` content control (structured document tag), `x1` text box, `h1p2`
    # and `f1t1r1c1` places of a header and of a footer. It is counted in the document as it stands, so any
    # edit may renumber those behind it.
    place_id: str
    kind: PlaceKind  # what it is
    # What is read there, as if tracked changes were accepted; lines are parted by a line feed. Empty for a
    # control that still shows its prompt, and for what holds places of its own (`hint` says so): their texts
    # are its text. A checkbox reads `checked` or `unchecked`.
    text: str
    # Word's name of its style; of its first paragraph where it holds some; empty for a table without one.
    style: str
    level: int | None = None  # of a heading (0 for the title) or a list item (from 1); None for all else
    # What a writer should know, parts parted by `; `. For a control its title and tag, its type (text, rich
    # text, date, dropdown, combo box, checkbox, ...), its choices, its prompt and its lock. For other places
    # `placeholder` where the text looks like one that should be replaced, `tracked changes`, what it holds,
    # and how many cells it spans.
    hint: str = ""
    unfilled: bool = False  # it shows a prompt, or text that looks like a placeholder


@dataclass(frozen=True, slots=True)
class Block:
    r"""Something to be inserted.

    Text may hold `**bold**` and `*italic*`; `\*` is a star. A line feed in it starts another paragraph of
    the same kind. All else is written as it stands.

    Attributes:
        kind: what it is.
        text: its text; empty for a table.
        level: of a heading 1 to 9, or 0 for the title; of a list item 1 to 9; 1 for all else.
        rows: the texts of a table's cells, every row equally long; empty for all else.
        header: the first row of a table is its heading row.

    Raises:
        EditError: a level, a text or a shape that Word has no place for.
    """

    kind: BlockKind
    text: str = ""
    level: int = 1
    rows: tuple[tuple[str, ...], ...] = ()
    header: bool = True

    def __post_init__(self) -> None:
        if self.kind not in get_args(BlockKind):
            raise EditError("block", f"the kind {self.kind!r}", "heading, paragraph, bullet, number or table")
        highest = {"heading": HEADING_LEVELS, "bullet": LIST_LEVELS, "number": LIST_LEVELS}.get(self.kind, 1)
        lowest = 0 if self.kind == "heading" else 1
        if not lowest <= self.level <= highest:
            raise EditError(f"a {self.kind}", f"level {self.level}", f"{lowest} to {highest}")
        if self.kind != "table":
            clean(self.text, f"a {self.kind}")
            if self.rows:
                raise EditError(f"a {self.kind}", "rows of cells", "text alone, or a block of kind table")
            return
        lengths = sorted({len(row) for row in self.rows})
        if self.text or not self.rows or lengths[0] == 0:
            raise EditError("a table", "no rows of cells" if not self.text else "text", "rows of texts alone")
        if len(lengths) > 1:
            found = f"rows of {', '.join(map(str, lengths))} cells"
            raise EditError("a table", found, "rows of equal length", "write '' for an empty cell")
        if lengths[0] > MAX_COLUMNS:
            raise EditError("a table", f"{lengths[0]} columns", f"at most {MAX_COLUMNS}")
        for number, row in enumerate(self.rows, 1):
            for text in row:
                clean(text, f"row {number} of a table")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text with the same formatting."""

    text: str
    bold: bool = False
    italic: bool = False


def clean(text: str, where: str) -> str:
    """Normalise line endings to line feeds.

    Raises:
        EditError: it holds a character that a Word file can't.
    """
    found = _NO_XML.search(text)
    if found:
        raise EditError(
            where,
            f"the character U+{ord(found[0]):04X} at position {found.start() + 1}, "
            "which a Word file can't hold",
            "printable text, tabs and line feeds",
            "leave it out",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def pieces(line: str) -> list[Piece]:
    """Split a line at `**bold**` and `*italic*`; an empty line gives one empty piece."""
    merged: list[Piece] = []
    for piece in _split(line, Piece("")):
        if merged and replace(merged[-1], text="") == replace(piece, text=""):
            merged[-1] = replace(piece, text=merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return merged or [Piece("")]


def _split(text: str, look: Piece) -> Iterator[Piece]:
    start = 0
    for match in _INLINE.finditer(text):
        if match.start() > start:
            yield replace(look, text=text[start : match.start()])
        start = match.end()
        if match["star"]:
            yield replace(look, text="*")
        elif match["both"]:
            yield from _split(match["both"], replace(look, bold=True, italic=True))
        elif match["bold"]:
            yield from _split(match["bold"], replace(look, bold=True))
        else:
            yield from _split(match["italic"], replace(look, italic=True))
    if start < len(text):
        yield replace(look, text=text[start:])
