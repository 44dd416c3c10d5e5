"""Build leaderboards from stored verdicts by any weights, without model calls or Prefect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flows.common.files import write_whole
from flows.common.text import number
from flows.adapters.objects import ObjectStore
from flows.pipeline.results.graded import Graded, scored
from flows.pipeline.results.agreement.judges import judge_note
from flows.pipeline.results.served import served_notes
from flows.pipeline.results.stored import differences
from flows.pipeline.results.task_table import WORDS, published_note, task_table, to_markdown_table
from flows.schema.brief import BriefStatus
from flows.common.errors import StoreError
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Scenario
from flows.stages.shown import RowSettings, differing
from flows.schema.settings import Harness, Refusals, ScoringSettings, Writer, scoring_suffix
from flows.schema.verdict import VerdictStatus
from flows.stages.aggregate import covered_whole, most_unlike, ranked
from flows.stages.notes import call_notes, notes
from flows.stages.table import to_csv, to_json, to_markdown, to_metrics


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
    rows = _rows(graded, scenarios, scoring)
    judges: dict[str, list[Graded]] = {}
    for entry in graded:
        judges.setdefault(entry.judge, []).append(entry)
    assumed = [f"{name} weighs {scoring.weights[name]:+g}" for name in scoring.assumed]
    return Leaderboard(
        benchmark=str(graded[0].about["condition"]["benchmark"]) if graded else "",
        scoring=scoring.name,
        rows=tuple(rows),
        judges=tuple(judge_note(own, scenarios, objects, scoring) for _, own in sorted(judges.items())),
        assumptions=(
            *assumed,
            *_assumed_limits(graded),
            *_prompt_additions(graded),
            _assumed_refusals(scoring),
        ),
        model_notes=tuple(sorted(_model_notes(graded))),
        differences=(*differences(graded), *served_notes(graded)),
        left_out=tuple(left_out),
        rules=scoring,
        other_refusals=tuple(_other_refusals(rows, graded, scenarios, scoring)),
    )


def _prompt_additions(graded: Sequence[Graded]) -> list[str]:
    """List what each prompt asks of a model beyond the published one."""
    found = {
        (entry.about["condition"]["prompt"], addition)
        for entry in graded
        for addition in entry.about.get("prompt_additions", ())
    }
    asked: dict[str, list[str]] = {}
    for prompt, addition in sorted(found):
        asked.setdefault(prompt, []).append(addition)
    return [f"prompt {name} also asks for {'; '.join(texts)}" for name, texts in asked.items()]
def _row_settings(entry: Graded) -> RowSettings:
    condition, judge, found = entry.about["condition"], entry.about["judge"], entry.settings or {}
    return RowSettings(
        tuple(str(condition[name]) for name in ("model", "effort", "word_cap", "harness")) + (judge["name"],),
        condition["prompt"],
        (judge["name"], judge["effort"], judge["mode"], judge["prompt"]),
        (condition["digest"], judge["digest"]),
        found.get("settings"),
        found.get("changed", ()),
    )


def _spent(entry: Graded) -> dict[str, Any]:
    """Return the row's fields of cost; none for files without them."""
    parts: Mapping[str, Mapping[str, Any] | None] = entry.about.get("spent", {})
    return {
        f"{prefix}{name}": value
        for prefix, part in (("", parts.get("writer")), ("judge_", parts.get("judge")))
        if part is not None
        for name, value in part.items()
    }
def _assumed_refusals(scoring: ScoringSettings) -> str:
    rules = {Refusals.unscored: "has no score", Refusals.zero: "scores like an empty one"}
    return (
        f"a text that its writer refused {rules[scoring.refusals]} (scoring.refusals="
        f"{scoring.refusals.value}); MA-Bench's paper counts refusals as outputs and does not say how they score"
    )


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
    changed = replace(scoring, refusals=other)
    others = _rows(graded, scenarios, changed)
    found: list[str] = []
    for judge in sorted({row.judge_id for row in rows}):
        here, there = (
            [(row.rank, row.condition) for row in board if row.judge_id == judge and row.rank is not None]
            for board in (rows, others)
        )
        if here != there:
            places = [
                f"{row.rank} {row.condition} ({number(row.score)})"
                for row in others
                if row.judge_id == judge and row.rank is not None
            ]
            found.append(f"scoring.refusals={other.value}, judge {judge}: {', '.join(places) or 'no row is ranked'}")
    return found


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
    path = folder / _task_file(folder, board.scoring)
    title = f"# {board.benchmark}: score on each task ({board.scoring} scoring)"
    found = [*published_note(graded, scenarios), *call_notes(board)]
    below = "".join(f"\n- {note}" for note in found)
    write_whole(path, f"{title}\n\n{to_markdown_table(rows, WORDS)}{below}{chr(10) * bool(below)}")
    return [path]


def write_leaderboard(folder: Path, board: Leaderboard) -> list[Path]:
    """Write the board as JSON, CSV, Markdown and metrics; non-default weights get files of their own.

    Raises:
        StoreError: a file can't be written.
    """
    under = notes(board)
    texts = (to_json(board, under), to_csv(board), to_markdown(board, under), to_metrics(board))
    paths = [folder / name for name in _board_files(folder, board.scoring)]
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
    paths = [folder / name for name in (*_board_files(folder, scoring), _task_file(folder, scoring))]
    found = [path for path in paths if path.is_file()]
    for path in found:
        try:
            path.unlink()
        except OSError as error:
            raise StoreError(path, f"can't be deleted ({error.strerror})", remedy="fix the permissions") from error
    return found


def _board_files(folder: Path, scoring: str) -> tuple[str, ...]:
    """Return the file names for JSON, CSV, Markdown and metrics."""
    suffix = scoring_suffix(folder.name, scoring)
    endings = ("json", "csv", "md")
    return (*(f"leaderboard{suffix}.{ending}" for ending in endings), f"metrics{suffix}.json")


def _task_file(folder: Path, scoring: str) -> str:
    return f"tasks{scoring_suffix(folder.name, scoring)}.md"
def board_file(folder: Path, scoring: str) -> str:
    """Return the name of the Markdown file, which has all columns and notes."""
    return _board_files(folder, scoring)[2]


def _rows(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> list[LeaderboardRow]:
    """Build the rows, sorted and ranked."""
    differs = differing([_row_settings(entry) for entry in graded])
    return ranked(
        [
            (
                replace(_row(entry, scenarios, scoring), differs=pairs),
                covered_whole(scored(entry, scenarios, scoring).scores),
            )
            for entry, pairs in zip(graded, differs, strict=True)
        ]
    )


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
        ci_level=interval.level if interval else None,
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
        copied=condition["model"] == Writer.extractive.value and bool(judge["is_stand_in"]),
        ci_unlike=most_unlike(interval, estimate.n_scenarios),
        judge_call=judge.get("harness"),  # imported and older files don't say
        n_all_met=_all_met(entry) if condition["harness"] != Harness.single_prompt.value else None,
        n_at_limit=sum(report.ended.startswith("limit") for report in entry.reports.values()),
        **_spent(entry),
        n_partial=estimate.n_partial,
        n_texts=_texts(entry, scenarios, scoring),
        correct_empty=_correct_empty(entry, scenarios),
    )


def _texts(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> int | None:
    """Number of different scored texts, if seeds repeat texts that no model wrote; else None."""
    copies = entry.copies
    scores = scored(entry, scenarios, scoring).by_brief
    own = sum(score.score is not None for brief, score in scores.items() if brief not in copies)
    return own if copies else None


def _correct_empty(entry: Graded, scenarios: Mapping[str, Scenario]) -> float | None:
    """Share of correct items of empty briefs, averaged over scenarios; None if a rubric is unknown.

    Items that the judge does not grade by design don't count.
    """
    names = [str(name) for name in entry.about["scenarios"]]
    if entry.is_foreign or not names:
        return None
    unasked = {
        (v.scenario_id, v.item_id)
        for v in entry.verdicts
        if v.status is not VerdictStatus.graded and not v.status.is_missing
    }
    shares: list[float] = []
    for name in names:
        asked = [item.is_error for item in scenarios[name].items if (name, item.item_id) not in unasked]
        shares.append(sum(asked) / len(asked))
    return math.fsum(shares) / len(shares)


def _all_met(entry: Graded) -> int:
    """Number of reports with every verdict passed; one with a missing verdict is not counted.

    Criteria that the judge does not grade by its rules don't count.
    """
    return sum(
        all(verdict.passed for verdict in verdicts if verdict.status is not VerdictStatus.abstained)
        for verdicts in entry.by_brief.values()
    )


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
