"""What each stage but the judge does for one scenario of one condition, or for one condition: its work."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flows.pipeline.inputs.packets import load_packet, packet_key, packet_path
from flows.pipeline.orchestration.cached_tasks import Work
from flows.pipeline.work.run_context import Evaluation, RunContext, items_digest
from flows.pipeline.work.together import gather_then_raise, should_retry
from flows.pipeline.work.writers import local_inputs, write_local
from flows.schema.brief import Brief, BriefStatus
from flows.schema.document import Packet
from flows.schema.rows import as_row
from flows.schema.scenario import Scenario
from flows.schema.settings import Writer
from flows.schema.verdict import BriefScore, FailureMode, Verdict, VerdictStatus
from flows.stages.aggregate import AGGREGATE_VERSION, aggregate
from flows.stages.generate import GENERATE_VERSION, Written, build_request, read_written
from flows.stages.score import SCORE_VERSION, score_brief
from flows.stages.truncate import WORD_COUNTER, truncate, without_text

# Looked up, not made: a thousand briefs have a hundred thousand verdicts.
STATUSES = {status.value: status for status in VerdictStatus}
MODES = {None: None, **{mode.value: mode for mode in FailureMode}}


def packet_work(context: RunContext, evaluation: Evaluation, scenario: Scenario) -> Work:
    """Read the documents, or find that they were read; the value is the packet's digest."""
    folder = context.folder(evaluation, scenario)
    path = packet_path(
        context.project / evaluation.settings.benchmark.data, evaluation.condition.benchmark, folder.name
    )

    async def make() -> str:
        packet = await asyncio.to_thread(load_packet, folder, scenario, path)
        context.packets[folder] = packet
        return packet.digest

    return Work("packet", {"key": packet_key(folder, scenario)}, make)


def take_packet(context: RunContext, evaluation: Evaluation, scenario: Scenario) -> Packet:
    """The packet that the packet stage made, read back where that stage was skipped."""
    folder = context.folder(evaluation, scenario)
    if folder not in context.packets:
        data: Path = context.project / evaluation.settings.benchmark.data
        path = packet_path(data, evaluation.condition.benchmark, folder.name)
        context.packets[folder] = load_packet(folder, scenario, path)
    return context.packets[folder]


def generate_work(context: RunContext, evaluation: Evaluation, scenario: Scenario, packet: Packet) -> Work:
    """A brief for each seed, as `Written` rows."""
    settings = evaluation.settings
    seeds = range(1, settings.seeds + 1)
    if settings.model.writer is Writer.remote:
        messages = context.messages(scenario, packet, settings.prompt)
        requests = [build_request(messages, settings.model, settings.effort.level, seed) for seed in seeds]
        asked = {"effort": settings.effort.level.value, "seed_sent": settings.model.send_seed}

        async def make() -> list[dict[str, Any]]:
            assert context.client is not None
            calls = [context.client.complete(request, settings.model, asked) for request in requests]
            outcomes = await gather_then_raise(calls)
            rows = [
                read_written(outcome.completion, seed) for outcome, seed in zip(outcomes, seeds, strict=True)
            ]
            return [as_row(row) for row in rows]

        inputs: dict[str, Any] = {
            "version": GENERATE_VERSION,
            "requests": [request.key for request in requests],
        }
    else:
        inputs = {
            "version": GENERATE_VERSION,
            "scenario": scenario.scenario_id,
            **local_inputs(context.project, settings, scenario, packet),
        }

        async def make() -> list[dict[str, Any]]:
            rows = [
                await asyncio.to_thread(write_local, context.project, settings, scenario, packet, seed)
                for seed in seeds
            ]
            return [as_row(row) for row in rows]

    return Work(
        "generate",
        inputs,
        make,
        lambda rows: not should_retry(settings.retry, [row["status"] for row in rows]),
    )


def truncate_work(
    evaluation: Evaluation, scenario: Scenario, rows: list[dict[str, Any]], source: str
) -> Work:
    """The briefs as they are graded."""
    cap = evaluation.settings.word_cap.words

    async def make() -> list[dict[str, Any]]:
        return [as_row(_cut(scenario.scenario_id, _written(row), cap)) for row in rows]

    return Work(
        "truncate",
        {"scenario": scenario.scenario_id, "word_counter": WORD_COUNTER, "cap": cap, "written": source},
        make,
    )


def score_work(evaluation: Evaluation, scenario: Scenario, verdicts: Sequence[Verdict], source: str) -> Work:
    """A score for each brief."""
    settings = evaluation.settings

    async def make() -> list[dict[str, Any]]:
        by_seed: dict[int, list[Verdict]] = {seed: [] for seed in range(1, settings.seeds + 1)}
        for verdict in verdicts:
            by_seed[verdict.seed].append(verdict)
        return [as_row(score_brief(scenario.items, found, settings.scoring)) for found in by_seed.values()]

    inputs = {
        "scenario": scenario.scenario_id,
        "version": SCORE_VERSION,
        "weights": settings.scoring.weights,
        "items": items_digest(scenario.items),
        "verdicts": source,
    }
    return Work("score", inputs, make)


def aggregate_work(evaluation: Evaluation, scores: Sequence[BriefScore], sources: Sequence[str]) -> Work:
    """The condition's estimate."""
    settings = evaluation.settings
    names = [scenario.scenario_id for scenario in evaluation.scenarios]

    async def make() -> dict[str, Any]:
        return asdict(aggregate(scores, names, settings.seeds, settings.scoring))

    inputs = {
        "version": AGGREGATE_VERSION,
        "scores": dict(zip(names, sources, strict=True)),
        "seeds": settings.seeds,
        "clamped": settings.scoring.clamped,
        "level": settings.scoring.interval_level,
        "resamples": settings.scoring.resamples,
    }
    return Work("aggregate", inputs, make)


def brief_of(row: dict[str, Any]) -> Brief:
    """A brief from its JSON."""
    fields: dict[str, Any] = {**row, "status": BriefStatus(row["status"])}
    return Brief(**fields)


def verdict_of(row: dict[str, Any]) -> Verdict:
    """A verdict from its JSON."""
    return Verdict(
        sys.intern(row["scenario_id"]),  # one text for all of them, not one each
        row["seed"],
        sys.intern(row["item_id"]),
        STATUSES[row["status"]],
        row["passed"],
        MODES[row["mode"]],
        row["reason"],
    )


def _cut(scenario_id: str, row: Written, cap: int | None) -> Brief:
    if row.text is None:
        return without_text(scenario_id, row.seed, row.status, row.detail, completion=row.completion)
    brief = truncate(
        scenario_id,
        row.seed,
        row.text,
        cap,
        completion=row.completion,
        cut_by_provider=row.cut_by_provider,
    )
    return replace(brief, detail=row.detail)


def _written(row: dict[str, Any]) -> Written:
    fields: dict[str, Any] = {**row, "status": BriefStatus(row["status"])}
    return Written(**fields)
