"""One report through our judge stage, outside a run: no Prefect server, no tables, no cache."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.completions.client import Client, check_key
from flows.adapters.completions.store import CompletionStore
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import Point
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.pipeline.native.renders import Renders
from flows.pipeline.work.briefs import no_pages
from flows.pipeline.work.evaluations import evaluation_of
from flows.pipeline.work.judging import judge_work, judged_of
from flows.pipeline.work.run_context import Pages, RunContext
from flows.schema.brief import Brief
from flows.schema.completion import Image
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind
from flows.schema.verdict import Verdict


async def grade_one(
    project: Path, point: Point, scenario: Scenario, brief: Brief, report: Path
) -> Sequence[Verdict]:
    """Verdicts on every item of one brief, by the judge stage as any run has it.

    Args:
        project: folder that holds `conf/`.
        point: judge, prompt and limits; replies go to `settings.results`, which is an absolute path.
        scenario: the rubric; for a report with the expert's text.
        brief: the text that is graded.
        report: the file, for its look where the judge takes images.

    Raises:
        StaffbenchError: the judge can't be asked at all; a call that failed is a verdict that says so.
    """
    results = Path(point.settings.results)
    # Who wrote the brief is Harbor's to know: the settings' own writer is the default one, and not asked.
    evaluation = evaluation_of(point.settings, point.changed, (scenario,))
    context = RunContext(
        project,
        results,
        [evaluation],
        None,
        ObjectStore(results / "objects"),
        ReportStore(results / "reports"),
        Renders(results / "renders"),
    )
    store: CompletionStore | None = None
    judges = [one.settings for one in (evaluation, *evaluation.voters)]
    try:
        if any(one.judge.kind is JudgeKind.remote for one in judges):
            for one in judges:
                check_key(one.judge)
            store = CompletionStore(results / "completions")
            settings = point.settings
            context.client = ThreadedClient(Client(store, settings.runner, settings.budget, settings.retry))
        pages = no_pages if scenario.reference is None else _pages(context.renders, report)
        work = judge_work(context, evaluation, scenario, [brief], "", pages=pages)
        return judged_of(await work.make()).verdicts
    finally:
        if context.client is not None:
            await context.client.aclose()
        if store is not None:
            store.close()


def _pages(renders: Renders, report: Path) -> Pages:
    async def pages(_: Brief) -> Sequence[Image]:
        data = await asyncio.to_thread(report.read_bytes)
        layout = await renders.layout(data, report.suffix, images=True)
        return tuple(Image("image/png", image) for image in layout.images)

    return pages
