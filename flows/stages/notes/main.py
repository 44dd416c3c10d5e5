"""The notes that matter most for the rows that a terminal shows."""

from __future__ import annotations

from flows.schema.leaderboard import Leaderboard
from flows.stages.notes.shared import COPIED, STAND_IN, left_unseen, self_judged


def main_notes(board: Leaderboard) -> list[str]:
    """Return short notes on a board's rows, the most important first.

    Args:
        board: its rows may be a part of the leaderboard.
    """
    rows = board.rows
    judges = {row.judge_id for row in rows}
    found = [
        f"Judge {note.judge_id} is {STAND_IN}."
        + (" It gives no verdict on wrong moves or penalties." if note.n_abstained else "")
        for note in board.judges
        if note.is_stand_in and note.judge_id in judges
    ]
    if ungraded := sum(row.n_ungraded for row in rows):
        found.append(
            f"{ungraded} items have no verdict; the bounds say what they could change. Rows of other "
            "coverage than the rest have no rank."
        )
    if any(row.copied for row in rows):
        found.append(COPIED)
    found += self_judged(board)
    found += [f"{what}." for what, _ in left_unseen(board)]
    found += [_first_words(difference) for difference in board.differences]
    measured = {note.judge_id for note in board.judges if note.is_stand_in or note.agreements}
    if unmeasured := sorted({row.judge for row in rows if row.judge_id not in measured}):
        found.append(f"Nobody has measured how far these judges agree with people: {', '.join(unmeasured)}.")
    if any(row.ci_low is not None and row.ci_level is None for row in rows):
        found.append("Ranges are of the scenarios that were run: too few for an interval.")
    models = {row.model for row in rows}
    known = [(label, note) for label, note in board.model_notes if label in models]
    if unlike := [label for label, note in known if note.startswith(("a control", "a baseline"))]:
        found.append(f"Controls and baselines, no models: {', '.join(unlike)}.")
    found += [f"{label}: {note}." for label, note in known if label not in unlike]
    if board.assumptions:
        found.append(f"Assumed: {'; '.join(board.assumptions)}.")
    return found


def _first_words(text: str, most: int = 150) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most].rsplit(' ', 1)[0].rstrip(',;:')} ..."
