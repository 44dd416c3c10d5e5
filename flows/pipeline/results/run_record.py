"""The MLflow record of an evaluation."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from flows.adapters.provenance import environment, git_revision, lock_digests, now
from flows.adapters.tracking import BriefTrace, RunRecord
from flows.common.digests import canonical_json, sha256_text
from flows.common.text import number
from flows.pipeline.results.graded import items_of
from flows.pipeline.results.record import Outcome, ResultFiles
from flows.pipeline.results.settings_file import as_yaml, changed_keys
from flows.pipeline.work.digests import rubric_digests
from flows.pipeline.work.run_context import Evaluation
from flows.schema.rows import as_row
from flows.schema.settings import JudgeKind
from flows.schema.verdict import Count, VerdictStatus
from flows.stages.aggregate import UNCLASSED, Grouping, breakdowns, most_unlike
from flows.stages.differing import changed_values

_RECORD_VERSION = 3  # raise it to have runs logged again that are logged already
_LONGEST_PARAM = 500  # MLflow rejects parameters of several thousand characters
_ESTIMATED = (
    "score", "score_clamped", "score_low", "score_high", "correct", "passed", "wrong", "n_scenarios",
    "n_briefs", "n_ungraded",
)  # fmt: skip


def run_record(  # noqa: PLR0917 -- each is of another type
    project: Path,
    evaluation: Evaluation,
    outcome: Outcome,
    files: ResultFiles,
    n_traces: int,
    traces_s: float,
) -> RunRecord:
    """Build the MLflow record of an evaluation: parameters, metrics, tags, files and traces.

    `n_traces` briefs, first seeds first, become traces in at most `traces_s` seconds.
    """
    settings, condition, judge = evaluation.settings, evaluation.condition, evaluation.judge
    estimate, params = outcome.estimate, _params(evaluation)
    key, identity = identify(evaluation, outcome)
    tags = {
        "condition": condition.label,
        "mlflow.note.content": _note(evaluation, outcome),
        "mlflow.source.name": "staffbench",
        "judge_id": judge.label,
        "judge_is_stand_in": str(judge.is_stand_in).lower(),
        "self_judged": str(evaluation.self_judged).lower(),
        "complete": str(outcome.is_whole).lower(),
        "git_revision": git_revision(project) or "none",
        "logged_at": now(),
        "prompt_digest": sha256_text(canonical_json(asdict(settings.prompt)))[:12],
        "judge_prompt_digest": sha256_text(canonical_json(asdict(settings.judge_prompt)))[:12],
        **lock_digests(project),
        **{f"version.{name}": found for name, found in environment().items()},
    }
    if revision := git_revision(project):
        tags["mlflow.source.git.commit"] = revision.removesuffix("+")
    for tag, found in (("answered_by", outcome.served), ("judged_by", outcome.judge_served)):
        if others := found.get("answered_by"):
            tags[tag] = ", ".join(f"{name} ({count})" for name, count in others.items())
    if estimate.interval is not None:
        tags["ci_method"] = estimate.interval.method
    rubrics, groups = rubric_digests(evaluation.scenarios), _groups(evaluation, outcome)
    return RunRecord(
        name=f"{condition.label} · {judge.label}",
        key=key,
        identity=identity,
        params=params,
        metrics=_metrics(evaluation, outcome, groups),
        tags=tags,
        texts={
            "settings.yaml": as_yaml(asdict(settings)),
            "verdicts.json": _verdict_table(evaluation, outcome),
        },
        charts=_figures(evaluation, groups),
        tables=["verdicts.json"],
        dataset={
            "name": condition.benchmark,
            "digest": sha256_text(canonical_json(dict(rubrics)))[:16],
            "source_type": "local",
            "source": canonical_json({"uri": settings.benchmark.data}),
            "profile": canonical_json(
                {
                    "num_scenarios": len(evaluation.scenarios),
                    "num_items": sum(len(scenario.items) for scenario in evaluation.scenarios),
                }
            ),
        },
        model=f"{condition.benchmark}-{condition.label}",
        judge=(judge.label, settings.judge.kind is not JudgeKind.offline),
        traces=_traces(evaluation, outcome, n_traces),
        traces_s=traces_s,
        n_briefs=len(outcome.briefs),
        files={
            "scores": str(files.scores),
            "verdicts": str(files.verdicts),
            **({"reports": str(files.reports)} if outcome.submissions else {}),
        },
    )


def identify(evaluation: Evaluation, outcome: Outcome) -> tuple[str, str]:
    """Return the key and the identity of an evaluation's record, without building it."""
    digests, scoring = (evaluation.condition.digest, evaluation.judge.digest), evaluation.settings.scoring
    key = sha256_text(canonical_json([*digests, asdict(scoring), _params(evaluation)]))
    scores = [as_row(score) for score in outcome.scores]
    return key, sha256_text(canonical_json([_RECORD_VERSION, key, scores]))


def _params(evaluation: Evaluation) -> dict[str, str]:
    settings, condition, judge = evaluation.settings, evaluation.condition, evaluation.judge
    params = {
        **{name: getattr(condition, name) for name in ("benchmark", "model", "effort", "prompt", "harness")},
        "model_name": settings.model.name or condition.model,
        "word_cap": "none" if condition.word_cap is None else str(condition.word_cap),
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
    return {name: value[:_LONGEST_PARAM] for name, value in params.items()}


def _groups(evaluation: Evaluation, outcome: Outcome) -> dict[Grouping, list[Count]]:
    """Return the counts by step, tier and severity, of requirements; by severity of wrong moves too."""
    rubrics = {scenario.scenario_id: scenario.items for scenario in evaluation.scenarios}
    return {
        by: [
            one
            for one in counts
            if one.group != UNCLASSED and (one.kind == "requirement" or by == "severity")
        ]
        for by, counts in breakdowns(rubrics, outcome.verdicts, ("step", "tier", "severity")).items()
    }


def _metrics(
    evaluation: Evaluation, outcome: Outcome, groups: Mapping[Grouping, Sequence[Count]]
) -> Mapping[str, float]:
    estimate, interval = outcome.estimate, outcome.estimate.interval
    statuses = [brief.status.value for brief in outcome.briefs]
    spent = {"writer": outcome.spent, "judge": outcome.judge_spent}
    found: dict[str, float | None] = {
        **{name: getattr(estimate, name) for name in _ESTIMATED},
        # MLflow's table has its columns in the order of their names: the score, then its interval.
        "score_ci_low": interval.low if interval else None,
        "score_ci_high": interval.high if interval else None,
        "ci_unlike": most_unlike(interval, estimate.n_scenarios),
        "n_cut": sum(brief.cut for brief in outcome.briefs),
        **{f"n_{status}": statuses.count(status) for status in ("refused", "error", "empty")},
        "n_canary_missed": outcome.n_canary_missed,
        **{
            f"{who}.{name}": value for who, one in spent.items() if one for name, value in asdict(one).items()
        },
        **{f"passed.{by}/{one.group}": one.rate for by, counts in groups.items() for one in counts},
    }
    clamped = evaluation.settings.scoring.clamped
    for scenario in evaluation.scenarios:
        own = [score for score in outcome.scores if score.scenario_id == scenario.scenario_id]
        counted = [score.score_clamped if clamped else score.score for score in own]
        scores = [value for value in counted if value is not None]
        found[f"score.scenario/{scenario.scenario_id}"] = sum(scores) / len(scores) if scores else None
    return {name: float(value) for name, value in found.items() if value is not None and isfinite(value)}


def _note(evaluation: Evaluation, outcome: Outcome) -> str:
    """Return what MLflow's page shows as the description of a run."""
    estimate, interval = outcome.estimate, outcome.estimate.interval
    ends = f" ({number(interval.low)} to {number(interval.high)}, {interval.method})" if interval else ""
    stand_in = ", a stand-in: no number to publish" if evaluation.judge.is_stand_in else ""
    return (
        f"Score **{number(estimate.score)}**{ends}, judge {evaluation.judge.label}{stand_in}. "
        f"{estimate.n_briefs} of {estimate.n_briefs_all} briefs scored, {estimate.n_ungraded} items without "
        "a verdict. MLflow is a view: the results are in the results folder."
    )


def _verdict_table(evaluation: Evaluation, outcome: Outcome) -> str:
    """Return the verdicts with what they are about, failed ones first, as MLflow's page shows a table."""
    kept = ("scenario_id", "seed", "item_id", "status", "passed", "mode", "reason")
    classes = ("requirement", "step", "tier", "severity")
    items = {
        place: [getattr(item, name) for name in classes]
        for place, item in items_of(evaluation.scenarios).items()
    }
    rows: list[list[Any]] = [
        [*as_row(verdict).values(), *items[verdict.scenario_id, verdict.item_id]]
        for verdict in sorted(outcome.verdicts, key=lambda verdict: verdict.passed is not False)
    ]
    return json.dumps({"columns": [*kept, *classes] if rows else [], "data": rows})


def _figures(evaluation: Evaluation, groups: Mapping[Grouping, Sequence[Count]]) -> dict[str, dict[str, Any]]:
    """Return the share of requirements passed by step, tier and severity as Vega-Lite charts, by path."""
    label, judge = evaluation.condition.label, evaluation.judge.label
    found: dict[str, dict[str, Any]] = {}
    for by, counts in groups.items():
        rows = [
            {by: one.group.replace("_", " "), "share": one.rate, "count": f"{one.passed} of {one.n}"}
            for one in counts
            if one.kind == "requirement" and one.n
        ]
        if rows:
            found[f"figures/passed_by_{by}.svg"] = _bars(rows, by, label, judge)
    return found


def _bars(rows: Sequence[Mapping[str, Any]], by: str, label: str, judge: str) -> dict[str, Any]:
    across = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}
    across["title"] = "requirements passed, of those with a verdict"
    encoding = {"y": {"field": by, "type": "nominal", "sort": None}, "x": across}
    return {
        "title": {"text": f"Requirements passed by {by}", "subtitle": f"{label}, judge {judge}"},
        "data": {"values": list(rows)},
        "width": 360,
        "encoding": encoding,
        "layer": [
            {"mark": "bar"},
            {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": {"field": "count"}}},
        ],
    }


def _traces(evaluation: Evaluation, outcome: Outcome, most: int) -> list[BriefTrace]:
    """Return briefs with their verdicts; items that the judge does not grade by its rules are left out.

    An assessment has the name of the item's severity, so that MLflow's page shows the share of each that
    passed; criteria, which have none, are requirements and penalties.
    """
    assignments = {scenario.scenario_id: scenario.assignment for scenario in evaluation.scenarios}
    items = items_of(evaluation.scenarios)
    verdicts: defaultdict[tuple[str, int], list[tuple[str, str, bool | None, str, str]]] = defaultdict(list)
    for one in outcome.verdicts:
        item = items[one.scenario_id, one.item_id]
        if one.status is not VerdictStatus.abstained:
            name = item.severity or ("penalty" if item.is_error else "requirement")
            text = f"{item.requirement}\n{one.reason}".strip()
            verdicts[one.scenario_id, one.seed].append(
                (one.item_id, name, one.passed, text, one.status.value)
            )
    scores = {(one.scenario_id, one.seed): one.score for one in outcome.scores}
    chosen = sorted(outcome.briefs, key=lambda brief: (brief.seed, brief.scenario_id))[:most]
    return [
        BriefTrace(
            brief.scenario_id,
            brief.seed,
            f"{brief.scenario_id}/{brief.seed}: {assignments[brief.scenario_id]}",
            brief.text,
            brief.detail or brief.status.value,
            scores.get((brief.scenario_id, brief.seed)),
            verdicts[brief.scenario_id, brief.seed],
        )
        for brief in chosen
    ]
