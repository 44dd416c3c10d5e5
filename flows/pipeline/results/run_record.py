"""The MLflow record of an evaluation."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.adapters.provenance import environment, git_revision, now
from flows.adapters.tracking import RunRecord
from flows.pipeline.work.run_context import Evaluation
from flows.pipeline.results.record import Outcome, ResultFiles
from flows.pipeline.results.settings_file import as_yaml, changed_keys
from flows.common.digests import canonical_json, sha256_text
from flows.schema.completion import Spent
from flows.schema.rows import as_row
from flows.stages.aggregate import UNCLASSED, Grouping, breakdowns, most_unlike
from flows.stages.shown import changed_values

_LONGEST_PARAM = 500  # MLflow rejects parameters of several thousand characters


def run_record(project: Path, evaluation: Evaluation, outcome: Outcome, files: ResultFiles) -> RunRecord:
    """Build the MLflow record of an evaluation: parameters, metrics, tags and files."""
    settings, condition, judge = evaluation.settings, evaluation.condition, evaluation.judge
    estimate = outcome.estimate
    identity = sha256_text(
        canonical_json(
            [
                condition.digest,
                judge.digest,
                asdict(settings.scoring),
                [as_row(score) for score in outcome.scores],
            ]
        )
    )
    cap = "none" if condition.word_cap is None else str(condition.word_cap)
    params = {
        "benchmark": condition.benchmark,
        "model": condition.model,
        "model_name": settings.model.name or condition.model,
        "effort": condition.effort,
        "word_cap": cap,
        "prompt": condition.prompt,
        "harness": condition.harness,
        "judge": judge.name,
        "judge_effort": judge.effort or "none",
        "judge_mode": judge.mode or "none",
        "judge_call": judge.harness or "none",
        "judge_prompt": judge.prompt or "none",
        "scoring": settings.scoring.name,
        "seeds": str(settings.seeds),
        "scenarios": " ".join(scenario.scenario_id for scenario in evaluation.scenarios),
        # What was overridden: else MLflow's comparison of two runs would show no difference.
        **changed_values(asdict(settings), changed_keys(evaluation)),
    }
    tags = {
        "condition": condition.label,
        "judge_id": judge.label,
        "judge_is_stand_in": str(judge.is_stand_in).lower(),
        "self_judged": str(evaluation.self_judged).lower(),
        "complete": str(outcome.is_whole).lower(),
        "git_revision": git_revision(project) or "none",
        "logged_at": now(),
        **{f"version.{name}": found for name, found in environment().items()},
    }
    for tag, found in (("answered_by", outcome.served), ("judged_by", outcome.judge_served)):
        if others := found.get("answered_by"):
            tags[tag] = ", ".join(f"{name} ({count})" for name, count in others.items())
    if estimate.interval is not None:
        tags["ci_method"] = estimate.interval.method
    return RunRecord(
        name=f"{condition.label} · {judge.label}",
        identity=identity,
        params={name: value[:_LONGEST_PARAM] for name, value in params.items()},
        metrics=_metrics(evaluation, outcome),
        tags=tags,
        texts={
            "settings.yaml": as_yaml(asdict(settings)),
            # MLflow's page shows CSV files; Parquet files it only offers to download.
            "scores.csv": _as_csv([as_row(score) for score in outcome.scores]),
            "verdicts.csv": _as_csv([as_row(verdict) for verdict in outcome.verdicts]),
        },
        files=[
            str(files.scores),
            str(files.verdicts),
            *([str(files.reports)] if outcome.submissions else []),
        ],
    )


def _metrics(evaluation: Evaluation, outcome: Outcome) -> Mapping[str, float]:
    estimate = outcome.estimate
    interval = estimate.interval
    found: dict[str, float | None] = {
        "score": estimate.score,
        "score_clamped": estimate.score_clamped,
        "score_low": estimate.score_low,
        "score_high": estimate.score_high,
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "ci_unlike": most_unlike(interval, estimate.n_scenarios),
        "correct": estimate.correct,
        "passed": estimate.passed,
        "wrong": estimate.wrong,
        "n_scenarios": estimate.n_scenarios,
        "n_briefs": estimate.n_briefs,
        "n_ungraded": estimate.n_ungraded,
        "n_cut": sum(brief.cut for brief in outcome.briefs),
        "n_refused": sum(brief.status.value == "refused" for brief in outcome.briefs),
        "n_canary_missed": outcome.n_canary_missed,
        **{f"writer.{name}": value for name, value in asdict(outcome.spent or Spent()).items() if outcome.spent},
        **{f"judge.{name}": value for name, value in asdict(outcome.judge_spent).items()},
    }
    by_scenario = {scenario.scenario_id: scenario.items for scenario in evaluation.scenarios}
    groupings: tuple[Grouping, ...] = ("step", "tier", "severity")
    for by, counts in breakdowns(by_scenario, outcome.verdicts, groupings).items():
        for count in counts:
            if count.group != UNCLASSED and (count.kind == "requirement" or by == "severity"):
                found[f"passed.{by}/{count.group}"] = count.rate
    for scenario in evaluation.scenarios:
        clamped = evaluation.settings.scoring.clamped
        counted = [
            score.score_clamped if clamped else score.score
            for score in outcome.scores
            if score.scenario_id == scenario.scenario_id
        ]
        scores = [value for value in counted if value is not None]
        found[f"score.scenario/{scenario.scenario_id}"] = sum(scores) / len(scores) if scores else None
    return {name: float(value) for name, value in found.items() if value is not None}


def _as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
