"""Grade one brief by a remote model: in one call, or by an agent that opens the reports itself."""

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.common.errors import ConfigError
from flows.common.gather import gather_then_raise
from flows.pipeline.native.chat import seconds_of
from flows.pipeline.native.contract import TOOL_SECONDS, Limits
from flows.pipeline.native.judging import EXPERT, FILES, REPORT, OpenFile, judge_by_tools
from flows.pipeline.native.renders import Renders
from flows.pipeline.work.run_context import Evaluation, Files, RunContext
from flows.pipeline.work.stages import should_retry
from flows.schema.brief import Brief
from flows.schema.completion import Completion, Image, Message, Request
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeHarness, JudgeSettings, Retry
from flows.schema.verdict import ItemVerdict, VerdictStatus
from flows.stages.judge import (
    JudgeCall,
    build_agent_call,
    build_requests,
    judge_outcome,
    misses_canary,
    shield,
)

REPLIES: ContextVar[list[Completion]] = ContextVar("REPLIES")
"""The judge's replies of the stage that is running: what they cost, and which models answered."""
CHATS: ContextVar[list[tuple[int, int, Sequence[Mapping[str, Any]]]]] = ContextVar("CHATS")
"""Chats of the stage that is running: seed of a report, number of the judge's repeat, and the events."""


@dataclass(frozen=True)
class Asked:
    """What a judge said about one brief, once: verdicts on every item, and replies rejected for a canary."""

    verdicts: Sequence[ItemVerdict]
    n_canary_missed: int = 0


async def ask_about(
    context: RunContext,
    evaluation: Evaluation,
    scenario: Scenario,
    brief: Brief,
    *,
    seed: int,
    files: Files,
) -> Asked:
    """Have every item of a brief graded once.

    The brief has a text. `seed` is the number of the judge's repeat; the brief's seed is not part of a
    request.

    Raises:
        ConfigError: pages were counted before, and can't be rendered now.
        StaffbenchError: the run was stopped, a budget was reached, or the judge can't be used.
    """
    assert brief.text is not None
    client, settings = context.client, evaluation.settings
    assert client is not None
    judge = settings.judge
    data = await files(brief) if judge.takes_images else None
    if judge.harness is JudgeHarness.agent:
        return await _ask_agent(context, evaluation, scenario, brief, data, seed=seed)
    pages, expert = await all_pages(context.renders, scenario, brief.brief_id, data)
    calls = build_requests(
        scenario.items,
        brief.text,
        judge,
        settings.judge_prompt,
        seed,
        reference=scenario.reference,
        pages=pages,
        reference_pages=expert,
    )
    seconds = time_limit(scenario)
    found = await gather_then_raise([ask(client, judge, call, settings.retry, seconds) for call in calls])
    verdicts = [verdict for one in found for verdict in one.verdicts]
    return Asked(verdicts, sum(one.n_canary_missed for one in found))


def time_limit(scenario: Scenario) -> float | None:
    """Return the seconds that a task gives its verifier; None without a limit."""
    return None if scenario.task is None else scenario.task.steps[-1].verifier_seconds


async def ask(
    client: ThreadedClient, judge: JudgeSettings, call: JudgeCall, retry: Retry, seconds: float | None = None
) -> Asked:
    """Ask the judge, repeating rejected calls.

    If an earlier run used up its attempts, `retry` decides whether as many follow. Stored attempts are always
    replayed, since one of them may be valid.

    `seconds` limits the recorded seconds of all attempts: a reply after it is not read.
    """
    asked = {"effort": judge.effort.value, "mode": judge.mode.value}
    again = should_retry(retry, [VerdictStatus.unparsed.value])
    missed, used = 0, 0.0
    while True:
        outcome = await client.complete(call.request, judge, asked)
        REPLIES.get([]).append(outcome.completion)
        used += seconds_of(outcome.completion)
        if seconds is not None and used > seconds:
            reason = f"no reply within the task's verifier.timeout_sec, {seconds:g} s"
            late = [ItemVerdict(name, VerdictStatus.error, None, reason=reason) for name in call.item_ids]
            return Asked(late, missed)
        missed += misses_canary(call, outcome.completion)
        found = judge_outcome(call, outcome.completion, call.attempt + 1)
        if isinstance(found, JudgeCall):
            used_up = call.attempt % judge.max_attempts == 0
            if not used_up or (again and outcome.earlier) or client.knows(found.request):
                call = found
                continue
            found = judge_outcome(call, outcome.completion, call.attempt)
            assert not isinstance(found, JudgeCall)
        return Asked(found, missed)


async def _ask_agent(
    context: RunContext,
    evaluation: Evaluation,
    scenario: Scenario,
    brief: Brief,
    data: bytes | None,
    *,
    seed: int,
) -> Asked:
    client, settings = context.client, evaluation.settings
    assert client is not None
    judge = settings.judge
    call = build_agent_call(scenario.items, judge, settings.judge_prompt, seed, files=FILES)
    again = should_retry(settings.retry, [VerdictStatus.unparsed.value])
    asked = {"effort": judge.effort.value, "mode": judge.mode.value, "harness": judge.harness.value}
    earlier = True
    offered: Sequence[Mapping[str, Any]] = ()

    def request_of(messages: Sequence[Message]) -> Request:
        parameters = {**call.request.parameters, "tools": [dict(tool) for tool in offered]}
        return replace(call.request, messages=tuple(messages), parameters=parameters)

    async def complete(
        messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], waited: float
    ) -> Completion:
        nonlocal earlier, offered
        context.check_stopping()
        offered = tools
        timed = {**asked, TOOL_SECONDS: round(waited, 3)}
        outcome = await client.complete(request_of(messages), judge, timed)
        earlier = outcome.earlier
        REPLIES.get([]).append(outcome.completion)
        return outcome.completion

    expert = await _expert(scenario) if judge.takes_images else None
    judgment = await judge_by_tools(
        complete,
        call,
        {
            REPORT: OpenFile(shield(brief.text or "")[0], data),
            EXPERT: OpenFile(shield(scenario.reference or "")[0], expert),
        },
        context.renders,
        limits=Limits(max_steps=judge.max_steps, max_minutes=None, images=judge.takes_images),
        seconds=time_limit(scenario),
        max_attempts=judge.max_attempts,
        may_go_on=lambda messages: (again and earlier) or client.knows(request_of(messages)),
    )
    CHATS.get([]).append((brief.seed, seed, judgment.events))
    return Asked(judgment.verdicts, judgment.n_canary_missed)


async def all_pages(
    renders: Renders, scenario: Scenario, brief_id: str, data: bytes | None
) -> tuple[Sequence[Image], Sequence[Image]]:
    """Return the images of a report's pages and of the expert's; none if the report's were not counted.

    Raises:
        ConfigError: they were counted before, and can't be rendered now.
    """
    if data is None:
        return (), ()
    expert = await _expert(scenario)
    pages = await _pages(renders, data, brief_id)
    if expert is None or not pages:
        return pages, ()
    return pages, await _pages(renders, expert, f"{scenario.scenario_id}: the expert's report")


async def _pages(renders: Renders, data: bytes, what: str) -> Sequence[Image]:
    layout = await renders.layout(data, ".docx", images=True)
    if not layout.images and (await renders.layout(data, ".docx")).pages is not None:
        # The judge would silently be shown none.
        raise ConfigError(
            f"{what}: its pages",
            f"counted before, and can't be rendered now ({layout.said})",
            "LibreOffice, or stored page images",
            "install LibreOffice, or set judge.takes_images=false",
        )
    return tuple(Image("image/png", image) for image in layout.images)


async def _expert(scenario: Scenario) -> bytes | None:
    if scenario.reference_file is None:
        return None
    return await asyncio.to_thread(Path(scenario.reference_file).read_bytes)
