"""Build the verdicts on a brief from item verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flows.schema.brief import Brief
from flows.schema.scenario import Item
from flows.schema.verdict import FailureMode, Verdict, VerdictStatus
from flows.stages.judge.reply import ItemVerdict


def verdicts_for_brief(items: Sequence[Item], brief: Brief, found: Iterable[ItemVerdict]) -> list[Verdict]:
    """Return the verdicts on a brief in rubric order, from the results of its calls.

    Raises:
        ValueError: an item of the rubric is missing or duplicated, or an item is not in the rubric.
    """
    by_id: dict[str, ItemVerdict] = {}
    for verdict in found:
        if verdict.item_id in by_id:
            raise ValueError(f"{brief.brief_id}: two verdicts on {verdict.item_id}")
        by_id[verdict.item_id] = verdict
    odd = by_id.keys() ^ {item.item_id for item in items}
    if odd:
        raise ValueError(f"{brief.brief_id}: verdicts and rubric differ in {', '.join(sorted(odd))}")
    verdicts: list[Verdict] = []
    for item in items:
        found_one = by_id[item.item_id]
        verdicts.append(
            Verdict(
                brief.scenario_id,
                brief.seed,
                item.item_id,
                found_one.status,
                found_one.passed,
                found_one.mode,
                found_one.reason,
            )
        )
    return verdicts


def verdicts_for_missing(
    items: Sequence[Item], brief: Brief, status: VerdictStatus, reason: str
) -> list[Verdict]:
    """Return the verdicts on an ungraded brief: every item has `status`, none passed or failed.

    Args:
        items: the rubric, in file order.
        brief: a brief without a text or without a reply of the judge.
        status: `refused`, `unparsed` or `error`.
        reason: why there is no verdict.

    Raises:
        ValueError: `status` is `graded`.
    """
    return [
        Verdict(brief.scenario_id, brief.seed, item.item_id, status, None, reason=reason) for item in items
    ]


def verdicts_for_no_report(items: Sequence[Item], brief: Brief, reason: str) -> list[Verdict]:
    """Return the verdicts on a report that is missing, corrupt or empty, without a judge.

    No required criterion is met and no penalty is triggered, so its score is 0 (MissionReport, Scoring).

    Args:
        items: the rubric, in file order.
        brief: the report.
        reason: why there is nothing to judge.
    """
    return [
        Verdict(
            brief.scenario_id,
            brief.seed,
            item.item_id,
            VerdictStatus.graded,
            item.is_error,
            None if item.is_error else FailureMode.omission,
            reason,
        )
        for item in items
    ]
