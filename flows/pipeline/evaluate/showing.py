"""Print the leaderboard, task table and failures of a finished run; compute its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from flows.adapters.screen import Screen
from flows.common.errors import BudgetReached, Stopped
from flows.common.text import number
from flows.pipeline.results.graded import Graded, scored
from flows.pipeline.results.task_table import task_table, transposed
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.table import notes, shown_rows, word_columns

if TYPE_CHECKING:
    from flows.pipeline.evaluate.job import Finished


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


def show_brief(screen: Screen, entry: Graded, scenario: Scenario, scoring: ScoringSettings) -> None:
    """Print the score of one brief and the verdict on every item, failed ones first."""
    estimate = scored(entry, {scenario.scenario_id: scenario}, scoring).estimate
    verdicts = {verdict.item_id: verdict.passed for verdict in entry.verdicts}
    rows: list[tuple[int, tuple[str, str, str]]] = []
    counts = {True: [0, 0], False: [0, 0]}
    for item in scenario.items:
        passed = verdicts.get(item.item_id)
        word = _VERDICTS[item.is_error, passed]
        weight = item.points if item.severity is None else item.severity.value.replace("_", " ")
        rows.append((list(_VERDICTS.values()).index(word), (word, str(weight), item.requirement)))
        counts[item.is_error][0] += passed is (not item.is_error)
        counts[item.is_error][1] += 1
    rows.sort(key=lambda row: row[0])
    table = [("verdict", "severity", "requirement or wrong move"), *(row for _, row in rows)]
    screen.table(f"{scenario.scenario_id}: {entry.model}, judged by {entry.judge}", table, words=3)
    met, made = counts[False], counts[True]
    screen.note(
        f"Score {number(estimate.score)} (1 is every requirement and no wrong move): "
        f"{met[0]} of {met[1]} requirements met, {made[0]} of {made[1]} described wrong moves made."
    )
    if entry.about["judge"]["is_stand_in"]:
        screen.note(
            f"Judge {entry.judge} is a deterministic stand-in, no judge to publish with. "
            "judge=NAME chooses a model: staffbench list judges."
        )


_VERDICTS: dict[tuple[bool, bool | None], str] = {
    (False, False): "not met",
    (True, False): "made",
    (False, None): "no verdict",
    (True, None): "no verdict",
    (False, True): "met",
    (True, True): "not made",
}
"""The verdict on an item in words, by whether it is a wrong move and whether it passed; failures first."""


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
