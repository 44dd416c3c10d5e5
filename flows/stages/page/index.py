"""The first page: leaderboard, what must be said under it, figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.stages.page.frame import Column, document, scroll, stand_in_notice, table
from flows.stages.page.markup import MISSING, address, attribute, own, words

UNKNOWN = "-"
"""What the shown table holds where nothing is known."""

_NUMBER = re.compile(r"-?[\d.,]+(%| of \d+| to -?[\d.]+)?")
_MEANING = {
    "effort": "how hard the model was asked to reason; default: nothing was sent, the provider decided",
    "harness": "how the model was led to what it wrote: single_prompt, our own loop of tools (native), or "
    "Harbor (harbor); never pooled",
    "cap": "words of a brief that are graded",
    "score": "points of passed requirements less those of wrong moves made, as a share of all "
    "requirements' points: 1 is a perfect brief's, 0 an empty one's, and it can fall below 0. Repeats "
    "are averaged within a scenario, then scenarios are averaged",
    "interval": "of the score, over scenarios; none below two",
    "correct": "share of all items passed; for a wrong move, passed means not made",
    "passed": "share of requirements passed",
    "wrong": "wrong moves in a brief, on average",
    "scenarios": "scenarios that the score rests on",
    "briefs": "briefs that the score rests on",
    "ungraded": "items without a verdict: neither passed nor failed",
    "refused": "briefs that the provider refused to write",
    "cut": "briefs cut at the word cap or at the provider's output limit",
}


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
    pageless: AbstractSet[tuple[str, str]] = frozenset(),
    tables: Sequence[tuple[str, Sequence[Sequence[str]]]] = (),
) -> str:
    """The leaderboard with its notes and figures.

    Args:
        board: its rows and judges.
        shown: the table that people see, head first, then a row for each of the board's.
        notes: what stands under it.
        figures: SVG texts by judge.
        rubrics: addresses of the rubrics' pages by scenario id.
        left_out: results that could not be relied on, and why.
        pageless: condition and judge of rows that have no page of their own.
        tables: further tables, each with its caption, head first.
    """
    title = f"{board.benchmark}: leaderboard"
    body = [f"<h1>{own(title)}</h1>"]
    stand_ins = [judge.judge_id for judge in board.judges if judge.is_stand_in]
    body += [stand_in_notice(judge) for judge in stand_ins]
    head, *cells = shown
    columns = [
        Column(name, is_number=place > 0 and _is_number([row[place] for row in cells]))
        for place, name in enumerate(head)
    ]
    rows = [_row(row, texts, head, pageless) for row, texts in zip(board.rows, cells, strict=True)]
    caption = (
        f"One row for each condition and judge; {words(board.scoring)} scoring. A name leads to its briefs."
    )
    body.append(table(caption, columns, rows, "sortable"))
    for more, (own_head, *own_cells) in tables:
        own_columns = [
            Column(name, is_number=place > 0 and _is_number([row[place] for row in own_cells]))
            for place, name in enumerate(own_head)
        ]
        shown_cells = [[MISSING if text == UNKNOWN else own(text) for text in row] for row in own_cells]
        body.append(table(more, own_columns, shown_cells, ""))
    if left_out:
        body.append('<h2>Left out</h2>\n<div class="notice"><p>These results could not be relied on:</p>')
        body.append(_listed(left_out) + "</div>")
    body += ["<h2>To know when reading it</h2>", _listed(notes)]
    meanings = [(name, _MEANING[name]) for name in head if name in _MEANING]
    body.append("<details><summary>What the columns mean</summary>")
    body.append(_listed([f"{name}: {meaning}." for name, meaning in meanings]) + "</details>")
    for judge, drawn in figures.items():
        body.append(f"<h2>Figures: judge {own(judge)}</h2>")
        body += [scroll(f"Figure {number}", svg) for number, svg in enumerate(drawn, 1)]
    body.append("<h2>Rubrics</h2>\n<ul>")
    body += [f'<li><a href="{page}">{own(name)}</a></li>' for name, page in rubrics.items()]
    body.append("</ul>")
    return document(title, body, with_script=True)


def _row(
    row: LeaderboardRow,
    texts: Sequence[str],
    head: Sequence[str],
    pageless: AbstractSet[tuple[str, str]],
) -> list[str]:
    """Cells as HTML: the first leads to the row's page, and a score that is not whole has its bounds."""
    cells = [MISSING if text == UNKNOWN else own(text) for text in texts]
    label = f"<br><small>{own(row.condition)}</small>"
    link = f'href="{condition_address(row)}" title="{attribute(f"judge {row.judge_id}")}"'
    has_page = (row.condition, row.judge_id) not in pageless
    cells[0] = f"<a {link}>{cells[0]}</a>{label}" if has_page else f"{cells[0]}{label}"
    if row.n_ungraded and row.score_low is not None and row.score_high is not None:
        bounds = f"<br><small>bounds<br>{row.score_low:.3f} to {row.score_high:.3f}</small>"
        cells[head.index("score")] += bounds
    return cells


def _is_number(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell not in (UNKNOWN, "none")]
    return bool(known) and all(_NUMBER.fullmatch(cell) for cell in known)


def _listed(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{own(line)}</li>" for line in lines) + "</ul>"
