"""Write the attempts of one system of a Harbor job as briefs, verdicts and scores tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.adapters.tables import BRIEFS, SCORES, VERDICTS, write_table
from flows.common.digests import canonical_json, sha256_text
from flows.pipeline.harbor.parts import Part
from flows.pipeline.harbor.submitted import OpenedSubmission
from flows.pipeline.harbor.verdicts import score_row, verdicts_of
from flows.pipeline.inputs.submission_check import WORD_RULE
from flows.schema.brief import Brief, BriefStatus
from flows.schema.condition import Condition, Judge, file_name
from flows.schema.harbor import (
    HARBOR,
    AttemptScore,
    HarborError,
    Outcome,
    SystemSummary,
)
from flows.schema.rows import as_row
from flows.schema.settings import ProtocolName
from flows.stages.harbor_summary import status_of
from flows.stages.truncate import WORD_COUNTER

SCORING = "harbor_reward"
"""Name of the verifier's weights."""
_PROMPT = "task"  # the agent gets the task's instruction
_BRIEF_KEYS = ("scenario_id", "seed")


def check_bounds(part: Part) -> None:
    """Refuse attempts that have neither a score nor a lower bound.

    Raises:
        HarborError: there is such an attempt.
    """
    for system in part.systems:
        for attempt in system.attempts:
            task = attempt.trial.task
            if attempt.score is None and part.low(task) is None:
                raise HarborError(
                    attempt.trial.name,
                    f"no score, and the lowest possible score of {task} is unknown",
                    f"a verdict on another attempt, or the scenario {task} of {part.origin.benchmark}",
                    "import the job in the project that exported it",
                )


def write_system(results: Path, part: Part, system: SystemSummary) -> list[Path]:
    """Write the three tables of one system.

    Args:
        results: the results folder; tables go to `results/<benchmark>`.
        part: the part of the job.
        system: the scored attempts.

    Raises:
        HarborError: as `check_bounds`.
        StoreError: a table can't be written.
    """
    check_bounds(part)
    condition, judge = condition_of_system(part, system), judge_of_system(part, system)
    briefs = [_brief(part.origin.protocol, attempt, part.submissions) for attempt in system.attempts]
    verdicts = [verdict for attempt in system.attempts for verdict in verdicts_of(attempt, part.known)]
    about: dict[str, Any] = {
        "condition": asdict(condition),
        "scenarios": sorted(system.by_task),
        "seeds": max(attempt.trial.attempt for attempt in system.attempts),
        "model_note": "",
        "briefs_digest": sha256_text(canonical_json([as_row(brief) for brief in briefs])),
        "harbor": _about_harbor(part, system),
    }
    names = {"condition": condition.label, "judge": judge.label}
    head = {key: value for key, value in asdict(condition).items() if key not in ("label", "digest")}
    folder = results / part.origin.benchmark
    paths = [
        folder / "briefs" / f"{condition.label}.parquet",
        folder / "verdicts" / condition.label / f"{judge.label}.parquet",
        folder / "scores" / condition.label / f"{judge.label}.parquet",
    ]
    brief_rows = [{"condition": condition.label, **head, **as_row(brief)} for brief in briefs]
    write_table(paths[0], BRIEFS, brief_rows, _BRIEF_KEYS, about)
    about |= {"judge": asdict(judge), "rubrics": {}, "self_judged": _is_self_judged(part, system)}
    rows = [
        {
            **names,
            **as_row(verdict),
            # Criteria have none of these; unknown points are null.
            "step": None,
            "tier": None,
            "severity": None,
            "points": part.known[verdict.scenario_id][verdict.item_id].points,
        }
        for verdict in verdicts
    ]
    write_table(paths[1], VERDICTS, rows, (*_BRIEF_KEYS, "item_id"), about)
    scores: list[dict[str, Any]] = []
    for attempt, brief in zip(system.attempts, briefs, strict=True):
        on_brief = [v for v in verdicts if (v.scenario_id, v.seed) == (brief.scenario_id, brief.seed)]
        more = {"scoring": SCORING, "brief_status": brief.status.value}
        low = part.low(attempt.trial.task)
        scores.append({**names, **more, **as_row(score_row(attempt, on_brief, low))})
    write_table(paths[2], SCORES, scores, _BRIEF_KEYS, {**about, "scoring": {"name": SCORING}})
    return paths


def condition_of_system(part: Part, system: SystemSummary) -> Condition:
    """Build a condition that is unique to the part and job, so that two are never pooled."""
    job, origin = part.job, part.origin
    effort = system.effort or "default"
    digest = sha256_text(
        canonical_json(
            {
                "benchmark": origin.benchmark,
                "harness": HARBOR,
                "version": job.version,
                "job": job.job_id or [job.name, sorted(trial.name for trial in job.trials)],
                "system": [system.agent, system.model, system.effort, system.dataset],
                "graded": [origin.protocol.value, origin.word_cap, origin.scoring],
            }
        )
    )
    model = system.model or system.agent or "unknown"
    parts = [HARBOR, job.version or "unknown", system.agent or "unknown", model, effort, digest[:8]]
    return Condition(
        label=file_name(parts),
        digest=digest,
        benchmark=origin.benchmark,
        model=model,
        effort=effort,
        word_cap=origin.word_cap,
        prompt=_PROMPT,
        harness=HARBOR,
    )


def judge_of_system(part: Part, system: SystemSummary) -> Judge:
    """Build the judge that the verifier's files name, else `verifier`.

    It counts as a stand-in if any attempt was graded by one.
    """
    named = sorted({name for attempt in system.attempts for name in attempt.trial.judges})
    name = " + ".join(named) or "verifier"
    content = {"harness": HARBOR, "version": part.job.version, "judges": named}
    return Judge(
        label=file_name([HARBOR, name]),
        digest=sha256_text(canonical_json(content)),
        name=name,
        effort=None,
        mode=None,
        prompt=None,
        is_stand_in=any(part.attributions[a.trial.name].stand_in for a in system.attempts),
    )


def _is_self_judged(part: Part, system: SystemSummary) -> bool:
    """True if a model graded its own work; provider prefixes are ignored."""
    names = {name for a in system.attempts for name in part.attributions[a.trial.name].judge_names}
    names |= {name for a in system.attempts for name in a.trial.judges}
    return bool(system.model) and _bare(system.model) in {_bare(name) for name in names}


def _bare(model: str) -> str:
    return model.rpartition("/")[2]


def _brief(
    protocol: ProtocolName, attempt: AttemptScore, submissions: Mapping[str, OpenedSubmission]
) -> Brief:
    trial = attempt.trial
    submission = submissions.get(trial.name)
    if submission is not None and submission.brief is not None:
        return submission.brief
    why = trial.report_detail or (submission.detail if submission else "")
    status = status_of(trial)
    detail = f"{trial.report_state.value}: {why}"
    if status is BriefStatus.written:  # it was graded there, and its file is not readable here
        status = BriefStatus.error
    if status is BriefStatus.refused and trial.refusal is not None:
        detail = f"{trial.refusal.kind}: {trial.refusal.message}; {detail}"
    text, words = ("", 0) if status is BriefStatus.empty else (None, None)
    return Brief(
        scenario_id=trial.task,
        seed=trial.attempt,
        status=status,
        text=text,
        words_raw=words,
        words_kept=words,
        cut=False,
        cut_by_provider=False,
        word_counter=WORD_RULE if protocol is ProtocolName.mission_report else WORD_COUNTER,
        completion=None,
        detail=detail,
    )


def _about_harbor(part: Part, system: SystemSummary) -> dict[str, Any]:
    """Return metadata that our tables have no column for."""
    job = part.job
    trials = [attempt.trial for attempt in system.attempts]
    return {
        "version": job.version,
        "job": job.name,
        "job_id": job.job_id,
        "agent": system.agent,
        "agent_versions": sorted({trial.agent_version for trial in trials if trial.agent_version}),
        "dataset": system.dataset,
        "scoring": part.origin.scoring,
        "clamped": part.is_clamped,
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
            for task, criteria in sorted(part.known.items())
            if task in system.by_task
        },
        "damage": [[damage.where, damage.detail] for damage in job.damage],
    }
