"""Grade the output of one sample by the stages of a run, and say it in Inspect's words."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum
from operator import attrgetter
from typing import Any

from inspect_ai.scorer import Score

from flows.pipeline.inspect.bench import Bench
from flows.pipeline.inspect.record import KEY, SampleRecord, dumped
from flows.pipeline.orchestration.work import StageResult
from flows.pipeline.work.judging import judge_work, judged_of
from flows.pipeline.work.stages import score_work
from flows.schema.brief import BriefStatus
from flows.schema.completion import Completion
from flows.schema.report_task import Submitted
from flows.schema.rows import as_row, from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.aggregate import UNCLASSED, breakdowns, scenario_means
from flows.stages.generate import Written

_REASONS = {BriefStatus.refused: "refusal", BriefStatus.error: "no_response"}


async def grade(
    bench: Bench,
    scenario: Scenario,
    wrote: Written | Submitted,
    calls: Sequence[Completion] = (),
    trajectory: Sequence[dict[str, Any]] = (),
) -> Score:
    """Cut, judge and score what was written for a sample.

    `wrote` is what the generate stage of its protocol gives, `calls` the writer's replies, `trajectory` that
    of an attempt with our tools.
    """
    evaluation, kind = bench.evaluation, bench.evaluation.kind
    context, _ = bench.with_client(raises=False)
    row = as_row(wrote)
    read = await kind.read(context, evaluation, scenario, StageResult([row], "", skipped=False)).make()
    (brief,) = kind.briefs(read)
    work = judge_work(context, evaluation, scenario, [brief], "", files=kind.files(context))
    judged = judged_of(await work.make())
    (scored,) = await score_work(evaluation, scenario, [brief], judged.verdicts, "").make()
    (submission,) = kind.submissions([{**row, "trajectory": [*trajectory]}], read) or [None]
    report = None if brief.report is None else context.reports.path(brief.report).read_bytes()
    record = SampleRecord(
        brief=brief,
        verdicts=[*judged.verdicts],
        repeats=[*judged.repeats],
        hidden=[*judged.hidden.get(brief.seed, ())],
        n_canary_missed=judged.n_canary_missed,
        spent=judged.spent,
        answered_by=dict(judged.answered_by),
        calls=[replace(call, text=None) for call in calls],
        facts=submission and submission.facts,
        trajectory=[*trajectory],
        report=None if report is None else base64.b64encode(report).decode(),
    )
    return score_of(record, from_row(BriefScore, scored), scenario, evaluation.settings.scoring)


def score_of(record: SampleRecord, score: BriefScore, scenario: Scenario, scoring: ScoringSettings) -> Score:
    """Return a brief's score for Inspect: unscored where ours has none, never 0."""
    brief = record.brief
    value = score.score_clamped if scoring.clamped else score.score
    found = breakdowns({scenario.scenario_id: scenario.items}, record.verdicts, ["tier", "step", "severity"])
    pooled = {
        f"{by}_{count.group}{'_avoided' if count.kind == 'error' else ''}": [count.passed, count.n]
        for by, counts in found.items()
        for count in counts
        if count.group != UNCLASSED
    }
    shared: dict[str, Any] = {
        "answer": brief.text,
        "explanation": _explanation(record, score, scenario),
        "metadata": {**as_row(score), "pooled": pooled, KEY: dumped(record)},
    }
    if value is None:
        return Score.unscored(reason=_REASONS.get(brief.status, "grader_failed"), **shared)
    return Score(value=value, reason=_REASONS.get(brief.status), **shared)


def shares_of(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the means of a leaderboard, and the shares passed of each class of items.

    `found` is the metadata of scores that are scored.

    Returns:
        `correct`, `passed`, `wrong`: means over seeds, then over scenarios. `tier_1`, `step_facts`,
        `severity_important`, ...: of the requirements that were graded, and `..._avoided` of wrong moves.
    """
    shares: dict[str, float] = {}
    scores = from_rows(BriefScore, found)
    for name in ("correct", "passed", "wrong"):
        if means := scenario_means(scores, attrgetter(name)):
            shares[name] = fsum(means.values()) / len(means)
    passed, graded = Counter[str](), Counter[str]()
    for each in found:
        for name, (count, n) in each["pooled"].items():
            passed[name] += count
            graded[name] += n
    return shares | {name: passed[name] / n for name, n in graded.items() if n}


def _explanation(record: SampleRecord, score: BriefScore, scenario: Scenario) -> str:
    """Return every verdict with its reason as Markdown, failed ones first."""
    brief = record.brief
    cut = f", cut from {brief.words_raw:,} words to {brief.words_kept:,}" if brief.cut else ""
    why = f" {brief.detail}." if brief.detail else ""
    texts = {item.item_id: item.requirement for item in scenario.items}
    rows = [
        f"- {_word(one)} `{one.item_id}`: {texts[one.item_id].rstrip('.')}. {one.reason}".replace("<", "&lt;")
        for one in sorted(record.verdicts, key=lambda one: one.passed is not False)
    ]
    head = f"Brief {brief.status.value}{cut}; {score.n_graded} of {score.n_items} items graded.{why}"
    return "\n".join([head, "", *(" ".join(row.split()) for row in rows)])


def _word(verdict: Verdict) -> str:
    if verdict.passed is None:
        return verdict.status.value
    return "passed" if verdict.passed else f"failed ({verdict.mode.value})" if verdict.mode else "failed"
