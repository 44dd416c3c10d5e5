"""The text of a table cell: one line for each paragraph; nested tables follow the outer table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flows.schema.document import Block, BlockKind

ALONGSIDE = frozenset(
    {BlockKind.textbox, BlockKind.image, BlockKind.footnote, BlockKind.endnote, BlockKind.comment}
)
"""Blocks anchored in a paragraph; they follow it and are not part of its text."""

_INSIDE = "[Table inside"


def in_cell(blocks: Iterable[Block], where: str) -> tuple[str, list[Block]]:
    """Return the text of a cell, and the blocks that follow its table.

    Args:
        blocks: of the cell.
        where: names the cell.
    """
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
