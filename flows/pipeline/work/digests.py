"""Digests and versions of the inputs of verdicts and briefs, to detect outdated results."""

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
    """SHA-256 of the rubric fields that verdicts and scores depend on, without the expert's report."""
    return sha256_text(canonical_json([_identity(item) for item in items]))


def _identity(item: Item) -> list[str | int | float | None]:
    if item.is_criterion:
        return [item.item_id, item.points or 0.0, item.requirement]
    return [
        item.item_id,
        item.step,
        item.tier,
        item.severity if item.points is None else item.points,
        item.requirement,
        item.ground_truth,
        item.pass_condition,
        item.fail_condition,
    ]


def rubric_digest(scenario: Scenario) -> str:
    """Return `items_digest`, for a task combined with the digest of the expert's report."""
    digest = items_digest(scenario.items)
    return (
        digest if scenario.reference is None else sha256_text(f"{digest} {sha256_text(scenario.reference)}")
    )


def rubric_digests(scenarios: Sequence[Scenario]) -> Mapping[str, str]:
    """Return `rubric_digest` by scenario."""
    return {scenario.scenario_id: rubric_digest(scenario) for scenario in scenarios}


def written_from(evaluation: Evaluation, packets: Iterable[Packet]) -> dict[str, Any]:
    """Return digests of the inputs of a condition's briefs, except texts of controls and files.

    Packets of other scenarios are ignored.

    Returns:
        `documents` and `assignments`: SHA-256 by scenario, only of those that the writer reads (not for
        controls and brief files). `prompt`: SHA-256 of the prompt and its texts; None without a model.
    """
    settings = evaluation.settings
    is_asked = settings.model.writer is Writer.remote
    reads = is_asked or settings.model.writer is Writer.extractive
    digests = {packet.scenario_id: packet.digest for packet in packets}
    return {
        "documents": {
            scenario.scenario_id: digests[scenario.scenario_id]
            for scenario in evaluation.scenarios
            if reads and scenario.scenario_id in digests
        },
        "assignments": {
            scenario.scenario_id: sha256_text(scenario.assignment)
            for scenario in evaluation.scenarios
            if is_asked
            or (reads and scenario.task is not None)  # the baseline for briefs reads documents only
        },
        "prompt": sha256_text(canonical_json(asdict(settings.prompt))) if is_asked else None,
    }


def rule_versions(scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Return the versions of the offline judge's rules that apply to these scenarios.

    The same as in the judge stage's key. Rules that compare with an expert's report use the others too.
    """
    versions = {"offline": OFFLINE_VERSION}
    if any(scenario.reference is not None for scenario in scenarios):
        versions["reference"] = REFERENCE_VERSION
    return versions


def judge_versions(evaluation: Evaluation) -> dict[str, str]:
    """Return `rule_versions` if the judge or a panel member is the offline judge; else nothing.

    They are not part of the judge's digest, so that its label and stored results stay valid.
    """
    kinds = {each.settings.judge.kind for each in (evaluation, *evaluation.voters)}
    return rule_versions(evaluation.scenarios) if JudgeKind.offline in kinds else {}
