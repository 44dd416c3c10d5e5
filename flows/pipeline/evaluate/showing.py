"""Print the leaderboard, task table and failures of a finished run; compute its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from flows.adapters.screen import Screen
from flows.common.errors import BudgetReached, Stopped
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.task_table import published_note, task_table, transposed
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.table import notes, shown_rows, word_columns

if TYPE_CHECKING:
    from flows.pipeline.evaluate.flow import Finished


INCOMPLETE = 4
"""Exit code of a run that finished with items that have no verdict."""

_SHOWN_FAILURES = 5


def show_board(screen: Screen, board: Leaderboard, highlighted: AbstractSet[tuple[str, str]]) -> None:
    """Print the leaderboard with its notes; `highlighted` names condition and judge of rows of this run."""
    marked = [(row.condition, row.judge_id) in highlighted for row in board.rows]
    title = f"{board.benchmark}: leaderboard ({board.scoring} scoring)"
    screen.table(title, shown_rows(board), marked if highlighted else (), words=word_columns(board))
    for note in notes(board):
        screen.note(f"- {note}")


def show_tasks(
    screen: Screen,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> None:
    """Print the table of tasks with their scores; nothing if the scenarios are no tasks."""
    if any(scenario.task is not None for scenario in scenarios.values()):
        by_name = {(entry.condition, entry.judge): entry for entry in graded}
        ordered = [by_name[row.condition, row.judge_id] for row in board.rows]
        rows = transposed(task_table(ordered, scenarios, scoring), narrow=True)
        title = f"{board.benchmark}: score on each task, mean of its attempts"
        screen.table(title, rows, words=len(rows[0]))
        for note in published_note(ordered, scenarios):
            screen.note(f"- {note}")


def exit_code(finished: Finished, screen: Screen) -> int:
    """Print each distinct error once and return the run's exit code."""
    for message in {str(fault): None for _, fault in finished.faults}:
        screen.fault(message)
    if finished.faults:
        codes = [fault.exit_code for _, fault in finished.faults]
        # A stop by the user or the budget may have caused the other errors.
        return next(
            (code for code in codes if code in (Stopped.exit_code, BudgetReached.exit_code)), codes[0]
        )
    ungraded = sum(ended.n_ungraded for _, ended in finished.outcomes)
    if ungraded:
        for failure in _failures(finished):
            screen.fault(failure)
        screen.fault(
            f"{ungraded} items have no verdict; they are counted, not scored. The same command retries "
            "failed calls and unparsable replies (retry=refused: also refusals; retry=partial: also texts "
            "without a known end)."
        )
        return INCOMPLETE
    return 0


def _failures(finished: Finished) -> list[str]:
    """Return the first few reasons for missing briefs, such as a prompt that does not fit."""
    # Several judges may have graded the same briefs.
    reasons = list(dict.fromkeys(line for _, ended in finished.outcomes for line in ended.missing))
    more = [f"... and {len(reasons) - _SHOWN_FAILURES} more"] if len(reasons) > _SHOWN_FAILURES else []
    return [*reasons[:_SHOWN_FAILURES], *more]


def display_path(path: Path) -> str:
    """Format a path relative to the current folder, if it lies below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
