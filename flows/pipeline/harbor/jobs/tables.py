"""Write the attempts of one system of a Harbor job as briefs, verdicts and scores tables."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.common.digests import canonical_json, sha256_text
from flows.pipeline.harbor.jobs.kept import KeptAttempt
from flows.pipeline.harbor.jobs.parts import Part
from flows.pipeline.harbor.jobs.regrade import Regraded
from flows.pipeline.harbor.jobs.verdicts import score_row, verdicts_of
from flows.pipeline.results.record import (
    CLASSES,
    briefs_digest,
    write_briefs,
    write_graded,
    write_submissions,
)
from flows.schema.condition import Condition, Judge, file_name
from flows.schema.harbor import HARBOR, HarborError, Outcome, SystemSummary
from flows.schema.verdict import BriefScore, Verdict

SCORING = "harbor_reward"
"""Name of the verifier's weights."""
_PROMPT = "task"  # the agent gets the task's instruction


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


def write_system(
    results: Path, part: Part, system: SystemSummary, kept: Sequence[KeptAttempt], regraded: Regraded | None
) -> list[Path]:
    """Write the tables of one system: its attempts, the verifier's verdicts, and those of a judge of ours.

    `check_bounds` accepts the part. `kept` is in the order of the system's attempts.

    Raises:
        StoreError: a table can't be written.
    """
    condition = condition_of_system(part, system)
    briefs = [each.brief for each in kept]
    about: dict[str, Any] = {
        "condition": asdict(condition),
        "scenarios": sorted(system.by_task),
        "seeds": max(attempt.trial.attempt for attempt in system.attempts),
        "model_note": "",
        "briefs_digest": briefs_digest(briefs),
        "harbor": _about_harbor(part, system),
    }
    folder = results / part.origin.benchmark
    briefs_file = folder / "briefs" / f"{condition.label}.parquet"
    write_briefs(briefs_file, condition, briefs, about)
    submissions = [each.submission for each in kept if each.submission is not None]
    write_submissions(folder, condition, submissions, about)
    verdicts: list[Verdict] = []
    scores: list[BriefScore] = []
    for attempt in system.attempts:
        on_brief = verdicts_of(attempt, part.known)
        verdicts += on_brief
        scores.append(score_row(attempt, on_brief, part.low(attempt.trial.task)))
    points = {(task, name): v.points for task, known in part.known.items() for name, v in known.items()}
    trials = [attempt.trial for attempt in system.attempts]
    judges = frozenset(name for trial in trials for name in (*trial.judge_names, *trial.judges))
    own = Regraded(judge_of_system(part, system), SCORING, verdicts, scores, points, judges)
    paths = [briefs_file]
    for each in (own, *([] if regraded is None else [regraded])):
        models = {_bare(name) for name in each.judge_names}
        note = {
            "judge": asdict(each.judge),
            "rubrics": {},
            "self_judged": bool(system.model) and _bare(system.model) in models,
        }
        names = {"condition": condition.label, "judge": each.judge.label}
        file = f"{condition.label}/{each.judge.label}.parquet"
        files = (folder / "verdicts" / file, folder / "scores" / file)
        # Criteria have no other class; unknown points are null.
        graded = [
            (one, {**dict.fromkeys(CLASSES), "points": each.points[one.scenario_id, one.item_id]})
            for one in each.verdicts
        ]
        scoring = {"scoring": {"name": each.scoring}}
        write_graded(files, names, graded, each.scores, briefs, {**about, **note}, scoring)
        paths += files
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
        is_stand_in=any(attempt.trial.stand_in for attempt in system.attempts),
    )


def _bare(model: str) -> str:
    """Return a model's name without its provider's prefix."""
    return model.rpartition("/")[2]


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
