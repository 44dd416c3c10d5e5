"""What stands in a cell of a table as one text: paragraphs on lines, tables inside it behind the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flows.schema.document import Block, BlockKind

ALONGSIDE = frozenset(
    {BlockKind.textbox, BlockKind.image, BlockKind.footnote, BlockKind.endnote, BlockKind.comment}
)
"""What a paragraph brings along; it stands after it, not inside its text."""

_INSIDE = "[Table inside"


def in_cell(blocks: Iterable[Block], where: str) -> tuple[str, list[Block]]:
    """The text of a cell, and the blocks that follow its table.

    Args:
        blocks: of the cell.
        where: names the cell.
    """
    lines: list[str] = []
    behind: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.table and not block.text.startswith(_INSIDE):
            lines.append("[table below]")
            behind.append(replace(block, text=f"{_INSIDE} {where}]\n{block.text}", place=f"table in {where}"))
        elif block.kind is BlockKind.image and "\n" not in block.text:
            lines.append(block.text)
        elif block.kind in ALONGSIDE or block.kind is BlockKind.table:
            behind.append(block)  # a table deeper inside is marked already
        else:
            lines.append(unmarked(block))
    return "\n".join(lines), behind


def unmarked(block: Block) -> str:
    """The text of a block without the marks of a heading; those that its author wrote stay."""
    return block.text[(block.level or 0) + 1 :] if block.kind is BlockKind.heading else block.text
