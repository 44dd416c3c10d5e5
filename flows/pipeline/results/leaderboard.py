"""Build leaderboards from stored verdicts by any weights, without model calls or Prefect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from flows.common.files import write_whole
from flows.adapters.objects import ObjectStore
from flows.pipeline.results.graded import Graded, scored
from flows.pipeline.results.judge_agreement import judge_note
from flows.pipeline.results.served import served_notes
from flows.pipeline.results.stored import differences
from flows.pipeline.results.task_table import WORDS, published_note, task_table, to_markdown_table
from flows.schema.brief import BriefStatus
from flows.common.errors import StoreError
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Scenario
from flows.schema.settings import DEFAULT_SCORINGS, Harness, ScoringSettings
from flows.stages.aggregate import most_unlike
from flows.stages.table import call_notes, to_csv, to_json, to_markdown, to_metrics


def build_leaderboard(
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    objects: ObjectStore,
    left_out: Sequence[str] = (),
) -> Leaderboard:
    """Score and rank the graded conditions.

    Args:
        graded: from `load_graded`.
        scenarios: by id.
        scoring: the weights.
        objects: cache of the offline judge's agreement.
        left_out: unusable results, one line each; the board lists them.

    Raises:
        StaffbenchError: verdicts do not match their rubric.
    """
    rows = [_row(entry, scenarios, scoring) for entry in graded]
    rows.sort(key=lambda row: (row.score is None, -(row.score or 0.0), row.condition, row.judge_id))
    judges: dict[str, list[Graded]] = {}
    for entry in graded:
        judges.setdefault(entry.judge, []).append(entry)
    assumed = [f"{name} weighs {scoring.weights[name]:+g}" for name in scoring.assumed]
    return Leaderboard(
        benchmark=str(graded[0].about["condition"]["benchmark"]) if graded else "",
        scoring=scoring.name,
        rows=tuple(rows),
        judges=tuple(judge_note(own, scenarios, objects) for _, own in sorted(judges.items())),
        assumptions=(*assumed, *_assumed_limits(graded)),
        model_notes=tuple(sorted(_model_notes(graded))),
        differences=(*differences(graded), *served_notes(graded)),
        left_out=tuple(left_out),
    )


def _assumed_limits(graded: Sequence[Graded]) -> list[str]:
    """List the assumed limits of the native harness that models worked under, each once."""
    found = {
        f"harness.{name} is {'no limit' if value is None else value}"
        for entry in graded
        for name, value in entry.about.get("harness_assumed", {}).items()
    }
    return sorted(found)


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
    by_name = {(entry.condition, entry.judge): entry for entry in graded}
    rows = task_table([by_name[row.condition, row.judge_id] for row in board.rows], scenarios, scoring)
    path = folder / _task_file(board.scoring)
    title = f"# {board.benchmark}: score on each task ({board.scoring} scoring)"
    notes = [*published_note(graded, scenarios), *call_notes(board)]
    below = "".join(f"\n- {note}" for note in notes)
    write_whole(path, f"{title}\n\n{to_markdown_table(rows, WORDS)}{below}{chr(10) * bool(below)}")
    return [path]


def write_leaderboard(folder: Path, board: Leaderboard) -> list[Path]:
    """Write the board as JSON, CSV, Markdown and metrics; non-default weights get files of their own.

    Raises:
        StoreError: a file can't be written.
    """
    texts = (to_json(board), to_csv(board), to_markdown(board), to_metrics(board))
    paths = [folder / name for name in _board_files(board.scoring)]
    for path, text in zip(paths, texts, strict=True):
        write_whole(path, text)
    return paths


def delete_leaderboard(folder: Path, scoring: str) -> list[Path]:
    """Delete the board and the table of tasks, which would be outdated without rows.

    Args:
        folder: `results/<benchmark>/`.
        scoring: name of the weights; files of other weights are kept.

    Returns:
        The deleted files, which can be rebuilt from verdicts.

    Raises:
        StoreError: a file can't be deleted.
    """
    paths = [folder / name for name in (*_board_files(scoring), _task_file(scoring))]
    found = [path for path in paths if path.is_file()]
    for path in found:
        try:
            path.unlink()
        except OSError as error:
            raise StoreError(path, f"can't be deleted ({error.strerror})", remedy="fix the permissions") from error
    return found


def _board_files(scoring: str) -> tuple[str, ...]:
    """Return the file names for JSON, CSV, Markdown and metrics."""
    suffix = "" if scoring in DEFAULT_SCORINGS else f".{scoring}"
    endings = ("json", "csv", "md")
    return (*(f"leaderboard{suffix}.{ending}" for ending in endings), f"metrics{suffix}.json")


def _task_file(scoring: str) -> str:
    return "tasks.md" if scoring in DEFAULT_SCORINGS else f"tasks.{scoring}.md"


def _row(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> LeaderboardRow:
    about = entry.about
    condition, judge = about["condition"], about["judge"]
    estimate = scored(entry, scenarios, scoring).estimate
    interval = estimate.interval
    statuses = [BriefStatus(brief["status"]) for brief in entry.briefs]
    return LeaderboardRow(
        model=condition["model"],
        effort=condition["effort"],
        word_cap=condition["word_cap"],
        prompt=condition["prompt"],
        harness=condition["harness"],
        judge=judge["name"],
        score=estimate.score,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_level=scoring.interval_level if interval else None,
        ci_method=interval.method if interval else None,
        score_low=estimate.score_low,
        score_high=estimate.score_high,
        score_clamped=estimate.score_clamped,
        correct=estimate.correct,
        passed=estimate.passed,
        wrong=estimate.wrong,
        n_scenarios=estimate.n_scenarios,
        n_scenarios_all=estimate.n_scenarios_all,
        n_briefs=estimate.n_briefs,
        n_briefs_all=estimate.n_briefs_all,
        n_ungraded=estimate.n_ungraded,
        n_refused=statuses.count(BriefStatus.refused),
        n_error=statuses.count(BriefStatus.error),
        n_empty=statuses.count(BriefStatus.empty),
        n_cut=sum(bool(brief["cut"]) for brief in entry.briefs),
        n_cut_by_provider=sum(bool(brief["cut_by_provider"]) for brief in entry.briefs),
        n_hidden=len(about.get("hidden_characters", ())),
        n_noticed=sum(
            brief["status"] == BriefStatus.written.value and bool(brief["detail"]) for brief in entry.briefs
        ),
        words_raw=_mean([brief["words_raw"] for brief in entry.briefs]),
        words_kept=_mean([brief["words_kept"] for brief in entry.briefs]),
        self_judged=bool(about["self_judged"]),
        condition=condition["label"],
        judge_id=judge["label"],
        condition_digest=condition["digest"],
        judge_digest=judge["digest"],
        n_over_limit=_over_limit(entry.reports.values()),
        n_unmeasured=_unmeasured(entry.reports.values()),
        n_missing=statuses.count(BriefStatus.missing),
        n_corrupt=statuses.count(BriefStatus.corrupt),
        ci_unlike=most_unlike(interval, estimate.n_scenarios, scoring.interval_level),
        judge_call=judge.get("harness"),  # imported and older files don't say
        n_all_met=_all_met(entry) if condition["harness"] != Harness.single_prompt.value else None,
        n_at_limit=sum(report.ended.startswith("limit") for report in entry.reports.values()),
    )


def _all_met(entry: Graded) -> int:
    """Number of reports with every verdict passed; those without a verdict are not counted."""
    return sum(all(verdict.passed for verdict in verdicts) for verdicts in entry.by_brief.values())


def _over_limit(reports: Iterable[ReportFacts]) -> int | None:
    """Number of reports over a measured limit; None if no limit was measured."""
    limits = [[measure.within for measure in report.length] for report in reports]
    measured = [within for within in limits if any(value is not None for value in within)]
    return sum(False in within for within in measured) if measured else None


def _unmeasured(reports: Iterable[ReportFacts]) -> int | None:
    """Number of readable reports with an unmeasured limit; None if no report has a limit."""
    found = [report for report in reports if report.length and report.words is not None]
    if not found:
        return None
    return sum(any(measure.within is None for measure in report.length) for report in found)


def _model_notes(graded: Sequence[Graded]) -> set[tuple[str, str]]:
    """Label and note of every writer and judge that has one, except the offline judge."""
    found: set[tuple[str, str]] = set()
    for entry in graded:
        about = entry.about
        found.add((about["condition"]["model"], about["model_note"]))
        if not about["judge"]["is_stand_in"]:
            # Older files have no notes of judges.
            found.add((about["judge"]["name"], about.get("judge_note", "")))
    return {(label, note) for label, note in found if note}


def _mean(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
