"""Format a leaderboard as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from flows.common.text import count_of, number, percent
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
    if any(row.calls or row.judge_calls for row in board.rows):
        table = [(*cells, *cost) for cells, cost in zip(table, _costs(board.rows), strict=True)]
    at = table[0].index("score")
    if any(row.has_bounds for row in board.rows):
        bounds = ["bounds", *(row.bounds_text for row in board.rows)]
        table = [(*row[: at + 2], text, *row[at + 2 :]) for text, row in zip(bounds, table, strict=True)]
    if any(row.rank is None for row in board.rows):
        ranks = ["rank", *("-" if row.rank is None else str(row.rank) for row in board.rows)]
        table = [(*row[:at], text, *row[at:]) for text, row in zip(ranks, table, strict=True)]
    if any(row.differs for row in board.rows):
        told = ["differs in", *("; ".join(f"{k} {v}" for k, v in row.differs) or "-" for row in board.rows)]
        table = [(*row[:4], text, *row[4:]) for text, row in zip(told, table, strict=True)]
    if has_harnesses(board):
        told = ["harness", *(row.harness for row in board.rows)]
        table = [(*row[:2], harness, *row[2:]) for harness, row in zip(told, table, strict=True)]
    return table


def _costs(rows: Sequence[LeaderboardRow]) -> list[tuple[str, str, str]]:
    """Return price, tokens and time of the replies behind each row, the judge's included; header first."""
    return [
        ("cost", "tokens", "seconds"),
        *(
            (
                "-" if row.usd is None or row.judge_usd is None else f"${row.usd + row.judge_usd:.2f}",
                _sum(row.tokens_in, row.tokens_out, row.judge_tokens_in, row.judge_tokens_out),
                _sum(row.seconds, row.judge_seconds),
            )
            for row in rows
        ),
    ]


def _sum(*parts: float | None) -> str:
    known = [part for part in parts if part is not None]
    return f"{sum(known):,.0f}" if len(known) == len(parts) else "-"


def has_harnesses(board: Leaderboard) -> bool:
    """True if rows may be of several harnesses, which the table then names."""
    return any(row.harness != Harness.single_prompt.value for row in board.rows)


def word_columns(board: Leaderboard) -> int:
    """Return how many of the first columns hold words."""
    return 4 + has_harnesses(board) + any(row.differs for row in board.rows)


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
        texts = {key: _rounded(value) for key, value in asdict(row).items()}
        writer.writerow(texts | {"differs": "; ".join(f"{key} {value}" for key, value in row.differs)})
    return out.getvalue()


def to_json(board: Leaderboard, notes: Sequence[str]) -> str:
    """Format everything, including the notes; null is unknown."""
    content: dict[str, Any] = {"schema_version": "1", **asdict(board), "notes": list(notes)}
    content["rows"] = [{key: _rounded(value) for key, value in asdict(row).items()} for row in board.rows]
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def to_metrics(board: Leaderboard) -> str:
    """Format the scores for `dvc metrics`, by model; rows without a score are left out.

    The keys must be the same before and after an experiment, and few: DVC makes a column of each. Only rows
    that a model would not tell apart are named by their condition, or by condition and judge.
    """
    scores: dict[str, float] = {}
    for row in board.rows:
        names = (row.model, row.condition, f"{row.condition}/{row.judge_id}")
        counts = (
            sum(other.model == row.model for other in board.rows),
            sum(other.condition == row.condition for other in board.rows),
            1,
        )
        if row.score is not None:
            scores[names[counts.index(1)]] = _rounded(row.score)
    return json.dumps(scores, indent=1, sort_keys=True) + "\n"


def _shown(row: LeaderboardRow) -> tuple[str, ...]:
    return (
        row.model,
        row.effort,
        "none" if row.word_cap is None else str(row.word_cap),
        row.judge + ("*" if row.self_judged else ""),
        row.score_text,
        row.interval_text,
        percent(row.correct),
        percent(row.passed),
        number(row.wrong, 1),
        count_of(row.n_scenarios, row.n_scenarios_all),
        row.briefs_text,
        str(row.n_ungraded),
        str(row.n_refused),
        str(row.n_cut + row.n_cut_by_provider),
    )


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _rounded(value: Any) -> Any:
    """Round floats to twelve digits, so the order of summation does not change the bytes."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
