"""The stages packet, score and aggregate, and the rule for retries."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flows.pipeline.inputs.packets import load_packet, packet_key, packet_path
from flows.pipeline.orchestration.work import Work
from flows.pipeline.work.digests import items_digest
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.schema.brief import Brief, BriefStatus
from flows.schema.call import ASKED_AGAIN
from flows.schema.document import Packet
from flows.schema.rows import as_row
from flows.schema.scenario import Scenario
from flows.schema.settings import Retry
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.aggregate import AGGREGATE_VERSION, aggregate
from flows.stages.score import SCORE_VERSION, score_briefs


def packet_work(context: RunContext, evaluation: Evaluation, scenario: Scenario) -> Work:
    """Load or build the packet; the value is its digest."""

    async def make() -> str:
        return (await asyncio.to_thread(take_packet, context, evaluation, scenario)).digest

    return Work("packet", {"key": packet_key(context.folder(evaluation, scenario), scenario)}, make)


def take_packet(context: RunContext, evaluation: Evaluation, scenario: Scenario) -> Packet:
    """Return the packet, which is loaded or built once."""
    folder = context.folder(evaluation, scenario)
    if folder not in context.packets:
        data = context.project / evaluation.settings.benchmark.data
        path = packet_path(data, evaluation.condition.benchmark, folder.name)
        context.packets[folder] = load_packet(folder, scenario, path)
    return context.packets[folder]


def score_work(
    evaluation: Evaluation,
    scenario: Scenario,
    briefs: Sequence[Brief],
    verdicts: Sequence[Verdict],
    source: str,
) -> Work:
    """Score each brief."""
    settings = evaluation.settings
    scoring = settings.scoring
    refused = {(b.scenario_id, b.seed) for b in briefs if b.status is BriefStatus.refused}

    async def make() -> list[dict[str, Any]]:
        ordered = sorted(verdicts, key=lambda verdict: verdict.seed)
        scores = score_briefs({scenario.scenario_id: scenario.items}, ordered, scoring, refused)
        return [as_row(score) for score in scores]

    inputs = {
        "scenario": scenario.scenario_id,
        "version": SCORE_VERSION,
        "weights": scoring.weights,
        "min_graded": scoring.min_graded,
        "refused": [scoring.refusals.value, *sorted(seed for _, seed in refused)],
        "items": items_digest(scenario.items),
        "verdicts": source,
    }
    return Work("score", inputs, make)


def aggregate_work(evaluation: Evaluation, scores: Sequence[BriefScore], sources: Sequence[str]) -> Work:
    """Estimate the condition's mean and interval."""
    settings = evaluation.settings
    names = [scenario.scenario_id for scenario in evaluation.scenarios]

    async def make() -> dict[str, Any]:
        return asdict(aggregate(scores, names, settings.seeds, settings.scoring))

    inputs = {
        "version": AGGREGATE_VERSION,
        "scores": dict(zip(names, sources, strict=True)),
        "seeds": settings.seeds,
        "clamped": settings.scoring.clamped,
        "interval": settings.scoring.interval.value,
        "level": settings.scoring.interval_level,
        "resamples": settings.scoring.resamples,
        "min_coverage": settings.scoring.min_coverage,
    }
    return Work("aggregate", inputs, make)


def should_retry(retry: Retry, statuses: Sequence[str]) -> bool:
    """Whether any of these statuses is to be retried."""
    return not ASKED_AGAIN[retry].isdisjoint(statuses)
