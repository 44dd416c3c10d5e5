"""Stored verdicts to leaderboards. Calls nobody, needs no Prefect, and takes any weights."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from flows.adapters.objects import ObjectStore
from flows.adapters.tables import BRIEFS, REPEATS, REPORTS, SCORES, VERDICTS, read_table, table_files
from flows.pipeline.batch import rubric_digest
from flows.pipeline.graded import Graded
from flows.pipeline.quality import judge_note
from flows.pipeline.scenarios import load, names_of
from flows.pipeline.stages import verdict_of
from flows.pipeline.task_table import WORDS, task_table, to_markdown_table
from flows.schema.brief import BriefStatus
from flows.schema.errors import StaffbenchError, StoreError
from flows.schema.harbor import HARBOR
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Scenario
from flows.schema.settings import DEFAULT_SCORINGS, ScoringSettings, Settings
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.aggregate import aggregate
from flows.stages.score import score_brief
from flows.stages.table import to_csv, to_json, to_markdown, to_metrics


def load_scenarios(
    project: Path, settings: Settings, loaded: Sequence[Scenario] = ()
) -> tuple[dict[str, Scenario], list[StaffbenchError]]:
    """Every scenario of the benchmark, by id, and what is wrong with those that can't be loaded.

    A broken one costs the results on it, which are left out and named, and nobody else's.

    Args:
        project: folder of the project.
        settings: which benchmark.
        loaded: these are not read again.
    """
    found = {scenario.scenario_id: scenario for scenario in loaded}
    problems: list[StaffbenchError] = []
    for name in names_of(project, settings.benchmark, None):
        if name not in found:
            try:
                found[name] = load(project, settings.benchmark, name)
            except StaffbenchError as error:
                problems.append(error)
    return dict(sorted(found.items())), problems


def load_graded(
    folder: Path, scenarios: Mapping[str, Scenario]
) -> tuple[list[Graded], list[StaffbenchError]]:
    """Everything that was graded below `results/<benchmark>/`, and what can't be relied on."""
    found: list[Graded] = []
    problems: list[StaffbenchError] = []
    for path in table_files(folder / "verdicts"):
        try:
            found.append(_load(folder, path, scenarios))
        except StaffbenchError as error:
            problems.append(error)
    return found, problems


def build_leaderboard(
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    objects: ObjectStore,
) -> Leaderboard:
    """Score what was graded, by `scoring`'s weights.

    Raises:
        StaffbenchError: verdicts that don't fit their rubric.
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
        assumptions=tuple(assumed),
        model_notes=tuple(sorted(_model_notes(graded))),
    )


def write_task_table(
    folder: Path,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> list[Path]:
    """Write `tasks.md`: each task with its score under each condition. Nothing where there are no tasks.

    Raises:
        StoreError: it can't be written.
    """
    if all(scenario.task is None for scenario in scenarios.values()):
        return []
    by_name = {(entry.condition, entry.judge): entry for entry in graded}
    rows = task_table([by_name[row.condition, row.judge_id] for row in board.rows], scenarios, scoring)
    path = folder / "tasks.md"
    write_text(path, f"# {board.benchmark}: score on each task\n\n{to_markdown_table(rows, WORDS)}")
    return [path]


def write_leaderboard(folder: Path, board: Leaderboard) -> list[Path]:
    """Write the board beside its verdicts; other weights than the default go to files of their own.

    Raises:
        StoreError: a file can't be written.
    """
    stem = "leaderboard" if board.scoring in DEFAULT_SCORINGS else f"leaderboard.{board.scoring}"
    texts = {
        f"{stem}.json": to_json(board),
        f"{stem}.csv": to_csv(board),
        f"{stem}.md": to_markdown(board),
        stem.replace("leaderboard", "metrics") + ".json": to_metrics(board),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        StoreError: it can't be written.
    """
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text, encoding="utf-8", newline="\n")
        scratch.replace(path)
    except OSError as error:
        with suppress(OSError):  # the folder itself may be what is wrong
            scratch.unlink()
        raise StoreError(
            path, f"can't be written ({error.strerror})", remedy="free space, or mend the rights"
        ) from error


def _load(folder: Path, path: Path, scenarios: Mapping[str, Scenario]) -> Graded:
    rows, about = read_table(path, VERDICTS)
    if about["condition"]["harness"] == HARBOR:
        return _load_foreign(folder, path, rows, about)
    if "hidden_characters" not in about:
        raise StoreError(path, "lacks what this version notes of a judge", remedy="run that condition again")
    model = about["condition"]["model"]
    again = f"run that condition again (model={model}); stored replies are not paid for again"
    for scenario_id, digest in about["rubrics"].items():
        if scenario_id not in scenarios:
            raise StoreError(
                path, f"verdicts on {scenario_id}, which is not there", "a scenario of the benchmark"
            )
        if rubric_digest(scenarios[scenario_id]) != digest:
            raise StoreError(
                path, f"verdicts on another rubric of {scenario_id}", "the rubric as it is", again
            )
    briefs_path = folder / "briefs" / f"{about['condition']['label']}.parquet"
    briefs, brief_about = read_table(briefs_path, BRIEFS)
    if brief_about["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(
            path, f"verdicts on other briefs than {briefs_path.name} holds", "verdicts on these", again
        )
    return Graded(
        about,
        briefs,
        [verdict_of(row) for row in rows],
        _load_repeats(folder, about, again),
        _load_reports(folder, about, briefs, again),
    )


def _load_reports(
    folder: Path, about: Mapping[str, Any], briefs: Sequence[Mapping[str, Any]], again: str
) -> dict[tuple[str, int], ReportFacts]:
    """What is known of the reports' files, where briefs are some."""
    if all(brief["report"] is None for brief in briefs):
        return {}
    path = folder / "reports" / f"{about['condition']['label']}.parquet"
    rows, found = read_table(path, REPORTS)
    if found["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(path, "of another run than the briefs", "both of one run", again)
    kept = {field.name for field in fields(ReportFacts)}
    facts = [ReportFacts(**{key: value for key, value in row.items() if key in kept}) for row in rows]
    return {(one.scenario_id, one.seed): one for one in facts}


def _load_foreign(
    folder: Path, path: Path, rows: Sequence[dict[str, Any]], about: Mapping[str, Any]
) -> Graded:
    """An imported job: its tasks need not be here, and its verifier's rewards stand."""
    names = about["condition"]["label"], about["judge"]["label"]
    again = "import that job again"
    briefs, brief_about = read_table(folder / "briefs" / f"{names[0]}.parquet", BRIEFS)
    scores, score_about = read_table(folder / "scores" / names[0] / f"{names[1]}.parquet", SCORES)
    for other in (brief_about, score_about):
        if other["briefs_digest"] != about["briefs_digest"]:
            raise StoreError(path, "of another import than its briefs or scores", "all of one import", again)
    kept = {field.name for field in fields(BriefScore)}
    rewards = [BriefScore(**{key: value for key, value in row.items() if key in kept}) for row in scores]
    return Graded(about, briefs, [verdict_of(row) for row in rows], scores=rewards)


def _load_repeats(folder: Path, about: Mapping[str, Any], again: str) -> list[tuple[int, Verdict]]:
    """What the judge said at each repeat, where it was asked more than once."""
    if not about["judge_repeats"]:
        return []
    path = folder / "repeats" / about["condition"]["label"] / f"{about['judge']['label']}.parquet"
    rows, found = read_table(path, REPEATS)
    if found != about:
        raise StoreError(path, "of another run than the verdicts", "both of one run", again)
    return [(row["repeat"], verdict_of(row)) for row in rows]


def _row(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> LeaderboardRow:
    about = entry.about
    condition, judge, names = about["condition"], about["judge"], list(about["scenarios"])
    if entry.scores is not None:
        seeds = dict(Counter(score.scenario_id for score in entry.scores))
        # The protocol says whether attempts are clamped, whatever weights the other rows are shown by.
        clamped = bool(about["harbor"].get("clamped", True))  # imports used to be of reports alone
        estimate = aggregate(entry.scores, names, seeds, replace(scoring, clamped=clamped))
    else:
        scores = [
            score_brief(scenarios[name].items, verdicts, scoring)
            for (name, _), verdicts in entry.by_brief.items()
        ]
        estimate = aggregate(scores, names, int(about["seeds"]), scoring)
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
    )


def _over_limit(reports: Iterable[ReportFacts]) -> int | None:
    """Reports over a limit that was measured; None where none was."""
    within = [[measure.within for measure in report.length] for report in reports]
    known = [kept for kept in within if any(one is not None for one in kept)]
    return sum(False in kept for kept in known) if known else None


def _model_notes(graded: Sequence[Graded]) -> set[tuple[str, str]]:
    """Label and note of every writer and judge that has one. The stand-in's judge note says it already."""
    found: set[tuple[str, str]] = set()
    for entry in graded:
        about = entry.about
        found.add((about["condition"]["model"], about["model_note"]))
        if not about["judge"]["is_stand_in"]:
            # Files written before notes of judges were kept have none.
            found.add((about["judge"]["name"], about.get("judge_note", "")))
    return {(label, note) for label, note in found if note}


def _mean(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
