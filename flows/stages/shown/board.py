"""The leaderboard for a terminal: what tells rows apart, the score with its range, and what is not zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from flows.common.text import count_of, plural
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.settings import Harness

_COUNTS: tuple[tuple[str, Callable[[LeaderboardRow], int]], ...] = (
    ("items ungraded", lambda row: row.n_ungraded),
    ("refused", lambda row: row.n_refused),
    ("failed", lambda row: row.n_error),
    ("missing", lambda row: row.n_missing),
    ("corrupt", lambda row: row.n_corrupt),
    ("empty", lambda row: row.n_empty),
    ("cut", lambda row: row.n_cut + row.n_cut_by_provider),
    ("at a limit", lambda row: row.n_at_limit),
    ("too long", lambda row: row.n_over_limit or 0),
)
NEW = "> "
"""Before the first cell of a row of this run, if others are not."""


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table for a terminal.

    Attributes:
        rows: cells, the header first.
        words: places of the columns of words, which may wrap.
        marked: for each row after the header, whether it is of this run.
        caption: what is the same in all rows; may be empty.
    """

    rows: Sequence[tuple[str, ...]]
    words: AbstractSet[int]
    marked: Sequence[bool]
    caption: str


def screen_table(
    rows: Sequence[LeaderboardRow], new: AbstractSet[tuple[str, str]] = frozenset()
) -> ShownTable:
    """Return the few columns that a person needs.

    Columns that are equal in all rows go into the caption, and counts that are 0 in all rows are left out.

    Args:
        rows: at least one.
        new: condition and judge of the rows of this run.
    """
    marked = [(row.condition, row.judge_id) in new for row in rows]
    is_mixed = any(marked) and not all(marked)
    names = [
        f"{NEW if mark else ''}{row.model}" if is_mixed else row.model
        for row, mark in zip(rows, marked, strict=True)
    ]
    columns: list[tuple[str, list[str]]] = [("model", names)]
    same: list[str] = []
    for head, cells in _settings(rows):
        if len(set(cells)) == 1:
            same.append(f"{head} {cells[0]}")
        else:
            columns.append((head, cells))
    if any(row.differs for row in rows):
        columns.append(("differs in", [_lines(row) for row in rows]))
    words = len(columns)
    columns += _numbers(rows)
    for head, cells in (
        ("scenarios", [count_of(row.n_scenarios, row.n_scenarios_all) for row in rows]),
        ("briefs", [row.briefs_text for row in rows]),
    ):
        if len(set(cells)) == 1:
            same.append(cells[0] if "text" in cells[0] else plural(cells[0], head.removesuffix("s")))
        else:
            columns.append((head, cells))
    if any((row.usd or 0.0) + (row.judge_usd or 0.0) for row in rows):
        columns.append(("cost", [_cost(row) for row in rows]))
    counts = [", ".join(f"{n} {what}" for what, count in _COUNTS if (n := count(row))) for row in rows]
    word_places = {*range(words)}
    if any(counts):
        word_places.add(len(columns))
        columns.append(("counts", counts))
    cells = [tuple(texts) for texts in zip(*(texts for _, texts in columns), strict=True)]
    caption = f"{'Same in all rows' if len(rows) > 1 else 'This row'}: {', '.join(same)}." if same else ""
    if any(row.n_texts is not None for row in rows):
        caption = f"{caption} Texts: equal repeats count once.".strip()
    if is_mixed:
        caption = f"{caption} {NEW.strip()} marks rows of this run.".strip()
    return ShownTable([tuple(head for head, _ in columns), *cells], word_places, marked, caption)


def _settings(rows: Sequence[LeaderboardRow]) -> list[tuple[str, list[str]]]:
    found = [("effort", [row.effort for row in rows])]
    if any(row.harness != Harness.single_prompt.value for row in rows):
        found.append(("harness", [row.harness for row in rows]))
    return [
        *found,
        ("cap", ["none" if row.word_cap is None else str(row.word_cap) for row in rows]),
        ("judge", [row.judge + ("*" if row.self_judged else "") for row in rows]),
    ]


def _numbers(rows: Sequence[LeaderboardRow]) -> list[tuple[str, list[str]]]:
    """Return rank, score, interval and bounds; without those that no row needs."""
    found = [
        ("rank", ["-" if row.rank is None else str(row.rank) for row in rows]),
        ("score", [row.score_text for row in rows]),
        ("interval", [row.interval_text for row in rows]),
        ("bounds", [row.bounds_text for row in rows]),
    ]
    if all(row.rank is not None for row in rows):
        del found[0]
    return [(head, cells) for head, cells in found if head in ("rank", "score") or set(cells) != {"-"}]


def _lines(row: LeaderboardRow) -> str:
    return "\n".join(f"{key} {value}" for key, value in row.differs) or "-"


def _cost(row: LeaderboardRow) -> str:
    """Return the price of a row's replies, the judge's included; a dash if a part is unknown."""
    if row.usd is None or row.judge_usd is None:
        return "-"
    return f"${row.usd + row.judge_usd:.2f}"
