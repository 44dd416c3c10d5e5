"""Attempts of a remote model with the native harness: their cache inputs, and how they run."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flows.common.errors import Stopped
from flows.pipeline.inputs.packets import source_digests
from flows.pipeline.inputs.scenarios import task_of
from flows.pipeline.inputs.submission_check import WORD_RULE
from flows.pipeline.native.contract import NATIVE_VERSION, TOOL_SECONDS, Limits, Prompt
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.readers import READER_VERSIONS
from flows.schema.call import build_call
from flows.schema.completion import Completion, Message
from flows.schema.condition import sent_fields
from flows.schema.report_task import Submitted
from flows.schema.scenario import Scenario
from flows.schema.settings import Clock


def native_inputs(context: RunContext, evaluation: Evaluation, scenario: Scenario) -> dict[str, Any]:
    """Return everything that the attempts at a task depend on, except replies."""
    settings = evaluation.settings
    task = task_of(scenario)
    return {
        "versions": [NATIVE_VERSION, dict(READER_VERSIONS), WORD_RULE],
        "scenario": scenario.scenario_id,
        "instructions": [[step.name, step.instruction, step.agent_seconds] for step in task.steps],
        "length_limit": task.length_limit,
        "files": source_digests(context.folder(evaluation, scenario), scenario),
        "prompt": asdict(settings.prompt),
        "model": sent_fields(settings.model),
        "takes_images": settings.model.takes_images,
        "effort": settings.effort.level.value,
        "harness": asdict(settings.harness),
        "seeds": settings.seeds,
    }


async def native_attempt(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, seed: int
) -> tuple[Submitted, list[dict[str, Any]]]:
    """Run one attempt; return its submission and its trajectory.

    Raises:
        StaffbenchError: the run was stopped, a budget was reached, or a file can't be read or written.
    """
    from flows.pipeline.native.loop import attempt  # slow import

    assert context.client is not None
    client, settings = context.client, evaluation.settings
    model, effort, harness = settings.model, settings.effort.level, settings.harness
    asked = {"effort": effort.value, "harness": harness.name.value, "seed_sent": model.send_seed}

    async def ask(
        messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], waited: float
    ) -> Completion:
        if context.stopping:
            raise Stopped("run", "stopped in an attempt", remedy="The same command resumes.")
        plain = build_call(model, effort, messages, seed, output_tokens=model.output_tokens)
        request = replace(plain, parameters={**plain.parameters, "tools": [dict(tool) for tool in tools]})
        timed = {**asked, TOOL_SECONDS: round(waited, 3)}
        return (await client.complete(request, model, timed)).completion

    made = await attempt(
        ask,
        task_of(scenario),
        context.folder(evaluation, scenario),
        prompt=Prompt(settings.prompt.system, settings.prompt.user),
        limits=Limits(
            max_steps=harness.max_steps,
            max_tokens=harness.max_tokens,
            max_minutes=harness.max_minutes,
            count_tools=harness.clock is not Clock.calls,
            nudges=harness.nudges or 0,
            page_chars=harness.page_chars or Limits().page_chars,
            images=model.takes_images,
        ),
        renders=context.renders,
        scratch_root=Path(tempfile.gettempdir()),  # the system deletes what a killed run leaves
    )
    # Stored before anything uses it.
    report = None if made.report is None else await asyncio.to_thread(context.reports.put, made.report)
    submitted = Submitted(
        seed=seed,
        status=made.status,
        report=report,
        ended=made.ended,
        n_calls=len(made.completions),
        completion=made.completions[-1] if made.completions else None,
        detail=made.detail,
    )
    return submitted, made.trajectory
