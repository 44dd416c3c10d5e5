"""Ranks of leaderboard rows that rest on the same scenarios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from flows.schema.leaderboard import LeaderboardRow
from flows.schema.verdict import BriefScore

_DIGITS = 12  # as in the files: rounding errors must not part equal scores


def covered_whole(scores: Sequence[BriefScore]) -> frozenset[str]:
    """Return the scenarios of the scores; none if a brief has no score."""
    if any(score.score is None for score in scores):
        return frozenset()
    return frozenset(score.scenario_id for score in scores)


def ranked(rows: Sequence[tuple[LeaderboardRow, frozenset[str]]]) -> list[LeaderboardRow]:
    """Sort rows and rank those that cover the same scenarios whole.

    The ranking is of the rows that cover the most scenarios; among equally many, of the coverage with the
    most rows, then with the first names. All others follow without a rank, since their scores rest on other
    briefs: those on more scenarios first, those without a score last.

    Args:
        rows: each with the scenarios that it covers, as from `covered_whole`.
    """
    counts = Counter(covered for row, covered in rows if covered and row.score is not None)
    ranking = min(counts, key=lambda names: (-len(names), -counts[names], sorted(names)), default=None)
    by_judge: dict[str, list[float]] = {}
    for row, covered in rows:
        if covered == ranking and row.score is not None:
            by_judge.setdefault(row.judge_id, []).append(round(row.score, _DIGITS))
    found: list[LeaderboardRow] = []
    for row, covered in rows:
        rank = None
        if covered == ranking and row.score is not None:
            rank = 1 + sum(score > round(row.score, _DIGITS) for score in by_judge[row.judge_id])
        found.append(replace(row, rank=rank))
    return sorted(found, key=_order)


def _order(row: LeaderboardRow) -> tuple[bool, bool, int, float, str, str]:
    n_scenarios = 0 if row.rank is not None else -row.n_scenarios
    score = 0.0 if row.score is None else -row.score
    return row.score is None, row.rank is None, n_scenarios, score, row.condition, row.judge_id
