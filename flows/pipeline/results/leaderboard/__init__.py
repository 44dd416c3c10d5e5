"""Build leaderboards from stored verdicts by any weights, without model calls or Prefect."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flows.adapters.objects import ObjectStore
from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.common.text import number
from flows.pipeline.results.agreement.judges import judge_note
from flows.pipeline.results.graded import Graded, in_order, scored
from flows.pipeline.results.leaderboard.differences import differences
from flows.pipeline.results.leaderboard.row import leaderboard_row
from flows.pipeline.results.leaderboard.tasks import WORDS, published_note, task_table
from flows.pipeline.results.served import served_notes
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.scenario import Scenario
from flows.schema.settings import Refusals, ScoringSettings, Settings, scoring_suffix
from flows.stages.aggregate import covered_whole, ranked
from flows.stages.differing import Pairs, RowSettings, differing
from flows.stages.notes import call_notes, notes
from flows.stages.table import markdown_table, to_csv, to_json, to_markdown, to_metrics


def build_leaderboard(
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    objects: ObjectStore,
    left_out: Sequence[str] = (),
) -> Leaderboard:
    """Score and rank the graded conditions.

    `left_out` are unusable results, one line each. `objects` caches the offline judge's agreement.

    Raises:
        StaffbenchError: verdicts do not match their rubric.
    """
    rows = _rows(graded, scenarios, scoring)
    judges: dict[str, list[Graded]] = {}
    for entry in graded:
        judges.setdefault(entry.judge, []).append(entry)
    return Leaderboard(
        benchmark=str(graded[0].about["condition"]["benchmark"]) if graded else "",
        scoring=scoring.name,
        rows=tuple(rows),
        judges=tuple(judge_note(own, scenarios, objects, scoring) for _, own in sorted(judges.items())),
        assumptions=tuple(_assumptions(graded, scoring)),
        model_notes=tuple(sorted(_model_notes(graded))),
        differences=row_differences(graded),
        left_out=tuple(left_out),
        rules=scoring,
        other_refusals=tuple(_other_refusals(rows, graded, scenarios, scoring)),
    )


def row_differences(graded: Sequence[Graded]) -> tuple[str, ...]:
    """Say how the rows of a table differ beyond its columns."""
    return (*differences(graded), *served_notes(graded))


def part_of(board: Leaderboard, graded: Sequence[Graded]) -> Leaderboard:
    """Return the board with the rows of `graded` alone; differences and assumptions are said of these.

    A row keeps the settings that tell it from the board's other rows.
    """
    wanted = {(entry.condition, entry.judge) for entry in graded}
    assumptions = board.assumptions if board.rules is None else tuple(_assumptions(graded, board.rules))
    return replace(
        board,
        rows=tuple(row for row in board.rows if (row.condition, row.judge_id) in wanted),
        differences=row_differences(graded),
        assumptions=assumptions,
    )


def _rows(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> list[LeaderboardRow]:
    return ranked(
        [
            (
                leaderboard_row(entry, scenarios, scoring, pairs),
                covered_whole(scored(entry, scenarios, scoring).scores),
            )
            for entry, pairs in zip(graded, differing_settings(graded), strict=True)
        ]
    )


def differing_settings(graded: Sequence[Graded]) -> list[Pairs]:
    """Return for each condition the settings that tell it from the others, as keys and values."""
    return differing([_row_settings(entry) for entry in graded])


def _row_settings(entry: Graded) -> RowSettings:
    condition, judge, found = entry.about["condition"], entry.about["judge"], entry.settings or {}
    return RowSettings(
        (*(str(condition[name]) for name in ("model", "effort", "word_cap", "harness")), judge["name"]),
        condition["prompt"],
        (judge["name"], judge["effort"], judge["mode"], judge["prompt"]),
        (condition["digest"], judge["digest"]),
        found.get("settings"),
        found.get("changed", ()),
    )


def _assumptions(graded: Sequence[Graded], scoring: ScoringSettings) -> list[str]:
    """Name our own weights, limits of the native harness, additions to prompts, and the rule for refusals."""
    weights = [f"{name} weighs {scoring.weights[name]:+g}" for name in scoring.assumed]
    limits = {
        f"harness.{name} is {'no limit' if value is None else value}"
        for entry in graded
        for name, value in entry.about.get("harness_assumed", {}).items()
    }
    asked: dict[str, set[str]] = {}
    for entry in graded:
        if additions := entry.about.get("prompt_additions"):
            asked.setdefault(entry.about["condition"]["prompt"], set()).update(additions)
    prompts = [f"prompt {name} also asks for {'; '.join(sorted(asked[name]))}" for name in sorted(asked)]
    rule = "has no score" if scoring.refusals is Refusals.unscored else "scores like an empty one"
    refusals = (
        f"a text that its writer refused {rule} (scoring.refusals={scoring.refusals.value}); MA-Bench's "
        "paper counts refusals as outputs and does not say how they score"
    )
    return [*weights, *sorted(limits), *prompts, refusals]


def _model_notes(graded: Sequence[Graded]) -> set[tuple[str, str]]:
    """Label and note of every writer and judge that has one, except the offline judge."""
    found = {(entry.model, entry.about["model_note"]) for entry in graded}
    # Older files have no notes of judges.
    judged = [entry.about for entry in graded if not entry.is_stand_in]
    found |= {(about["judge"]["name"], about.get("judge_note", "")) for about in judged}
    return {(label, note) for label, note in found if note}


def _other_refusals(
    rows: Sequence[LeaderboardRow],
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> list[str]:
    """Rank by the other rule for refusals; return a text for each judge whose ranking it changes."""
    if not any(entry.refused for entry in graded):
        return []
    other = Refusals.zero if scoring.refusals is Refusals.unscored else Refusals.unscored
    others = _rows(graded, scenarios, replace(scoring, refusals=other))
    found: list[str] = []
    for judge in sorted({row.judge_id for row in rows}):
        here, there = (
            [row for row in board if row.judge_id == judge and row.rank is not None]
            for board in (rows, others)
        )
        if [(row.rank, row.condition) for row in here] != [(row.rank, row.condition) for row in there]:
            places = [f"{row.rank} {row.condition} ({number(row.score)})" for row in there]
            ranking = ", ".join(places) or "no row is ranked"
            found.append(f"scoring.refusals={other.value}, judge {judge}: {ranking}")
    return found


def write_task_table(
    folder: Path,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> list[Path]:
    """Write `tasks.md`: each task with its score under each condition; nothing without tasks.

    Raises:
        StoreError: it can't be written.
    """
    if all(scenario.task is None for scenario in scenarios.values()):
        return []
    rows = task_table(in_order(graded, board), scenarios, scoring)
    path = folder / _task_file(folder, board.scoring)
    title = f"# {board.benchmark}: score on each task ({board.scoring} scoring)"
    found = [*published_note(graded, scenarios), *call_notes(board)]
    below = "".join(f"\n- {note}" for note in found)
    write_whole(path, f"{title}\n\n{markdown_table(rows, WORDS)}{below}{chr(10) * bool(below)}")
    return [path]


def write_leaderboard(folder: Path, board: Leaderboard, settings: Settings) -> list[Path]:
    """Write the board as JSON, CSV, Markdown and metrics; non-default weights get files of their own.

    Word cap and prompt of `settings` say which row of a model the metrics give its name.

    Raises:
        StoreError: a file can't be written.
    """
    under = notes(board)
    metrics = to_metrics(board, settings.word_cap.words, settings.prompt.version)
    texts = (to_json(board, under), to_csv(board), to_markdown(board, under), metrics)
    paths = [folder / name for name in _board_files(folder, board.scoring)]
    for path, text in zip(paths, texts, strict=True):
        write_whole(path, text)
    return paths


def leaderboard_files(folder: Path, scoring: str) -> list[Path]:
    """Return the files of the board and of the table of tasks that are there."""
    paths = [folder / name for name in (*_board_files(folder, scoring), _task_file(folder, scoring))]
    return [path for path in paths if path.is_file()]


def delete_leaderboard(folder: Path, scoring: str) -> list[Path]:
    """Delete the board and the table of tasks, which would be outdated without rows.

    Files of other weights than `scoring` are kept.

    Returns:
        The deleted files, which can be rebuilt from verdicts.

    Raises:
        StoreError: a file can't be deleted.
    """
    found = leaderboard_files(folder, scoring)
    for path in found:
        try:
            path.unlink()
        except OSError as error:
            why = f"can't be deleted ({error.strerror})"
            raise StoreError(path, why, remedy="fix the permissions") from error
    return found


def board_file(folder: Path, scoring: str) -> str:
    """Return the name of the Markdown file, which has more columns than a terminal, and all notes."""
    return _board_files(folder, scoring)[2]


def _board_files(folder: Path, scoring: str) -> tuple[str, ...]:
    suffix = scoring_suffix(folder.name, scoring)
    return (*(f"leaderboard{suffix}.{ending}" for ending in ("json", "csv", "md")), f"metrics{suffix}.json")


def _task_file(folder: Path, scoring: str) -> str:
    return f"tasks{scoring_suffix(folder.name, scoring)}.md"
