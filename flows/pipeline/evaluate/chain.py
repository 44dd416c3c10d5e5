"""What a chain made, the stages of one scenario under one condition; how many run at once."""

import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from flows.adapters.objects import ObjectStore
from flows.common.errors import StoreError
from flows.pipeline.work.judging import Judged, judged_of
from flows.pipeline.work.run_context import Evaluation, RunContext, Submission
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
