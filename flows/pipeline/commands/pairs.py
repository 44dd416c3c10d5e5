"""Agreement of remote judges with the labelled pairs: `staffbench agreement judge=...`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from flows.adapters.completions.client import Client, check_key
from flows.adapters.completions.stores.shared import Store
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.pairs import load_pairs
from flows.common.digests import sha256_text
from flows.common.gather import gather_then_raise
from flows.pipeline.work.remote_judge import ask
from flows.pipeline.work.stores import Stores
from flows.schema.scenario import Item
from flows.schema.settings import JudgeKind, JudgeSettings, Settings
from flows.schema.verdict import Agreement
from flows.stages.agreement import LabelledVerdict, measure_agreement, window_overlap
from flows.stages.judge import build_requests


def remote_pairs_agreement(project: Path, settings: Settings) -> list[tuple[str, Agreement]]:
    """Measure how far the configured judge, or each remote panel member, agrees with the labelled pairs.

    The judge is asked as in a run, by its mode: the items of a brief together or one by one. Its replies are
    stored and paid for once; pairs without a verdict are counted separately.

    Returns:
        Label and agreement of each judge; empty for the offline judge.

    Raises:
        ScenarioError: the pairs can't be read.
        StaffbenchError: the judge can't be asked.
    """
    judge = settings.judge
    judges = list(judge.members.values()) if judge.kind is JudgeKind.panel else [judge]
    remote = [member for member in judges if member.kind is JudgeKind.remote]
    if not remote:
        return []
    for member in remote:
        check_key(member)
    store = Stores.of(project, settings).completions()
    try:
        return asyncio.run(_ask_judges(project, settings, remote, store))
    finally:
        store.close()


async def _ask_judges(
    project: Path, settings: Settings, judges: list[JudgeSettings], store: Store
) -> list[tuple[str, Agreement]]:
    client = ThreadedClient(Client(store, settings.runner, settings.budget, settings.retry))
    try:
        found = await gather_then_raise([_ask_pairs(project, settings, judge, client) for judge in judges])
    finally:
        await client.aclose()
    return [
        (judge.label, measure_agreement("judge pairs", pairs))
        for judge, pairs in zip(judges, found, strict=True)
    ]


async def _ask_pairs(
    project: Path, settings: Settings, judge: JudgeSettings, client: ThreadedClient
) -> list[LabelledVerdict]:
    by_brief: dict[str, list[tuple[Item, bool]]] = {}
    for _, item, label, brief in load_pairs(project / "data" / "judge_pairs"):
        by_brief.setdefault(brief, []).append((item, label))
    calls = [
        call
        for brief, pairs in by_brief.items()
        for call in build_requests([item for item, _ in pairs], brief, judge, settings.judge_prompt, 1)
    ]
    answers = await gather_then_raise([ask(client, judge, call, settings.retry) for call in calls])
    passed = {verdict.item_id: verdict.passed for answer in answers for verdict in answer.verdicts}
    return [
        LabelledVerdict(item, label, passed[item.item_id], name, name, window_overlap([item], brief)[0])
        for brief, pairs in by_brief.items()
        for name in [sha256_text(brief)]
        for item, label in pairs
    ]
