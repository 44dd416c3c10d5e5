"""What a run tells at its end: the leaderboard, the tasks, what failed, and its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from flows.adapters.screen import Screen
from flows.common.errors import BudgetReached, Stopped
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.task_table import task_table, turned
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.table import notes, shown_rows, word_columns

if TYPE_CHECKING:
    from flows.pipeline.evaluate.flow import Finished


INCOMPLETE = 4
"""Exit code of a run that ended with items that have no verdict."""


_SHOWN_FAILURES = 5


def show_board(screen: Screen, board: Leaderboard, own: AbstractSet[tuple[str, str]]) -> None:
    """The leaderboard with its notes; rows of this run stand out."""
    marked = [(row.condition, row.judge_id) in own for row in board.rows]
    title = f"{board.benchmark}: leaderboard ({board.scoring} scoring)"
    screen.table(title, shown_rows(board), marked if own else (), words=word_columns(board))
    for note in notes(board):
        screen.note(f"- {note}")


def show_tasks(
    screen: Screen,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> None:
    """The specification's table with scores, where the scenarios are tasks."""
    if any(scenario.task is not None for scenario in scenarios.values()):
        by_name = {(entry.condition, entry.judge): entry for entry in graded}
        ordered = [by_name[row.condition, row.judge_id] for row in board.rows]
        rows = turned(task_table(ordered, scenarios, scoring), narrow=True)
        title = f"{board.benchmark}: score on each task, mean of its attempts"
        screen.table(title, rows, words=len(rows[0]))


def exit_code(finished: Finished, screen: Screen) -> int:
    """0, or why not, said on the screen: one line for each fault, the same fault once."""
    for fault in {str(fault): fault for _, fault in finished.faults}.values():
        screen.fault(str(fault))
    if finished.faults:
        codes = [fault.exit_code for _, fault in finished.faults]
        # A person's or a budget's stop says more than a fault that came of it.
        return next(
            (code for code in codes if code in (Stopped.exit_code, BudgetReached.exit_code)), codes[0]
        )
    ungraded = sum(ended.n_ungraded for _, ended in finished.outcomes)
    if ungraded:
        for why in _failures(finished):
            screen.fault(why)
        screen.fault(
            f"{ungraded} items have no verdict; they are counted, not scored. The same command asks again "
            "for what failed and what was not in the format (retry=refused: for refusals too; retry=partial: "
            "for texts without a known end)."
        )
        return INCOMPLETE
    return 0


def _failures(finished: Finished) -> list[str]:
    """Why briefs are missing, the first few: a prompt that does not fit, an endpoint that broke."""
    why = [line for _, ended in finished.outcomes for line in ended.missing]
    each = list(dict.fromkeys(why))  # several judges graded the same briefs
    more = [f"... and {len(each) - _SHOWN_FAILURES} more"] if len(each) > _SHOWN_FAILURES else []
    return [*each[:_SHOWN_FAILURES], *more]


def display_path(path: Path) -> str:
    """A path as a person would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
