"""One system of a Harbor job as briefs, verdicts and scores in our tables' form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.adapters.tables import BRIEFS, SCORES, VERDICTS, write_table
from flows.pipeline.harbor_report import Report
from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import canonical_json, sha256_text
from flows.schema.condition import Condition, Judge
from flows.schema.harbor import (
    HARBOR,
    REFUSALS,
    AttemptScore,
    CriterionVerdict,
    HarborJob,
    Outcome,
    SystemSummary,
)
from flows.schema.rows import as_row
from flows.schema.verdict import BriefScore, FailureMode, Verdict, VerdictStatus
from flows.stages.truncate import WORD_COUNTER, count_words, without_text

BENCHMARK = "mission_report"
SCORING = "harbor_reward"
"""Name of the weights: the verifier's own, whatever they are."""
_PROMPT = "task"  # the agent is sent the task's own instruction
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")
_BRIEF_KEYS = ("scenario_id", "seed")
_UNKNOWN_OF_FOREIGN_ITEMS = ("step", "tier", "severity")


def write_system(
    folder: Path, job: HarborJob, system: SystemSummary, reports: Mapping[str, Report]
) -> list[Path]:
    """Write the three tables of one system, whole.

    Args:
        folder: `results/<benchmark>`.
        job: where the attempts are from.
        system: the attempts, scored.
        reports: by name of the trial; a trial whose report nobody has is not in it.

    Raises:
        StoreError: one can't be written.
    """
    condition, judge = condition_of_system(job, system), judge_of_system(job, system)
    briefs = [_brief(attempt, reports.get(attempt.trial.name)) for attempt in system.attempts]
    known = known_criteria(system)
    verdicts = [verdict for attempt in system.attempts for verdict in verdicts_of(attempt, known)]
    about: dict[str, Any] = {
        "condition": asdict(condition),
        "scenarios": sorted(system.by_task),
        "seeds": max(attempt.trial.attempt for attempt in system.attempts),
        "model_note": "",
        "briefs_digest": sha256_text(canonical_json([as_row(brief) for brief in briefs])),
        "harbor": _about_harbor(job, system, known),
    }
    names = {"condition": condition.label, "judge": judge.label}
    head = {key: value for key, value in asdict(condition).items() if key not in ("label", "digest")}
    paths = [
        folder / "briefs" / f"{condition.label}.parquet",
        folder / "verdicts" / condition.label / f"{judge.label}.parquet",
        folder / "scores" / condition.label / f"{judge.label}.parquet",
    ]
    brief_rows = [{"condition": condition.label, **head, **as_row(brief)} for brief in briefs]
    write_table(paths[0], BRIEFS, brief_rows, _BRIEF_KEYS, about)
    about |= {"judge": asdict(judge), "rubrics": {}, "self_judged": system.model in judge.name.split(" + ")}
    # No file of a job says which area, tier or severity a criterion has: null, not a guess.
    unknown = dict.fromkeys(_UNKNOWN_OF_FOREIGN_ITEMS)
    rows = [{**names, **as_row(verdict), **unknown} for verdict in verdicts]
    write_table(paths[1], _nullable(VERDICTS), rows, (*_BRIEF_KEYS, "item_id"), about)
    scores: list[dict[str, Any]] = []
    for attempt, brief in zip(system.attempts, briefs, strict=True):
        own = [v for v in verdicts if (v.scenario_id, v.seed) == (brief.scenario_id, brief.seed)]
        more = {"scoring": SCORING, "brief_status": brief.status.value}
        scores.append({**names, **more, **as_row(score_row(attempt, own))})
    write_table(paths[2], SCORES, scores, _BRIEF_KEYS, {**about, "scoring": {"name": SCORING}})
    return paths


def condition_of_system(job: HarborJob, system: SystemSummary) -> Condition:
    """A condition of its own for each job, so that two jobs are never pooled."""
    effort = system.effort or "default"
    digest = sha256_text(
        canonical_json(
            {
                "benchmark": BENCHMARK,
                "harness": HARBOR,
                "version": job.version,
                "job": job.job_id or [job.name, sorted(trial.name for trial in job.trials)],
                "system": [system.agent, system.model, system.effort, system.dataset],
            }
        )
    )
    model = system.model or system.agent or "unknown"
    parts = [HARBOR, job.version or "unknown", system.agent or "unknown", model, effort, digest[:8]]
    return Condition(
        label=_label(parts),
        digest=digest,
        benchmark=BENCHMARK,
        model=model,
        effort=effort,
        word_cap=None,
        prompt=_PROMPT,
        harness=HARBOR,
    )


def judge_of_system(job: HarborJob, system: SystemSummary) -> Judge:
    """Whom the verifier's files name; `verifier` where they name nobody."""
    named = sorted({name for attempt in system.attempts for name in attempt.trial.judges})
    name = " + ".join(named) or "verifier"
    return Judge(
        label=_label([HARBOR, name]),
        digest=sha256_text(canonical_json({"harness": HARBOR, "version": job.version, "judges": named})),
        name=name,
        effort=None,
        mode=None,
        prompt=None,
        is_stand_in=False,
    )


def known_criteria(system: SystemSummary) -> dict[str, dict[str, CriterionVerdict]]:
    """The criteria of each task by id, from every attempt whose verifier wrote them."""
    known: dict[str, dict[str, CriterionVerdict]] = {}
    for attempt in system.attempts:
        for verdict in attempt.trial.criteria:
            known.setdefault(attempt.trial.task, {}).setdefault(verdict.criterion_id, verdict)
    return known


def verdicts_of(attempt: AttemptScore, known: Mapping[str, Mapping[str, CriterionVerdict]]) -> list[Verdict]:
    """The verdicts on one attempt.

    An attempt without a score has an `error` on each criterion that other attempts at its task
    show, so that it is counted as ungraded. A report that scores 0 without being judged has none.
    """
    trial = attempt.trial
    if not trial.criteria and attempt.score is None:
        return [
            Verdict(trial.task, trial.attempt, name, VerdictStatus.error, None, reason=attempt.detail)
            for name in known.get(trial.task, {})
        ]
    found: list[Verdict] = []
    for verdict in trial.criteria:
        status, mode, reason = VerdictStatus.graded, None, verdict.reason
        if verdict.passed is None:
            # A verdict that can't be read as passed or failed is none, whatever the judge wrote.
            status = VerdictStatus.unparsed
            reason = verdict.detail or f"met is {verdict.met}; {verdict.reason}"
        elif verdict.is_penalty and not verdict.passed:
            mode = FailureMode.committed
        found.append(
            Verdict(trial.task, trial.attempt, verdict.criterion_id, status, verdict.passed, mode, reason)
        )
    return found


def score_row(attempt: AttemptScore, verdicts: Sequence[Verdict]) -> BriefScore:
    """An attempt's score beside the counts of its verdicts.

    Shares are null unless every criterion has a verdict. An attempt without a score is bounded by
    0 and 1, between which the benchmark clamps each attempt.
    """
    n_graded = sum(verdict.passed is not None for verdict in verdicts)
    whole = bool(verdicts) and n_graded == len(verdicts)
    penalties = {v.criterion_id for v in attempt.trial.criteria if v.is_penalty}
    passed = {verdict.item_id for verdict in verdicts if verdict.passed}
    n_required = len(verdicts) - len(penalties)
    statuses = [verdict.status for verdict in verdicts]
    return BriefScore(
        scenario_id=attempt.trial.task,
        seed=attempt.trial.attempt,
        score=attempt.score,
        score_clamped=attempt.clamped,
        score_low=0.0 if attempt.score is None else attempt.score,
        score_high=1.0 if attempt.score is None else attempt.score,
        correct=len(passed) / len(verdicts) if whole else None,
        passed=len(passed - penalties) / n_required if whole and n_required else None,
        wrong=len(penalties - passed) if whole else None,
        n_items=len(verdicts),
        n_graded=n_graded,
        n_refused=statuses.count(VerdictStatus.refused),
        n_unparsed=statuses.count(VerdictStatus.unparsed),
        n_error=statuses.count(VerdictStatus.error),
    )


def _brief(attempt: AttemptScore, report: Report | None) -> Brief:
    trial = attempt.trial
    if report is None or report.text is None:
        refused = next((fault for fault in trial.faults if fault.kind in REFUSALS), None)
        status = BriefStatus.error if refused is None else BriefStatus.refused
        said = trial.report_detail or (report.detail if report else "")
        detail = f"{trial.report_state.value}: {said}"
        if refused is not None:
            detail = f"{refused.kind}: {refused.message}; {detail}"
        return without_text(trial.task, trial.attempt, status, detail, completion=None)
    words = count_words(report.text)
    return Brief(
        scenario_id=trial.task,
        seed=trial.attempt,
        status=BriefStatus.written if report.text.strip() else BriefStatus.empty,
        text=report.text,
        words_raw=words,
        words_kept=words,
        cut=False,
        cut_by_provider=False,
        word_counter=WORD_COUNTER,
        completion=None,
        detail=report.detail,
    )


def _about_harbor(
    job: HarborJob, system: SystemSummary, known: Mapping[str, Mapping[str, CriterionVerdict]]
) -> dict[str, Any]:
    """What our tables have no column for."""
    trials = [attempt.trial for attempt in system.attempts]
    return {
        "version": job.version,
        "job": job.name,
        "job_id": job.job_id,
        "agent": system.agent,
        "agent_versions": sorted({trial.agent_version for trial in trials if trial.agent_version}),
        "dataset": system.dataset,
        "tasks": {
            trial.task: {"name": trial.task_name, "checksum": trial.task_checksum}
            for trial in reversed(trials)
        },
        "means": {
            "job": system.reported,
            "harbor_0.25": system.mean_0_25,
            "harbor_0.26": system.mean_0_26,
            "ours": system.ours,
            "ours_low": system.ours_low,
            "ours_high": system.ours_high,
        },
        "counts": {outcome.value: system.counts.get(outcome, 0) for outcome in Outcome},
        "attempts": [
            [a.trial.task, a.trial.attempt, a.trial.name, a.outcome.value, a.trial.reward, a.detail]
            for a in system.attempts
        ],
        "criteria": {
            task: [[v.criterion_id, v.points, v.is_penalty, v.text] for v in criteria.values()]
            for task, criteria in known.items()
        },
        "damage": [[damage.where, damage.detail] for damage in job.damage],
    }


def _nullable(schema: Any) -> Any:
    """The schema with the columns open that no imported criterion can fill."""
    for name in _UNKNOWN_OF_FOREIGN_ITEMS:
        place = schema.get_field_index(name)
        schema = schema.set(place, schema.field(place).with_nullable(nullable=True))
    return schema


def _label(parts: Sequence[str]) -> str:
    return "-".join(_NOT_IN_FILE_NAMES.sub("_", part) for part in parts)
