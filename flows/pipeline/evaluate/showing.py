"""Print the leaderboard, task table and failures of a finished run; compute its exit code."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from flows.adapters.screen import Screen, calls_text
from flows.common.errors import BudgetReached, Stopped
from flows.common.text import number, plural
from flows.pipeline.results.graded import Graded, in_order, scored
from flows.pipeline.results.leaderboard import board_file, part_of
from flows.pipeline.results.leaderboard.tasks import narrow, published_note, task_table
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ProtocolName, ScoringSettings, Settings
from flows.stages.notes import main_notes, notes
from flows.stages.table import screen_table, shown_rows, word_columns

if TYPE_CHECKING:
    from flows.pipeline.evaluate.job import Finished, Job


INCOMPLETE = 4
"""Exit code of a run that finished with items that have no verdict."""

_SHOWN_FAILURES = 5
_SHOWN_NOTES = 3
_RESULTS = "results"  # the folder in conf/config.yaml


def show_results(job: Job) -> None:
    """Show the leaderboard, or the one brief, the paid calls and the paths of the results."""
    from flows.pipeline.evaluate.job import counts
    from flows.pipeline.orchestration.cached_tasks import TaskRuns

    context, finished, screen = job.context, job.finished, job.screen
    first = context.evaluations[0]
    folder = context.results / first.condition.benchmark
    if (found := finished.board) is not None:
        board, scoring = found.leaderboard, first.settings.scoring
        if not TaskRuns.enabled and len(context.evaluations) == 1:
            name = (first.condition.label, first.judge.label)
            entry = next(one for one in found.graded if (one.condition, one.judge) == name)
            show_brief(screen, entry, first.scenarios[0], scoring)
        else:
            new = {(e.condition.label, e.judge.label) for e, _ in finished.outcomes}
            where = display_path(folder / board_file(folder, board.scoring))
            show_board(screen, board, found.graded, new, where)
            shown, graded = board, found.graded
            if screen.only_this_run:
                graded = [one for one in graded if (one.condition, one.judge) in new]
                shown = part_of(board, graded)
            show_tasks(screen, shown, graded, found.scenarios, scoring)
    if context.client is not None:
        screen.note(calls_text(counts(context)))
    if found is not None:
        screen.note(f"Results: {display_path(folder)}/ (tables in briefs/, verdicts/, scores/; settings/)")
        show_hint(job, "Pages, with every brief and verdict", "report")


def show_hint(job: Job, what: str, command: str) -> None:
    """Say what to type next, unless the run failed."""
    if not job.finished.faults:
        settings = job.context.evaluations[0].settings
        job.screen.hint(what, command_hint(command, job.context.project, settings))


def show_board(
    screen: Screen,
    board: Leaderboard,
    graded: Sequence[Graded],
    highlighted: AbstractSet[tuple[str, str]],
    where: str = "",
) -> None:
    """Print the leaderboard for a person, and the notes that matter most for its rows.

    Args:
        screen: output; with `only_this_run`, other rows are left out.
        board: the leaderboard.
        graded: what it was built from.
        highlighted: condition and judge of the rows of this run.
        where: path of the file with every column and note.
    """
    total = len(notes(board)) + len(board.left_out)
    if screen.only_this_run:
        board = part_of(board, [one for one in graded if (one.condition, one.judge) in highlighted])
    if not board.rows:
        return
    title = f"{board.benchmark}: leaderboard ({board.scoring} scoring)"
    shown = screen_table(board.rows, highlighted)
    if not screen.fits(shown.rows, shown.words):
        shown = screen_table(board.rows, highlighted, folded=True)
    if screen.wide:
        screen.table(title, shown_rows(board), shown.marked, words=word_columns(board))
    else:
        screen.table(title, shown.rows, shown.marked, words=shown.words, caption=shown.caption)
    main = main_notes(board)[:_SHOWN_NOTES]
    for note in main:
        screen.bullet(note)
    if where:
        more = "" if screen.wide else "more columns (or --wide) and "
        screen.bullet(f"{where}: {more}{plural(str(total), 'note')}.")


def show_tasks(
    screen: Screen,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> None:
    """Print the table of tasks with their scores; nothing if the scenarios are no tasks."""
    if any(scenario.task is not None for scenario in scenarios.values()):
        ordered = in_order(graded, board)
        rows = narrow(task_table(ordered, scenarios, scoring))
        title = f"{board.benchmark}: score on each task, mean of its attempts"
        screen.table(title, rows)
        for note in published_note(ordered, scenarios):
            screen.bullet(note)


def show_brief(screen: Screen, entry: Graded, scenario: Scenario, scoring: ScoringSettings) -> None:
    """Print the score of one brief and the verdict on every item, failed ones first."""
    estimate = scored(entry, {scenario.scenario_id: scenario}, scoring).estimate
    verdicts = {verdict.item_id: verdict.passed for verdict in entry.verdicts}
    rows: list[tuple[int, tuple[str, str, str]]] = []
    counts = {True: [0, 0], False: [0, 0]}
    for item in scenario.items:
        passed = verdicts.get(item.item_id)
        word = _VERDICTS[item.is_error, passed]
        weight = item.points if item.severity is None else item.severity.replace("_", " ")
        rows.append((list(_VERDICTS.values()).index(word), (word, str(weight), item.requirement)))
        counts[item.is_error][0] += passed is (not item.is_error)
        counts[item.is_error][1] += 1
    rows.sort(key=lambda row: row[0])
    table = [("verdict", "severity", "requirement or wrong move"), *(row for _, row in rows)]
    screen.table(f"{scenario.scenario_id}: {entry.model}, judged by {entry.judge}", table, words=3)
    met, made = counts[False], counts[True]
    unjudged = sum(verdicts.get(item.item_id) is None for item in scenario.items if item.is_error)
    moves = f"{made[0]} of {made[1]} described wrong moves made"
    if unjudged:
        moves = f"{plural(unjudged, 'described wrong move')} not judged" + (f", {moves}" if made[0] else "")
    screen.note(
        f"Score {number(estimate.score)} (1 is every requirement and no wrong move): "
        f"{met[0]} of {met[1]} requirements met, {moves}."
    )
    if entry.is_stand_in:
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


def exit_code(finished: Finished, results: Path, screen: Screen) -> int:
    """Print each distinct error once and return the exit code of a run whose results are in `results`."""
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
        kinds = _kinds(finished, results)
        screen.fault(f"{ungraded} items have no verdict; they are counted, not scored: {kinds}")
        screen.fault(
            "The same command retries failed calls and unparsable replies (retry=refused: also refusals; "
            "retry=partial: also texts without a known end)."
        )
        return INCOMPLETE
    return 0


def _kinds(finished: Finished, results: Path) -> str:
    """Count the missing verdicts by kind, with the first reason of each and the file that has all."""
    kinds: Counter[str] = Counter()
    first: dict[str, tuple[str, str]] = {}
    for evaluation, ended in finished.outcomes:
        condition = evaluation.condition
        folder = results / condition.benchmark / "verdicts" / condition.label
        file = display_path(folder / f"{evaluation.judge.label}.parquet")
        for status, (count, reason) in ended.unjudged.items():
            kinds[status] += count
            first.setdefault(status, (reason, file))
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    reasons = "; ".join(f"{kind}, first: {reason} (all in {file})" for kind, (reason, file) in first.items())
    return f"{counts}. {reasons}."


def _failures(finished: Finished) -> list[str]:
    """Return the first few reasons for missing briefs, such as a prompt that does not fit."""
    # Several judges may have graded the same briefs.
    reasons = list(dict.fromkeys(line for _, ended in finished.outcomes for line in ended.missing))
    more = [f"... and {len(reasons) - _SHOWN_FAILURES} more"] if len(reasons) > _SHOWN_FAILURES else []
    return [*reasons[:_SHOWN_FAILURES], *more]


def display_path(path: Path) -> str:
    """Format a path relative to the current folder, if it is below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def prefect_command(project: Path) -> str:
    """Return what keeps Prefect's server and page running: a clone has it in its Makefile."""
    return (
        "make prefect" if (project / "Makefile").is_file() else "PREFECT_HOME=.prefect prefect server start"
    )


def command_hint(command: str, project: Path, settings: Settings) -> str:
    """Return a command with the benchmark and the results folder in use."""
    benchmark, parts = settings.benchmark, ["staffbench", command]
    if (project / "conf" / "benchmark" / f"{benchmark.name}.yaml").is_file():
        parts += [f"benchmark={benchmark.name}"] if benchmark.name != ProtocolName.ma_bench.value else []
    else:  # another name for other data under the same protocol
        parts += [f"benchmark={benchmark.protocol.value}", f"benchmark.name={benchmark.name}"]
        parts.append(shlex.quote(f"benchmark.data={benchmark.data}"))
    if settings.results != _RESULTS:
        parts.append(shlex.quote(f"results={settings.results}"))
    return " ".join(parts)
