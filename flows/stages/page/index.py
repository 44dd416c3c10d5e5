"""The first page: leaderboard, what must be said under it, figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.stages.page.frame import Column, document, scroll, stand_in_notice, table
from flows.stages.page.markup import MISSING, address, attribute, own, words
from flows.stages.page.wording import BRIEFS, REPORTS, Wording, meanings

UNKNOWN = "-"
"""What the shown table holds where nothing is known."""

_NUMBER = re.compile(r"-?[\d.,]+(%| of \d+| to -?[\d.]+)?")


def condition_address(row: LeaderboardRow) -> str:
    """Address of a row's page, from the first page."""
    return address(row.condition, row.judge_id, "index.html")


def index_page(
    board: Leaderboard,
    shown: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    figures: Mapping[str, Sequence[str]],
    rubrics: Mapping[str, str],
    left_out: Sequence[str] = (),
    foreign: Mapping[tuple[str, str], str] | None = None,
    tables: Sequence[tuple[str, str, Sequence[Sequence[str]]]] = (),
    said: Wording = BRIEFS,
    is_clamped: bool = False,
) -> str:
    """The leaderboard with its notes and figures.

    Args:
        board: its rows and judges.
        shown: the table that people see, head first, then a row for each of the board's.
        notes: what stands under it.
        figures: SVG texts by judge.
        rubrics: addresses of the rubrics' pages by scenario id.
        left_out: results that could not be relied on, and why.
        foreign: where rows without a page of their own come from, by condition and judge.
        tables: further tables, each with its heading and its caption, head first.
        said: names of the protocol's things.
        is_clamped: True where each score is held within [0, 1] before it is averaged.
    """
    title = f"{board.benchmark}: leaderboard"
    body = [f"<h1>{own(title)}</h1>"]
    stand_ins = [judge.judge_id for judge in board.judges if judge.is_stand_in]
    body += [stand_in_notice(judge) for judge in stand_ins]
    head, *cells = shown
    rows = [_row(row, texts, head, foreign or {}) for row, texts in zip(board.rows, cells, strict=True)]
    caption = (
        f"One row for each condition and judge; {words(board.scoring)} scoring. A name leads to its "
        f"{said.brief}s."
    )
    body.append(table(caption, _columns([said.head(name) for name in head], cells), rows, "sortable"))
    known = meanings(said, is_clamped=is_clamped)
    body.append("<details><summary>What the columns mean</summary>")
    body.append(_listed([f"{said.head(name)}: {known[name]}." for name in head if name in known]))
    body.append("</details>")
    for heading, more, (own_head, *own_cells) in tables:
        shown_cells = [[MISSING if text == UNKNOWN else own(text) for text in row] for row in own_cells]
        body += [f"<h2>{own(heading)}</h2>", table(more, _columns(own_head, own_cells), shown_cells)]
    if left_out:
        body.append('<h2>Left out</h2>\n<div class="notice"><p>These results could not be relied on:</p>')
        body.append(_listed(left_out) + "</div>")
    body += ["<h2>To know when reading it</h2>", _listed(notes)]
    for judge, drawn in figures.items():
        body.append(f"<h2>Figures: judge {own(judge)}</h2>")
        if said is REPORTS:
            told = "Figures call a task a scenario, a report a brief, and a penalty a wrong move."
            body.append(f'<p class="soft">{told}</p>')
        body += [scroll(f"Figure {number}, judge {judge}", svg) for number, svg in enumerate(drawn, 1)]
    body.append("<h2>Rubrics</h2>\n<ul>")
    body += [f'<li><a href="{page}">{own(name)}</a></li>' for name, page in rubrics.items()]
    body.append("</ul>")
    return document(title, body, with_script=True)


def _columns(head: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Column]:
    """Heads of a table; the first column holds names, be they spelled as numbers."""
    return [
        Column(name, is_number=place > 0 and _is_number([row[place] for row in cells]))
        for place, name in enumerate(head)
    ]


def _row(
    row: LeaderboardRow,
    texts: Sequence[str],
    head: Sequence[str],
    foreign: Mapping[tuple[str, str], str],
) -> list[str]:
    """Cells as HTML: the first leads to the row's page, and a score that is not whole has its bounds."""
    cells = [MISSING if text == UNKNOWN else own(text) for text in texts]
    label = f"<br><small>{own(row.condition)}</small>"
    link = f'href="{condition_address(row)}" title="{attribute(f"judge {row.judge_id}")}"'
    origin = foreign.get((row.condition, row.judge_id))
    if origin is None:
        cells[0] = f"<a {link}>{cells[0]}</a>{label}"
    else:
        cells[0] += f"<br>{own(origin)}{label}"
    if row.n_ungraded and row.score_low is not None and row.score_high is not None:
        bounds = f"<br><small>bounds<br>{row.score_low:.3f} to {row.score_high:.3f}</small>"
        cells[head.index("score")] += bounds
    return cells


def _is_number(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell not in (UNKNOWN, "none")]
    return bool(known) and all(_NUMBER.fullmatch(cell) for cell in known)


def _listed(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{own(line)}</li>" for line in lines) + "</ul>"
