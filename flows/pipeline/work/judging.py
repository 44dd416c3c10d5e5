"""The judge stage: one judge, a panel, or one judge with repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.common.errors import Stopped
from flows.common.gather import gather_then_raise
from flows.pipeline.orchestration.cached_tasks import Work
from flows.pipeline.work.digests import rubric_digest
from flows.pipeline.work.run_context import Evaluation, Pages, RunContext
from flows.pipeline.work.stages import should_retry
from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import Completion, Image, Spent, spent_on
from flows.schema.condition import judge_fields, quorum_of
from flows.schema.rows import as_row, from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind, JudgeSettings, Retry
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.judge import (
    JUDGE_VERSION,
    VOTE_VERSION,
    ItemVerdict,
    JudgeCall,
    build_requests,
    judge_outcome,
    majority,
    misses_canary,
    shield,
    verdicts_for_brief,
    verdicts_for_missing,
    verdicts_for_no_report,
)
from flows.stages.offline import OFFLINE_VERSION, abstention, grade_offline
from flows.stages.offline.reference import REFERENCE_VERSION

_FORMAT = "2"  # of what the stage stores
_NO_TEXT = {BriefStatus.refused: VerdictStatus.refused, BriefStatus.error: VerdictStatus.error}


@dataclass(frozen=True)
class Judged:
    """Verdicts of one judge on the briefs of one scenario.

    Attributes:
        verdicts: the final verdicts, on every item of every brief.
        repeats: number of the repeat and a verdict of it; empty for a judge without repeats.
        hidden: by seed, the kinds of hidden characters that were removed from the brief for the judge;
            briefs without any are omitted.
        n_canary_missed: replies rejected because of a canary; None without canaries.
        spent: what the judge's replies cost, rejected ones included.
    """

    verdicts: Sequence[Verdict]
    repeats: Sequence[tuple[int, Verdict]]
    hidden: Mapping[int, Sequence[str]]
    n_canary_missed: int | None
    spent: Spent


_REPLIES: ContextVar[list[Completion]] = ContextVar("_REPLIES")
"""The judge's replies of the stage that is running, for what they cost."""


def judged_of(value: dict[str, Any]) -> Judged:
    """Decode the stage's value."""
    return Judged(
        from_rows(Verdict, value["verdicts"]),
        [(number, from_row(Verdict, row)) for number, row in value["repeats"]],
        {int(seed): kinds for seed, kinds in value["hidden"].items()},
        value["n_canary_missed"],
        from_row(Spent, value["spent"]),
    )


def judge_work(
    context: RunContext,
    evaluation: Evaluation,
    scenario: Scenario,
    briefs: Sequence[Brief],
    source: str,
    *,
    pages: Pages,
) -> Work:
    """Grade every item of every brief; decode the value with `judged_of`.

    Args:
        context: state shared by the run.
        evaluation: condition and judge.
        scenario: the rubric.
        briefs: of all seeds.
        source: address of the previous stage's value.
        pages: returns the page images of a brief, for judges that take images.
    """
    judge = evaluation.settings.judge

    async def make() -> dict[str, Any]:
        # First, while the cache of shielded texts, which requests use too, is filled.
        kinds = {str(brief.seed): shield(brief.text)[1] for brief in briefs if brief.text is not None}
        replies: list[Completion] = []
        _REPLIES.set(replies)  # tasks that are started below add to this list
        gradings = await gather_then_raise(
            [_grade(context, evaluation, scenario, brief, pages) for brief in briefs]
        )
        tested = judge.kind is JudgeKind.remote and judge.canaries
        return {
            "verdicts": [as_row(verdict) for grading in gradings for verdict in grading.verdicts],
            "repeats": [[number, as_row(v)] for grading in gradings for number, v in grading.repeats],
            "hidden": {seed: list(found) for seed, found in kinds.items() if found},
            "n_canary_missed": sum(grading.n_canary_missed for grading in gradings) if tested else None,
            "spent": as_row(spent_on(replies)),
            # A failed vote is retried even if the other votes made a majority.
            "statuses": sorted({status for grading in gradings for status in grading.statuses}),
        }

    inputs = {
        "scenario": scenario.scenario_id,
        "version": [_FORMAT, OFFLINE_VERSION, JUDGE_VERSION, VOTE_VERSION, *_reference_version(scenario)],
        "judge": judge_fields(judge, evaluation.settings.judge_prompt),
        "voters": [voter.judge.label for voter in evaluation.voters],
        "items": rubric_digest(scenario),
        "briefs": source,
        **_page_inputs(evaluation),
        **evaluation.kind.rule_inputs(judge),
    }
    retry = evaluation.settings.retry
    return Work("judge", inputs, make, lambda value: not should_retry(retry, value["statuses"]))


def _page_inputs(evaluation: Evaluation) -> dict[str, Any]:
    """Which judges are shown pages; empty if briefs have none."""
    if not evaluation.kind.shows_pages:
        return {}
    return {"pages": [each.settings.judge.takes_images for each in (evaluation, *evaluation.voters)]}


def _reference_version(scenario: Scenario) -> list[str]:
    return [] if scenario.reference is None else [REFERENCE_VERSION]


@dataclass(frozen=True)
class _Grading:
    """Verdicts of one judge on one brief."""

    verdicts: Sequence[Verdict]
    statuses: frozenset[str]
    repeats: Sequence[tuple[int, Verdict]] = field(default=())
    n_canary_missed: int = 0

    @classmethod
    def once(cls, verdicts: Sequence[Verdict], n_canary_missed: int = 0) -> _Grading:
        """Build the grading of a judge without repeats."""
        return cls(verdicts, frozenset(v.status.value for v in verdicts), n_canary_missed=n_canary_missed)


async def _grade(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, pages: Pages
) -> _Grading:
    unasked = evaluation.kind.unjudged_reason(brief, evaluation.settings.judge)
    if unasked is not None:
        unjudged = verdicts_for_no_report(scenario.items, brief, unasked)
        if evaluation.settings.judge.kind is JudgeKind.offline:
            # The same items in each seed, whether there is a report or not.
            unjudged = [_abstaining(scenario, verdict) for verdict in unjudged]
        return _Grading.once(unjudged)
    if brief.text is None:
        reason = f"no brief: {brief.detail}" if brief.detail else "no brief"
        return _Grading.once(verdicts_for_missing(scenario.items, brief, _NO_TEXT[brief.status], reason))
    if context.stopping:
        raise Stopped("run", "stopped before everything was graded", remedy="the same command resumes")
    match evaluation.settings.judge.kind:
        case JudgeKind.offline:
            return await asyncio.to_thread(_grade_offline, scenario, brief, brief.text)
        case JudgeKind.panel:
            return await _grade_by_panel(context, evaluation, scenario, brief, pages)
        case JudgeKind.remote:
            images = await pages(brief) if evaluation.settings.judge.takes_images else ()
            return await _grade_remotely(context, evaluation, scenario, brief, images)


def _grade_offline(scenario: Scenario, brief: Brief, text: str) -> _Grading:
    return _Grading.once(
        [
            Verdict(
                brief.scenario_id,
                brief.seed,
                grade.item_id,
                VerdictStatus.abstained if grade.passed is None else VerdictStatus.graded,
                grade.passed,
                grade.mode,
                grade.reason,
            )
            for grade in grade_offline(scenario.items, text, scenario.reference)
        ]
    )


def _abstaining(scenario: Scenario, verdict: Verdict) -> Verdict:
    item = next(item for item in scenario.items if item.item_id == verdict.item_id)
    why = abstention(item, scenario.reference)
    if why is None:
        return verdict
    return replace(verdict, status=VerdictStatus.abstained, passed=None, mode=None, reason=why)


async def _grade_by_panel(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, pages: Pages
) -> _Grading:
    """Vote. Members are also evaluations of this run; the completion store shares their replies."""
    voters = evaluation.voters
    gradings = await gather_then_raise([_grade(context, voter, scenario, brief, pages) for voter in voters])
    votes = {voter.judge.label: grading.verdicts for voter, grading in zip(voters, gradings, strict=True)}
    return _Grading(
        majority(scenario.items, brief, votes, quorum_of(evaluation.settings.judge)),
        frozenset(status for grading in gradings for status in grading.statuses),
    )


async def _grade_remotely(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, images: Sequence[Image]
) -> _Grading:
    assert brief.text is not None
    settings = evaluation.settings
    judge = settings.judge
    numbers = range(1, judge.repeat + 1)
    questions = [
        # The seed is the number of the repeat; the brief's seed is not part of the request.
        _ask_all(
            context,
            evaluation,
            build_requests(
                scenario.items,
                brief.text,
                judge,
                settings.judge_prompt,
                number,
                reference=scenario.reference,
                pages=images,
            ),
        )
        for number in numbers
    ]
    repeats = [
        _Grading.once(verdicts_for_brief(scenario.items, brief, found), missed)
        for found, missed in await gather_then_raise(questions)
    ]
    if len(repeats) == 1:
        return repeats[0]
    votes = {f"repeat {number}": repeat.verdicts for number, repeat in zip(numbers, repeats, strict=True)}
    return _Grading(
        majority(scenario.items, brief, votes, quorum_of(judge)),
        frozenset(status for repeat in repeats for status in repeat.statuses),
        [(number, v) for number, repeat in zip(numbers, repeats, strict=True) for v in repeat.verdicts],
        sum(repeat.n_canary_missed for repeat in repeats),
    )


async def _ask_all(
    context: RunContext, evaluation: Evaluation, calls: Sequence[JudgeCall]
) -> tuple[list[ItemVerdict], int]:
    """Grade the rubric once, in one call or one per item; return verdicts and number of missed canaries."""
    answers = await gather_then_raise([_ask(context, evaluation, call) for call in calls])
    return [verdict for found, _ in answers for verdict in found], sum(missed for _, missed in answers)


async def _ask(
    context: RunContext, evaluation: Evaluation, call: JudgeCall
) -> tuple[Sequence[ItemVerdict], int]:
    assert context.client is not None
    return await ask(context.client, evaluation.settings.judge, call, evaluation.settings.retry)


async def ask(
    client: ThreadedClient, judge: JudgeSettings, call: JudgeCall, retry: Retry
) -> tuple[Sequence[ItemVerdict], int]:
    """Ask the judge, repeating rejected calls; return its verdicts and the number of missed canaries.

    If an earlier run used up its attempts, `retry` decides whether as many follow. Stored attempts are always
    replayed, since one of them may be valid.
    """
    asked = {"effort": judge.effort.value, "mode": judge.mode.value}
    again = should_retry(retry, [VerdictStatus.unparsed.value])
    missed = 0
    while True:
        outcome = await client.complete(call.request, judge, asked)
        _REPLIES.get([]).append(outcome.completion)
        missed += misses_canary(call, outcome.completion)
        found = judge_outcome(call, outcome.completion, call.attempt + 1)
        if not isinstance(found, JudgeCall):
            return found, missed
        used_up = call.attempt % judge.max_attempts == 0
        if used_up and not (again and outcome.earlier) and not client.knows(found.request):
            unparsed = judge_outcome(call, outcome.completion, call.attempt)
            assert not isinstance(unparsed, JudgeCall)
            return unparsed, missed
        call = found
