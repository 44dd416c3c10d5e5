"""Write the Parquet files of a finished evaluation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flows.adapters.tables import (
    BRIEFS,
    JUDGE_CHATS,
    REPEATS,
    REPORTS,
    SCORES,
    TRAJECTORIES,
    VERDICTS,
    write_table,
)
from flows.common.digests import canonical_json, sha256_text
from flows.pipeline.results.graded import SCORE_VERSIONS, items_of
from flows.pipeline.results.settings_file import write_settings
from flows.pipeline.work.digests import judge_versions, rubric_digests, written_from
from flows.pipeline.work.judging import Judged
from flows.pipeline.work.run_context import Evaluation, Submission
from flows.schema.brief import Brief
from flows.schema.completion import Spent, spent_together
from flows.schema.condition import Condition
from flows.schema.document import Packet
from flows.schema.rows import as_row
from flows.schema.settings import JudgeKind, JudgeMode, Writer, scoring_suffix
from flows.schema.verdict import BriefScore, Estimate, Verdict

_BRIEF_KEYS = ("scenario_id", "seed")
_IDENTITY = ("benchmark", "model", "effort", "word_cap", "prompt", "harness")
CLASSES = ("step", "tier", "severity", "points")
CARRIED = ("written_from", "served", "judge_served", "spent", "n_canary_missed")
"""Metadata of tables that can't be computed again from their rows."""


@dataclass(frozen=True)
class Outcome:
    """Results of all stages of one evaluation."""

    # briefs, scores: of all scenarios and seeds.
    briefs: Sequence[Brief]
    judged: Mapping[str, Judged]  # the judge's results, by scenario
    scores: Sequence[BriefScore]
    estimate: Estimate  # of the condition
    submissions: Sequence[Submission] = ()  # report files with their trajectories; empty if briefs are text
    # served, judge_served: what `served` says of the writer's replies, and of the judge's.
    served: Mapping[str, Any] = field(default_factory=dict[str, Any])
    judge_served: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spent: Spent | None = None  # what the writer's replies cost; None if one of them is not stored

    @property
    def judge_spent(self) -> Spent:
        """What the judge's replies cost."""
        return spent_together(judged.spent for judged in self.judged.values())

    @property
    def verdicts(self) -> list[Verdict]:
        """Of all scenarios and seeds."""
        return [verdict for judged in self.judged.values() for verdict in judged.verdicts]

    @property
    def n_canary_missed(self) -> int | None:
        """Judge replies rejected because of a canary; None without canaries."""
        known = [judged.n_canary_missed for judged in self.judged.values()]
        return sum(missed for missed in known if missed is not None) if None not in known else None

    @property
    def is_whole(self) -> bool:
        """True if every item of every brief has a verdict."""
        return self.estimate.n_ungraded == 0


@dataclass(frozen=True)
class ResultFiles:
    """Paths of one evaluation's files below `results/<benchmark>/`."""

    # briefs, verdicts, scores: always written.
    briefs: Path
    verdicts: Path
    scores: Path
    repeats: Path  # written for a judge with repeats
    reports: Path  # written if briefs are Word files


def result_files(results: Path, evaluation: Evaluation) -> ResultFiles:
    """Return the paths of an evaluation: briefs by condition, verdicts and scores by condition and judge."""
    folder = results / evaluation.condition.benchmark
    condition, judge = evaluation.condition.label, evaluation.judge.label
    scores = judge + scoring_suffix(folder.name, evaluation.settings.scoring.name)
    return ResultFiles(
        folder / "briefs" / f"{condition}.parquet",
        folder / "verdicts" / condition / f"{judge}.parquet",
        folder / "scores" / condition / f"{scores}.parquet",
        folder / "repeats" / condition / f"{judge}.parquet",
        folder / "reports" / f"{condition}.parquet",
    )


def write_results(
    results: Path,
    evaluation: Evaluation,
    outcome: Outcome,
    packets: Iterable[Packet],
    *,
    carried: Mapping[str, Any] = {},
) -> ResultFiles:
    """Write the tables of an evaluation.

    `packets` may hold those of other scenarios. `carried` are the values of `CARRIED` from where it was run,
    for one that ran elsewhere.

    Raises:
        StoreError: a table can't be written.
    """
    files = result_files(results, evaluation)
    settings, condition, judge = evaluation.settings, evaluation.condition, evaluation.judge
    asked = settings.judge
    folder = results / condition.benchmark
    about: dict[str, Any] = {
        "condition": asdict(condition),
        "scenarios": [scenario.scenario_id for scenario in evaluation.scenarios],
        "seeds": settings.seeds,
        "model_note": settings.model.note,
        "briefs_digest": briefs_digest(outcome.briefs),
        "written_from": written_from(evaluation, packets),
    }
    if outcome.served:
        about["served"] = dict(outcome.served)
    about |= {name: carried[name] for name in ("written_from", "served") if name in carried}
    if settings.model.writer is Writer.remote:
        if settings.prompt.additions:
            about["prompt_additions"] = list(settings.prompt.additions)
        if outcome.submissions:
            harness = settings.harness
            about["harness_assumed"] = {name: getattr(harness, name) for name in harness.assumed}
    write_briefs(files.briefs, condition, outcome.briefs, about)
    write_submissions(folder, condition, outcome.submissions, about)
    about |= {
        "judge": asdict(judge),
        "judge_note": settings.judge.note,
        "judge_versions": judge_versions(evaluation),
        "rubrics": dict(rubric_digests(evaluation.scenarios)),
        "self_judged": evaluation.self_judged,
        "spent": {
            "writer": None if outcome.spent is None else asdict(outcome.spent),
            "judge": asdict(outcome.judge_spent),
        },
        "n_canary_missed": outcome.n_canary_missed,
        "judge_repeats": any(judged.repeats for judged in outcome.judged.values()),
        # Whether repeats of the judge are shown the rubric in different orders.
        "items_shuffled": asked.kind is JudgeKind.remote
        and asked.repeat > 1
        and asked.mode is not JudgeMode.per_item,
        "hidden_characters": {
            f"{scenario_id}/{seed}": list(kinds)
            for scenario_id, judged in outcome.judged.items()
            for seed, kinds in judged.hidden.items()
        },
    }
    if outcome.judge_served:
        about["judge_served"] = dict(outcome.judge_served)
    about |= carried
    names = {"condition": condition.label, "judge": judge.label}
    items = items_of(evaluation.scenarios).items()
    classes = {place: {name: getattr(item, name) for name in CLASSES} for place, item in items}
    repeats = [
        {**names, "repeat": number, **as_row(verdict)}
        for judged in outcome.judged.values()
        for number, verdict in judged.repeats
    ]
    if repeats:
        write_table(files.repeats, REPEATS, repeats, (*_BRIEF_KEYS, "item_id", "repeat"), about)
    chats = [
        {**names, "scenario_id": scenario_id, "seed": seed, "repeat": number, **turn}
        for scenario_id, judged in outcome.judged.items()
        for seed, number, events in judged.chats
        for turn in _turns(events)
    ]
    if chats:
        path = folder / "judge_chats" / condition.label / f"{judge.label}.parquet"
        write_table(path, JUDGE_CHATS, chats, (*_BRIEF_KEYS, "repeat", "turn"), about)
    scored = {"estimate": asdict(outcome.estimate), "score_versions": SCORE_VERSIONS}
    write_graded(
        (files.verdicts, files.scores),
        names,
        [(verdict, classes[verdict.scenario_id, verdict.item_id]) for verdict in outcome.verdicts],
        outcome.scores,
        outcome.briefs,
        about,
        {"scoring": asdict(settings.scoring), **scored},
    )
    write_settings(folder, evaluation)
    return files


def write_briefs(path: Path, condition: Condition, briefs: Sequence[Brief], about: Mapping[str, Any]) -> None:
    """Write the table of briefs."""
    head = {name: getattr(condition, name) for name in _IDENTITY}
    rows = [{"condition": condition.label, **head, **as_row(brief)} for brief in briefs]
    write_table(path, BRIEFS, rows, _BRIEF_KEYS, about)


def write_graded(  # noqa: PLR0917 -- what two tables are made of
    paths: tuple[Path, Path],
    names: Mapping[str, str],
    verdicts: Iterable[tuple[Verdict, Mapping[str, Any]]],
    scores: Iterable[BriefScore],
    briefs: Iterable[Brief],
    about: Mapping[str, Any],
    scoring: Mapping[str, Any],
) -> None:
    """Write the tables of verdicts and scores.

    Verdicts come with the `CLASSES` of their items. `scoring` is the metadata that scores have besides
    `about`.
    """
    rows = [{**names, **as_row(verdict), **classes} for verdict, classes in verdicts]
    write_table(paths[0], VERDICTS, rows, (*_BRIEF_KEYS, "item_id"), about)
    statuses = {(brief.scenario_id, brief.seed): brief.status.value for brief in briefs}
    names = {**names, "scoring": scoring["scoring"]["name"]}
    scored = [
        {**names, "brief_status": statuses[score.scenario_id, score.seed], **as_row(score)}
        for score in scores
    ]
    write_table(paths[1], SCORES, scored, _BRIEF_KEYS, {**about, **scoring})


def write_submissions(
    folder: Path, condition: Condition, submissions: Sequence[Submission], about: Mapping[str, Any]
) -> None:
    """Write the tables of reports and trajectories below `results/<benchmark>/`, where there are any."""
    reports: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    for submission in submissions:
        facts = submission.facts
        place = {"condition": condition.label, "scenario_id": facts.scenario_id, "seed": facts.seed}
        reports.append({**place, "harness": condition.harness, **as_row(facts)})
        turns += [{**place, **turn} for turn in _turns(submission.trajectory)]
    file = f"{condition.label}.parquet"
    if reports:
        write_table(folder / "reports" / file, REPORTS, reports, _BRIEF_KEYS, about)
    if turns:
        write_table(folder / "trajectories" / file, TRAJECTORIES, turns, (*_BRIEF_KEYS, "turn"), about)


def _turns(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"turn": number, "event": canonical_json(event)} for number, event in enumerate(events, 1)]


def briefs_digest(briefs: Sequence[Brief]) -> str:
    """SHA-256 of the graded texts, to detect verdicts on other briefs."""
    ordered = sorted(briefs, key=lambda brief: (brief.scenario_id, brief.seed))
    parts = [[b.scenario_id, b.seed, b.status.value, b.text, b.report] for b in ordered]
    return sha256_text(canonical_json([part if part[-1] is not None else part[:-1] for part in parts]))
