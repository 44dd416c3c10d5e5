"""Sentences that the files and the terminal say alike."""

from __future__ import annotations

from flows.common.text import plural
from flows.schema.leaderboard import Leaderboard

STAND_IN = "a deterministic stand-in, no judge to publish with"
COPIED = "A score marked † is of sentences copied from the packet, which the stand-in takes for statements."


def noun(board: Leaderboard) -> str:
    """Return `report` if the rows have fields that only reports have, else `brief`."""
    is_report = any(row.n_over_limit is not None or row.n_missing or row.n_corrupt for row in board.rows)
    return "report" if is_report else "brief"


def self_judged(board: Leaderboard) -> list[str]:
    """Explain the mark of a judge that graded its own model; nothing if no row has it."""
    is_marked = any(row.self_judged for row in board.rows)
    return [f"A judge marked * graded {noun(board)}s of its own model."] if is_marked else []


def left_unseen(board: Leaderboard) -> list[tuple[str, str]]:
    """Count texts with hidden or left-out parts: a sentence without its stop, and what it adds."""
    # Conditions have one row per judge, with the same briefs.
    rows = {row.condition: row for row in board.rows}.values()
    hidden, noticed = sum(row.n_hidden for row in rows), sum(row.n_noticed for row in rows)
    counted = [
        (
            hidden,
            "held characters that a reader does not see",
            "; judges behind an endpoint were shown the text without them",
        ),
        (
            noticed,
            "came from a file of which the reader left something out or repaired it",
            ", such as hidden text; the briefs table says what, under detail",
        ),
    ]
    return [(f"{plural(n, noun(board))} {what}", more) for n, what, more in counted if n]
