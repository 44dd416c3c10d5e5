"""What verdicts and briefs rest on, as digests and versions, so that what no longer holds is noticed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from flows.common.digests import canonical_json, sha256_text
from flows.pipeline.work.run_context import Evaluation
from flows.schema.document import Packet
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import JudgeKind, Writer
from flows.stages.offline import OFFLINE_VERSION
from flows.stages.offline.reference import REFERENCE_VERSION


@lru_cache(maxsize=1024)
def items_digest(items: tuple[Item, ...]) -> str:
    """sha256 over everything of a rubric that a verdict or a score rests on, an expert's report aside."""
    return sha256_text(canonical_json([_identity(item) for item in items]))


def _identity(item: Item) -> list[str | int | float]:
    if item.step is None or item.tier is None or item.severity is None:
        return [item.item_id, item.points or 0.0, item.requirement]
    return [
        item.item_id,
        item.step.value,
        item.tier.value,
        item.severity.value,
        item.requirement,
        item.ground_truth,
        item.pass_condition,
        item.fail_condition,
    ]


def rubric_digest(scenario: Scenario) -> str:
    """`items_digest`; of a task with the expert's report, which its verdicts rest on as well."""
    digest = items_digest(scenario.items)
    return (
        digest if scenario.reference is None else sha256_text(f"{digest} {sha256_text(scenario.reference)}")
    )


def rubric_digests(scenarios: Sequence[Scenario]) -> Mapping[str, str]:
    """`rubric_digest` by scenario."""
    return {scenario.scenario_id: rubric_digest(scenario) for scenario in scenarios}


def written_from(evaluation: Evaluation, packets: Iterable[Packet]) -> dict[str, Any]:
    """What the briefs of a condition follow from, the texts of controls and files aside.

    Args:
        evaluation: of the condition.
        packets: those of its scenarios, and any others.

    Returns:
        `documents` and `assignments`: sha256 by scenario, of those that the writer reads: a control, or
        a brief that lies in a file, is the same whatever they say. `prompt`: sha256 of the prompt with
        its texts; None where no model is asked.
    """
    settings = evaluation.settings
    is_asked = settings.model.writer is Writer.remote
    reads = is_asked or settings.model.writer is Writer.extractive
    digests = {packet.scenario_id: packet.digest for packet in packets}
    return {
        "documents": {
            one.scenario_id: digests[one.scenario_id]
            for one in evaluation.scenarios
            if reads and one.scenario_id in digests
        },
        "assignments": {
            one.scenario_id: sha256_text(one.assignment)
            for one in evaluation.scenarios
            if is_asked or (reads and one.task is not None)  # the baseline of briefs reads documents alone
        },
        "prompt": sha256_text(canonical_json(asdict(settings.prompt))) if is_asked else None,
    }


def rule_versions(scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Versions of the offline judge's rules that its verdicts on these scenarios rest on.

    As in the judge stage's key: rules beside an expert's report read texts as the others do.
    """
    versions = {"offline": OFFLINE_VERSION}
    if any(scenario.reference is not None for scenario in scenarios):
        versions["reference"] = REFERENCE_VERSION
    return versions


def judge_versions(evaluation: Evaluation) -> dict[str, str]:
    """`rule_versions` where the judge, or a member of the panel, is the offline one; else empty.

    They are no part of the judge's digest, so that its label and what is stored under it stay.
    """
    kinds = {one.settings.judge.kind for one in (evaluation, *evaluation.voters)}
    return rule_versions(evaluation.scenarios) if JudgeKind.offline in kinds else {}
