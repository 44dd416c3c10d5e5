"""The page of one table of a paper."""

from __future__ import annotations

from collections.abc import Sequence

from flows.stages.page.render import TABLE_SCRIPTS, Column, Table, parts, render

_UNKNOWN = "-"


def paper_page(
    title: str,
    summary: str,
    cells: Sequence[Sequence[str]],
    numbers: Sequence[bool],
    notes: Sequence[str],
    *,
    judge: str,
    is_stand_in: bool,
) -> str:
    """Render a table.

    Args:
        title: what it shows.
        summary: the same in a sentence.
        cells: the headings, then the rows.
        numbers: whether each column is of numbers.
        notes: sentences under the table.
        judge: whose verdicts it rests on.
        is_stand_in: True for the offline judge.
    """
    head, *rows = cells
    columns = [Column(name, is_number=is_number) for name, is_number in zip(head, numbers, strict=True)]
    shown = [[parts().unknown() if text == _UNKNOWN else text for text in row] for row in rows]
    return render(
        "paper.html",
        title,
        depth=2,
        scripts=TABLE_SCRIPTS,
        summary=summary,
        table=Table(f"{title}. Judge {judge}.", columns, shown),
        notes=notes,
        judge=judge,
        is_stand_in=is_stand_in,
    )
