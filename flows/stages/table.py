"""Format a leaderboard as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from flows.common.text import count_of, number, percent, plural
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.settings import Harness

_HEAD = (
    "model",
    "effort",
    "cap",
    "judge",
    "score",
    "interval",
    "correct",
    "passed",
    "wrong",
    "scenarios",
    "briefs",
)


def shown_rows(board: Leaderboard) -> list[tuple[str, ...]]:
    """Return the displayed table, header first, one text per cell."""
    table = [(*_HEAD, "ungraded", "refused", "cut"), *(_shown(row) for row in board.rows)]
    if not has_harnesses(board):
        return table
    told = ["harness", *(row.harness for row in board.rows)]
    return [(*row[:2], harness, *row[2:]) for harness, row in zip(told, table, strict=True)]


def has_harnesses(board: Leaderboard) -> bool:
    """True if rows may be of several harnesses, which the table then names."""
    return any(row.harness != Harness.single_prompt.value for row in board.rows)


def word_columns(board: Leaderboard) -> int:
    """Return how many of the first columns hold words."""
    return 5 if has_harnesses(board) else 4


def interval_text(row: LeaderboardRow) -> str:
    """Format an interval, or the range of too few scenarios for one; a dash if there is neither."""
    if row.ci_low is None:
        return "-"
    ends = f"{number(row.ci_low)} to {number(row.ci_high)}"
    return ends if row.ci_level is not None else f"{ends} (range)"


def bounds_text(row: LeaderboardRow) -> str:
    """Format the bounds of a score with missing verdicts; a dash if there are none."""
    return f"{number(row.score_low)} to {number(row.score_high)}" if row.has_bounds else "-"


def score_text(row: LeaderboardRow) -> str:
    """Format a score, with ~ if it leaves out items of briefs that count."""
    return number(row.score) + ("~" if row.n_partial and row.score is not None else "")


def briefs_text(row: LeaderboardRow) -> str:
    """Format the briefs that a score rests on; copies of a text count once."""
    if row.n_texts is not None:
        return plural(str(row.n_texts), "text")
    return count_of(row.n_briefs, row.n_briefs_all)


def to_markdown(board: Leaderboard, notes: Sequence[str]) -> str:
    """Format the table and the notes under it as Markdown."""
    head, *rows = shown_rows(board)
    lines = [f"# {board.benchmark}: leaderboard ({board.scoring} scoring)", ""]
    n_words = word_columns(board)
    lines += [_line(head), _line(("---",) * n_words + ("---:",) * (len(head) - n_words))]
    lines += [_line(row) for row in rows]
    lines += ["", *(f"- {note}" for note in notes)]
    lines += [f"- Left out: {why}." for why in board.left_out]
    return "\n".join(lines) + "\n"


def to_csv(board: Leaderboard) -> str:
    """Format every field, one line per row; an empty cell is unknown."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(LeaderboardRow)], lineterminator="\n")
    writer.writeheader()
    for row in board.rows:
        writer.writerow({key: _rounded(value) for key, value in asdict(row).items()})
    return out.getvalue()


def to_json(board: Leaderboard, notes: Sequence[str]) -> str:
    """Format everything, including the notes; null is unknown."""
    content: dict[str, Any] = {"schema_version": "1", **asdict(board), "notes": list(notes)}
    content["rows"] = [{key: _rounded(value) for key, value in asdict(row).items()} for row in board.rows]
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def to_metrics(board: Leaderboard) -> str:
    """Format the numbers, nested by condition and judge, for `dvc metrics`."""
    content: dict[str, dict[str, Any]] = {}
    for row in board.rows:
        numbers = {"score": row.score, "correct": row.correct, "passed": row.passed, "wrong": row.wrong}
        counts = {"n_briefs": row.n_briefs, "n_ungraded": row.n_ungraded}
        shown = {key: _rounded(value) for key, value in numbers.items() if value is not None}
        content.setdefault(row.judge_id, {})[row.condition] = {**shown, **counts}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _shown(row: LeaderboardRow) -> tuple[str, ...]:
    return (
        row.model,
        row.effort,
        "none" if row.word_cap is None else str(row.word_cap),
        row.judge + ("*" if row.self_judged else ""),
        score_text(row),
        interval_text(row),
        percent(row.correct),
        percent(row.passed),
        number(row.wrong, 1),
        count_of(row.n_scenarios, row.n_scenarios_all),
        briefs_text(row),
        str(row.n_ungraded),
        str(row.n_refused),
        str(row.n_cut + row.n_cut_by_provider),
    )


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _rounded(value: Any) -> Any:
    """Round floats to twelve digits, so the order of summation does not change the bytes."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
