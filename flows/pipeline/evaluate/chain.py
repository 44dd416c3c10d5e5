"""A chain: the stages of one scenario under one condition, from generate to score."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from flows.adapters.objects import ObjectStore
from flows.common.errors import StoreError
from flows.pipeline.orchestration.cached_tasks import run_cached
from flows.pipeline.orchestration.work import StageResult, Work
from flows.pipeline.work.judging import Judged, judge_work, judged_of
from flows.pipeline.work.run_context import Evaluation, RunContext, Submission
from flows.pipeline.work.stages import score_work, take_packet
from flows.schema.brief import Brief
from flows.schema.rows import from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.schema.verdict import BriefScore

OnStep = Callable[[str, bool], None]


@dataclass(frozen=True, slots=True)
class Step:
    """Where the value of a finished stage is, in the object store."""

    key: str
    address: str
    skipped: bool  # True if an earlier run computed it


@dataclass(frozen=True)
class Chain:
    """What a chain made: the values of its stages."""

    scenario_id: str
    briefs: Sequence[Brief]
    judged: Judged
    scores: Sequence[BriefScore]
    submissions: Sequence[Submission]
    steps: Mapping[str, Step]  # where the values are, by stage; this travels between machines


RunChain = Callable[[Evaluation, Scenario], Coroutine[Any, Any, Chain]]
OpenChains = Callable[[RunContext, OnStep], AbstractAsyncContextManager[RunChain]]


@asynccontextmanager
async def in_process(context: RunContext, on_step: OnStep) -> AsyncGenerator[RunChain]:
    """Give a function that runs chains in this event loop, a limited number at once."""
    slots = asyncio.Semaphore(chains_at_once(context.evaluations[0].settings))

    async def run(evaluation: Evaluation, scenario: Scenario) -> Chain:
        async with slots:
            return await run_chain(context, evaluation, scenario, on_step)

    yield run


def chains_at_once(settings: Settings) -> int:
    """Maximum number of concurrent chains: three times what fills every call slot.

    Without a limit all texts and verdicts of a sweep would be in memory together. With a factor of two, call
    slots were idle near the end of a sweep: all chains had begun and none was ready for its judge.
    """
    return max(4, 3 * math.ceil(settings.runner.concurrency / settings.seeds))


def conditions_at_once(evaluations: Sequence[Evaluation]) -> int:
    """Maximum number of conditions that have begun and are not written: those of three times the chains.

    Chains whose stages are all stored wait for nothing. Without this limit, those of all conditions ran, and
    their texts and verdicts were in memory, before the first condition was written.
    """
    fewest = min(len(evaluation.scenarios) for evaluation in evaluations)
    return max(4, 3 * math.ceil(chains_at_once(evaluations[0].settings) / max(1, fewest)))


async def run_chain(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, on_step: OnStep
) -> Chain:
    """Run the stages; `on_step` is called after each with its name and whether it was skipped."""
    name, kind = f"{scenario.scenario_id} · {evaluation.name}", evaluation.kind
    steps: dict[str, Step] = {}

    async def stage(work: Work) -> StageResult:
        result = await run_cached(context.objects, name, work, [scenario.scenario_id, evaluation.name])
        steps[work.stage] = Step(work.key, result.address, result.skipped)
        on_step(work.stage, result.skipped)
        return result

    context.check_stopping()
    packet = take_packet(context, evaluation, scenario)
    wrote = await stage(kind.write(context, evaluation, scenario, packet))
    cut = await stage(kind.read(context, evaluation, scenario, wrote))
    briefs = kind.briefs(cut.value)
    files = kind.files(context)
    graded = await stage(judge_work(context, evaluation, scenario, briefs, cut.address, files=files))
    judged = judged_of(graded.value)
    scored = await stage(score_work(evaluation, scenario, briefs, judged.verdicts, graded.address))
    scores = from_rows(BriefScore, scored.value)
    submissions = kind.submissions(wrote.value, cut.value)
    return Chain(scenario.scenario_id, briefs, judged, scores, submissions, steps)


def read_chain(
    objects: ObjectStore, evaluation: Evaluation, scenario: Scenario, steps: Mapping[str, Step]
) -> Chain:
    """Return what a chain made elsewhere, from the store.

    Raises:
        StoreError: a value is not there.
    """
    kind = evaluation.kind

    def value(stage: str) -> Any:
        step = steps[stage]
        found = objects.get(stage, step.key, step.address)
        if found is None:
            raise StoreError(
                f"{stage} · {scenario.scenario_id} · {evaluation.name}",
                "a worker stored it, and it is not in the store here",
                remedy="give workers the same results folder",
            )
        return found

    cut = value("truncate")
    wrote: list[Any] = value("generate") if kind.has_tasks else []
    return Chain(
        scenario.scenario_id,
        kind.briefs(cut),
        judged_of(value("judge")),
        from_rows(BriefScore, value("score")),
        kind.submissions(wrote, cut),
        steps,
    )
