"""The first page (leaderboard, notes and charts) and the pages of its tables."""

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from flows.common.text import words
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.stages.page.markup import address, attribute, own
from flows.stages.page.render import CHART_SCRIPTS, TABLE_SCRIPTS, Chart, Column, Table, parts, render
from flows.stages.page.wording import BRIEFS, Wording, meanings

_FILTERS = ("effort", "harness", "cap", "judge", "differs in")
UNKNOWN = "-"
"""Cell text for an unknown value."""

_NUMBER = re.compile(r"-?[\d.,]+(%|~| of \d+| texts?| to -?[\d.]+( \(range\))?)?")


def index_page(
    board: Leaderboard,
    shown: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    figures: Mapping[str, tuple[Sequence[Chart], Sequence[tuple[str, Markup]]]],
    rubrics: Mapping[str, str],
    left_out: Sequence[str] = (),
    foreign: Mapping[tuple[str, str], tuple[str, Markup]] | None = None,
    tables: Sequence[tuple[str, str, Sequence[Sequence[str]]]] = (),
    said: Wording = BRIEFS,
    is_clamped: bool = False,
) -> str:
    """Render the leaderboard with its notes and figures.

    Args:
        board: the leaderboard.
        shown: the displayed table: the header, then one row per row of the board.
        notes: notes under the table.
        figures: by judge the charts, and title and address of each table of a paper.
        rubrics: addresses of the rubric pages by scenario id.
        left_out: unreliable results and why.
        foreign: the source of rows without a page and links to their attempts, by condition and judge.
        tables: further tables with heading, caption and rows, the header first.
        said: the protocol's wording.
        is_clamped: True if each score is clamped to [0, 1] before averaging.
    """
    head, *cells = shown
    rows = [_row(row, texts, head, foreign or {}) for row, texts in zip(board.rows, cells, strict=True)]
    caption = f"One row for each condition and judge; {words(board.scoring)} scoring."
    if len(foreign or {}) < len(board.rows):
        caption += f" A name leads to its {said.brief}s."
    known = meanings(said, is_clamped=is_clamped)
    return render(
        "index.html",
        f"{board.benchmark}: leaderboard",
        depth=0,
        scripts=CHART_SCRIPTS if figures else TABLE_SCRIPTS,
        board=board,
        said=said,
        main=Table(caption, _columns([said.head(name) for name in head], cells), rows),
        meanings=[f"{said.head(name)}: {known[name]}." for name in head],
        tables=[
            (heading, _plain_table(more, own_head, own_cells))
            for heading, more, (own_head, *own_cells) in tables
        ],
        left_out=left_out,
        notes=notes,
        figures=figures,
        rubrics={name: Markup(page) for name, page in rubrics.items()},
    )


def paper_page(
    title: str,
    summary: str,
    cells: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    judge: str,
    is_stand_in: bool,
) -> str:
    """Render one table of a paper.

    Args:
        title: what it shows.
        summary: the same in a sentence.
        cells: the headings, then the rows.
        notes: sentences under the table.
        judge: whose verdicts it rests on.
        is_stand_in: True for the offline judge.
    """
    return render(
        "paper.html",
        title,
        depth=2,
        scripts=TABLE_SCRIPTS,
        summary=summary,
        table=_plain_table(f"{title}. Judge {judge}.", cells[0], cells[1:]),
        notes=notes,
        judge=judge,
        is_stand_in=is_stand_in,
    )


def _plain_table(caption: str, head: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    shown = [[parts().unknown() if text == UNKNOWN else text for text in row] for row in cells]
    return Table(caption, _columns(head, cells), shown)


def _columns(head: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Column]:
    """Return a table's columns; the first one holds names, even if they look like numbers."""
    found: list[Column] = []
    for place, name in enumerate(head):
        own_cells = [row[place] for row in cells]
        is_number = place > 0 and _is_number(own_cells)
        found.append(Column(name, is_number, is_filter=name in _FILTERS and len(set(own_cells)) > 1))
    return found


def _row(
    row: LeaderboardRow,
    texts: Sequence[str],
    head: Sequence[str],
    foreign: Mapping[tuple[str, str], tuple[str, Markup]],
) -> list[str]:
    """Render cells as HTML: the first links to the row's page, and an incomplete score has its bounds."""
    cells: list[str] = [parts().unknown() if text == UNKNOWN else own(text) for text in texts]
    label = Markup("<br><small>{}</small>").format(own(row.condition))
    known = foreign.get((row.condition, row.judge_id))
    if known is None:
        link = Markup('<a href="{}" title="{}">{}</a>')
        page = address(row.condition, row.judge_id, "index.html")
        cells[0] = link.format(page, attribute(f"judge {row.judge_id}"), cells[0]) + label
    else:
        origin, links = known
        cells[0] += Markup("<br>{}").format(own(origin)) + label + links
    if row.has_bounds:
        bounds = Markup("<br><small>bounds<br>{:.3f} to {:.3f}</small>")
        cells[head.index("score")] += bounds.format(row.score_low, row.score_high)
    return cells


def _is_number(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell not in (UNKNOWN, "none")]
    return all(_NUMBER.fullmatch(cell.rstrip("~†")) for cell in known)
