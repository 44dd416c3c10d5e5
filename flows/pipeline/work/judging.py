"""The judge stage, in a run and outside one: one judge, a panel, or one judge with repeats."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.adapters.completions.client import check_keys
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.common.digests import sha256_file
from flows.common.gather import gather_then_raise
from flows.pipeline.native.judging import AGENT_VERSION
from flows.pipeline.orchestration.work import Work
from flows.pipeline.work.digests import rubric_digest
from flows.pipeline.work.evaluations import evaluation_of
from flows.pipeline.work.remote_judge import CHATS, REPLIES, ask_about, time_limit
from flows.pipeline.work.run_context import Evaluation, Files, RunContext
from flows.pipeline.work.stages import should_retry
from flows.pipeline.work.stores import Stores, context_of
from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import Completion, Spent, spent_on
from flows.schema.condition import quorum_of
from flows.schema.rows import as_row, from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.judge import (
    JUDGE_VERSION,
    VOTE_VERSION,
    majority,
    shield,
    verdicts_for_brief,
    verdicts_for_missing,
    verdicts_for_no_report,
)
from flows.stages.offline import OFFLINE_VERSION, abstention, grade_offline
from flows.stages.offline.reference import REFERENCE_VERSION

if TYPE_CHECKING:
    from flows.adapters.config.compose import Point  # slow import

_FORMAT = "2"  # of what the stage stores
_NO_TEXT = {BriefStatus.refused: VerdictStatus.refused, BriefStatus.error: VerdictStatus.error}


@dataclass(frozen=True)
class Judged:
    """Verdicts of one judge on the briefs of one scenario."""

    verdicts: Sequence[Verdict]  # the final ones, on every item of every brief
    repeats: Sequence[tuple[int, Verdict]]  # number and verdict; empty for a judge without repeats
    hidden: Mapping[int, Sequence[str]]  # kinds of hidden characters, by seed of a brief with any
    n_canary_missed: int | None  # replies rejected because of a canary; None without canaries
    spent: Spent  # on the judge's replies, rejected ones included
    # Number of replies by the model that the endpoint named; empty for a panel, whose members have their own.
    answered_by: Mapping[str, int] = field(default_factory=dict[str, int])
    # Seed, number of the repeat, and events of each chat of an agent; a panel's members have theirs.
    chats: Sequence[tuple[int, int, Sequence[Mapping[str, Any]]]] = ()


def judged_of(value: dict[str, Any]) -> Judged:
    """Decode the stage's value."""
    return Judged(
        from_rows(Verdict, value["verdicts"]),
        [(number, from_row(Verdict, row)) for number, row in value["repeats"]],
        {int(seed): kinds for seed, kinds in value["hidden"].items()},
        value["n_canary_missed"],
        from_row(Spent, value["spent"]),
        value["answered_by"],
        value.get("chats", ()),  # not in what older versions stored
    )


def judge_work(
    context: RunContext,
    evaluation: Evaluation,
    scenario: Scenario,
    briefs: Sequence[Brief],
    source: str,
    *,
    files: Files,
) -> Work:
    """Grade every item of every brief; decode the value with `judged_of`.

    `source` is the address of the previous stage's value; `files` gives a brief's file to judges that take
    images.
    """
    judge = evaluation.settings.judge

    async def make() -> dict[str, Any]:
        # First, while the cache of shielded texts, which requests use too, is filled.
        kinds = {str(brief.seed): shield(brief.text)[1] for brief in briefs if brief.text is not None}
        replies: list[Completion] = []
        chats: list[tuple[int, int, Sequence[Mapping[str, Any]]]] = []
        REPLIES.set(replies)  # tasks that are started below add to these lists
        CHATS.set(chats)
        gradings = await gather_then_raise(
            [_grade(context, evaluation, scenario, brief, files) for brief in briefs]
        )
        tested = judge.kind is JudgeKind.remote and judge.canaries
        names = [reply.provider_model for reply in replies if reply.provider_model]
        return {
            "verdicts": [as_row(verdict) for grading in gradings for verdict in grading.verdicts],
            "repeats": [[number, as_row(v)] for grading in gradings for number, v in grading.repeats],
            "hidden": {seed: list(found) for seed, found in kinds.items() if found},
            "n_canary_missed": sum(grading.n_canary_missed for grading in gradings) if tested else None,
            "spent": as_row(spent_on(replies)),
            "answered_by": dict(Counter(names)) if judge.kind is JudgeKind.remote else {},
            "chats": sorted(chats, key=itemgetter(0, 1)) if judge.kind is JudgeKind.remote else [],
            # A failed vote is retried even if the other votes made a majority.
            "statuses": sorted({status for grading in gradings for status in grading.statuses}),
        }

    by_reference = [] if scenario.reference is None else [REFERENCE_VERSION]
    inputs = {
        "scenario": scenario.scenario_id,
        "version": [_FORMAT, OFFLINE_VERSION, JUDGE_VERSION, VOTE_VERSION, *by_reference],
        "judge": evaluation.judge_fields,
        "voters": [voter.judge.label for voter in evaluation.voters],
        "items": rubric_digest(scenario),
        "briefs": source,
        **_report_inputs(evaluation, scenario),
        **evaluation.kind.rule_inputs(judge),
    }
    retry = evaluation.settings.retry
    return Work("judge", inputs, make, lambda value: not should_retry(retry, value["statuses"]))


def _report_inputs(evaluation: Evaluation, scenario: Scenario) -> dict[str, Any]:
    """Which judges are shown pages or are agents, and their limit of time; empty if briefs have no pages."""
    judges = [each.settings.judge for each in (evaluation, *evaluation.voters)]
    if not evaluation.kind.shows_pages:
        return {}
    found: dict[str, Any] = {"pages": [judge.takes_images for judge in judges]}
    if all(judge.kind is JudgeKind.offline for judge in judges):
        return found
    if any(found["pages"]) and scenario.reference_file is not None:
        found["expert"] = sha256_file(Path(scenario.reference_file))
    return {**found, "agent": AGENT_VERSION, "seconds": time_limit(scenario)}


@dataclass(frozen=True)
class _Grading:
    """Verdicts of one judge on one brief."""

    verdicts: Sequence[Verdict]
    statuses: frozenset[str]
    repeats: Sequence[tuple[int, Verdict]] = ()
    n_canary_missed: int = 0


def _once(verdicts: Sequence[Verdict]) -> _Grading:
    """Build the grading of a judge that is not asked, or in no call."""
    return _Grading(verdicts, frozenset(verdict.status.value for verdict in verdicts))


async def _grade(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, files: Files
) -> _Grading:
    unasked = evaluation.kind.unjudged_reason(brief, evaluation.settings.judge)
    if unasked is not None:
        unjudged = verdicts_for_no_report(scenario.items, brief, unasked)
        if evaluation.settings.judge.kind is JudgeKind.offline:
            # The same items in each seed, whether there is a report or not.
            unjudged = [_abstaining(scenario, verdict) for verdict in unjudged]
        return _once(unjudged)
    if brief.text is None:
        reason = f"no brief: {brief.detail}" if brief.detail else "no brief"
        return _once(verdicts_for_missing(scenario.items, brief, _NO_TEXT[brief.status], reason))
    context.check_stopping()
    match evaluation.settings.judge.kind:
        case JudgeKind.offline:
            return await context.in_turn(_grade_offline, scenario, brief, brief.text)
        case JudgeKind.panel:
            return await _grade_by_panel(context, evaluation, scenario, brief, files)
        case JudgeKind.remote:
            return await _grade_remotely(context, evaluation, scenario, brief, files)


def _grade_offline(scenario: Scenario, brief: Brief, text: str) -> _Grading:
    grades = grade_offline(scenario.items, text, scenario.reference)
    return _once(verdicts_for_brief(scenario.items, brief, grades))


def _abstaining(scenario: Scenario, verdict: Verdict) -> Verdict:
    item = next(item for item in scenario.items if item.item_id == verdict.item_id)
    why = abstention(item, scenario.reference)
    if why is None:
        return verdict
    return replace(verdict, status=VerdictStatus.abstained, passed=None, mode=None, reason=why)


async def _grade_by_panel(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, files: Files
) -> _Grading:
    """Vote. Members are also evaluations of this run; the completion store shares their replies."""
    voters = evaluation.voters
    gradings = await gather_then_raise([_grade(context, voter, scenario, brief, files) for voter in voters])
    votes = {voter.judge.label: grading.verdicts for voter, grading in zip(voters, gradings, strict=True)}
    return _Grading(
        majority(scenario.items, brief, votes, quorum_of(evaluation.settings.judge)),
        frozenset(status for grading in gradings for status in grading.statuses),
    )


async def _grade_remotely(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, brief: Brief, files: Files
) -> _Grading:
    judge = evaluation.settings.judge
    numbers = range(1, judge.repeat + 1)
    asked = await gather_then_raise(
        [ask_about(context, evaluation, scenario, brief, seed=number, files=files) for number in numbers]
    )
    missed = sum(one.n_canary_missed for one in asked)
    repeats = [verdicts_for_brief(scenario.items, brief, one.verdicts) for one in asked]
    statuses = frozenset(verdict.status.value for verdicts in repeats for verdict in verdicts)
    if len(repeats) == 1:
        return _Grading(repeats[0], statuses, n_canary_missed=missed)
    votes = {f"repeat {number}": verdicts for number, verdicts in zip(numbers, repeats, strict=True)}
    return _Grading(
        majority(scenario.items, brief, votes, quorum_of(judge)),
        statuses,
        [(number, v) for number, verdicts in zip(numbers, repeats, strict=True) for v in verdicts],
        missed,
    )


async def grade_one(
    project: Path, point: Point, scenario: Scenario, brief: Brief, report: Path | None = None
) -> Sequence[Verdict]:
    """Grade every item of one brief; see `grade_all`."""
    return (await grade_all(project, point, [(scenario, brief, report)]))[0]


async def grade_all(
    project: Path, point: Point, briefs: Sequence[tuple[Scenario, Brief, Path | None]]
) -> list[Sequence[Verdict]]:
    """Grade every item of some briefs outside a run: without Prefect, tables or cache.

    Args:
        project: folder that holds `conf/`.
        point: judge, prompt and limits; replies go to `settings.results`, an absolute path.
        briefs: each with the rubric, for a report also the expert's text, and with the file, for page images
            if the judge takes them; None for a brief that is text.

    Raises:
        StaffbenchError: the judge can't be used. A failed call is a verdict with that status instead.
    """
    if not briefs:
        return []
    # The briefs are there already; the writer in the settings is a default that is never called.
    settings, scenarios = point.settings, {scenario.scenario_id: scenario for scenario, _, _ in briefs}
    evaluation = evaluation_of(settings, point.changed, tuple(scenarios.values()))
    context = context_of(project, Path(settings.results), [evaluation])
    judges = [each.settings.judge for each in (evaluation, *evaluation.voters)]

    async def grade(scenario: Scenario, brief: Brief, report: Path | None) -> Sequence[Verdict]:
        async def file(_: Brief) -> bytes | None:
            if scenario.reference is None or report is None:
                return None
            return await asyncio.to_thread(report.read_bytes)

        work = judge_work(context, evaluation, scenario, [brief], "", files=file)
        return judged_of(await work.make()).verdicts

    async with AsyncExitStack() as stack:
        if any(judge.kind is JudgeKind.remote for judge in judges):
            check_keys(judges)
            store = stack.enter_context(closing(Stores.of(project, settings).completions()))
            context.client = ThreadedClient(store, settings.runner, settings.budget, settings.retry)
            stack.push_async_callback(context.client.aclose)
        return await gather_then_raise([grade(*each) for each in briefs])
