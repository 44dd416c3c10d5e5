"""The judge stage: one judge, a panel of them, or one that is asked several times."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.common.errors import Stopped
from flows.common.gather import gather_then_raise
from flows.pipeline.orchestration.cached_tasks import Work
from flows.pipeline.work.digests import rubric_digest
from flows.pipeline.work.run_context import Evaluation, Pages, RunContext
from flows.pipeline.work.stages import should_retry
from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import Image
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
from flows.stages.offline import OFFLINE_VERSION, grade_offline
from flows.stages.offline.reference import REFERENCE_VERSION

_FORMAT = "1"  # of what the stage stores
_NO_TEXT = {BriefStatus.refused: VerdictStatus.refused, BriefStatus.error: VerdictStatus.error}


@dataclass(frozen=True)
class Judged:
    """What one judge made of the briefs of one scenario.

    Attributes:
        verdicts: those that count, on every item of every brief.
        repeats: the number of a repeat and a verdict of it; empty where the judge was asked once.
        hidden: by seed, the kinds of hidden characters that were taken out of the brief for the
            judge; briefs that held none are left out.
        n_canary_missed: replies that were rejected for a canary; None where none was mixed in.
    """

    verdicts: Sequence[Verdict]
    repeats: Sequence[tuple[int, Verdict]]
    hidden: Mapping[int, Sequence[str]]
    n_canary_missed: int | None


def judged_of(value: dict[str, Any]) -> Judged:
    """What the stage made, from its JSON."""
    return Judged(
        from_rows(Verdict, value["verdicts"]),
        [(number, from_row(Verdict, row)) for number, row in value["repeats"]],
        {int(seed): kinds for seed, kinds in value["hidden"].items()},
        value["n_canary_missed"],
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
    """Verdicts on every item of every brief; read what was made by `judged_of`.

    Args:
        context: what the run shares.
        evaluation: whose judge.
        scenario: the rubric.
        briefs: of all seeds.
        source: address of what the stage before made: texts, and which pages there are.
        pages: gives the pictures of a brief's pages, for judges that take images.
    """
    judge = evaluation.settings.judge

    async def make() -> dict[str, Any]:
        # Before the questions, which are made of the same shielded texts: they are kept for a while.
        kinds = {str(brief.seed): shield(brief.text)[1] for brief in briefs if brief.text is not None}
        gradings = await gather_then_raise(
            [_grade(context, evaluation, scenario, brief, pages) for brief in briefs]
        )
        tested = judge.kind is JudgeKind.remote and judge.canaries
        return {
            "verdicts": [as_row(verdict) for one in gradings for verdict in one.verdicts],
            "repeats": [[number, as_row(verdict)] for one in gradings for number, verdict in one.repeats],
            "hidden": {seed: list(found) for seed, found in kinds.items() if found},
            "n_canary_missed": sum(one.n_canary_missed for one in gradings) if tested else None,
            # A vote that failed is asked again also where the others made a majority without it.
            "statuses": sorted({status for one in gradings for status in one.statuses}),
        }

    inputs = {
        "scenario": scenario.scenario_id,
        "version": [_FORMAT, OFFLINE_VERSION, JUDGE_VERSION, VOTE_VERSION, *_reference_version(scenario)],
        "judge": judge_fields(judge, evaluation.settings.judge_prompt),
        "voters": [voter.judge.label for voter in evaluation.voters],
        "items": rubric_digest(scenario),
        "briefs": source,
        **_shown(evaluation),
        **evaluation.kind.rule_inputs(judge),
    }
    retry = evaluation.settings.retry
    return Work("judge", inputs, make, lambda value: not should_retry(retry, value["statuses"]))


def _shown(evaluation: Evaluation) -> dict[str, Any]:
    """Which of the judges are shown pages, where there are any."""
    if not evaluation.kind.shows_pages:
        return {}
    return {"pages": [one.settings.judge.takes_images for one in (evaluation, *evaluation.voters)]}


def _reference_version(scenario: Scenario) -> list[str]:
    return [] if scenario.reference is None else [REFERENCE_VERSION]


@dataclass(frozen=True)
class _Grading:
    """One brief by one judge."""

    verdicts: Sequence[Verdict]
    statuses: frozenset[str]
    repeats: Sequence[tuple[int, Verdict]] = field(default=())
    n_canary_missed: int = 0

    @classmethod
    def once(cls, verdicts: Sequence[Verdict], n_canary_missed: int = 0) -> _Grading:
        """By a judge that was asked once."""
        return cls(verdicts, frozenset(v.status.value for v in verdicts), n_canary_missed=n_canary_missed)


async def _grade(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, pages: Pages
) -> _Grading:
    unasked = evaluation.kind.graded_unasked(brief, evaluation.settings.judge)
    if unasked is not None:
        return _Grading.once(verdicts_for_no_report(scenario.items, brief, unasked))
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
            shown = await pages(brief) if evaluation.settings.judge.takes_images else ()
            return await _grade_by_asking(context, evaluation, scenario, brief, shown)


def _grade_offline(scenario: Scenario, brief: Brief, text: str) -> _Grading:
    return _Grading.once(
        [
            Verdict(
                brief.scenario_id,
                brief.seed,
                grade.item_id,
                VerdictStatus.graded,
                grade.passed,
                grade.mode,
                grade.reason,
            )
            for grade in grade_offline(scenario.items, text, scenario.reference)
        ]
    )


async def _grade_by_panel(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, pages: Pages
) -> _Grading:
    """The members are evaluations of this run too: what one paid for, the other finds in the store."""
    voters = evaluation.voters
    gradings = await gather_then_raise([_grade(context, voter, scenario, brief, pages) for voter in voters])
    votes = {voter.judge.label: one.verdicts for voter, one in zip(voters, gradings, strict=True)}
    return _Grading(
        majority(scenario.items, brief, votes, quorum_of(evaluation.settings.judge)),
        frozenset(status for one in gradings for status in one.statuses),
    )


async def _grade_by_asking(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, shown: Sequence[Image]
) -> _Grading:
    assert brief.text is not None
    settings = evaluation.settings
    judge = settings.judge
    numbers = range(1, judge.repeat + 1)
    asked = [
        # The judge's own repeat is the seed: the brief's is no part of the question.
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
                pages=shown,
            ),
        )
        for number in numbers
    ]
    repeats = [
        _Grading.once(verdicts_for_brief(scenario.items, brief, found), missed)
        for found, missed in await gather_then_raise(asked)
    ]
    if len(repeats) == 1:
        return repeats[0]
    votes = {f"repeat {number}": one.verdicts for number, one in zip(numbers, repeats, strict=True)}
    return _Grading(
        majority(scenario.items, brief, votes, quorum_of(judge)),
        frozenset(status for one in repeats for status in one.statuses),
        [(number, v) for number, one in zip(numbers, repeats, strict=True) for v in one.verdicts],
        sum(one.n_canary_missed for one in repeats),
    )


async def _ask_all(
    context: RunContext, evaluation: Evaluation, calls: Sequence[JudgeCall]
) -> tuple[list[ItemVerdict], int]:
    """The whole rubric once, in one call or in one for each item; and how often a canary was missed."""
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
    """Ask, and ask again what was rejected, as the judge stage says; and how often a canary was missed.

    Where an earlier run used up its attempts, `retry` says whether as many follow. Attempts that are stored
    are replayed in any case: one of them may be the reply that counts.
    """
    asked = {"effort": judge.effort.value, "mode": judge.mode.value}
    again = should_retry(retry, [VerdictStatus.unparsed.value])
    missed = 0
    while True:
        outcome = await client.complete(call.request, judge, asked)
        missed += misses_canary(call, outcome.completion)
        follows = judge_outcome(call, outcome.completion, call.attempt + 1)
        if not isinstance(follows, JudgeCall):
            return follows, missed
        used_up = call.attempt % judge.max_attempts == 0
        if used_up and not (again and outcome.earlier) and not client.knows(follows.request):
            unparsed = judge_outcome(call, outcome.completion, call.attempt)
            assert not isinstance(unparsed, JudgeCall)
            return unparsed, missed
        call = follows
