"""Grade submissions with the judge stage, outside a run: no Prefect server, tables or cache."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.completions.client import Client, check_key
from flows.adapters.completions.stores.shared import Store
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import Point
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.common.gather import gather_then_raise
from flows.pipeline.native.renders import Renders
from flows.pipeline.work.briefs import no_file
from flows.pipeline.work.evaluations import evaluation_of
from flows.pipeline.work.judging import judge_work, judged_of
from flows.pipeline.work.run_context import Evaluation, Files, RunContext
from flows.pipeline.work.stores import Stores
from flows.schema.brief import Brief
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind
from flows.schema.verdict import Verdict


async def grade_one(
    project: Path, point: Point, scenario: Scenario, brief: Brief, report: Path | None = None
) -> Sequence[Verdict]:
    """Grade every item of one brief; see `grade_all`."""
    return (await grade_all(project, point, [(scenario, brief, report)]))[0]


async def grade_all(
    project: Path, point: Point, briefs: Sequence[tuple[Scenario, Brief, Path | None]]
) -> list[Sequence[Verdict]]:
    """Grade every item of some briefs with the judge stage.

    Args:
        project: folder that holds `conf/`.
        point: judge, prompt and limits; replies go to `settings.results`, an absolute path.
        briefs: each with the rubric, for a report also the expert's text, and with the file, for page images
            if the judge takes them; None for a brief that is text.

    Raises:
        StaffbenchError: the judge can't be used. A failed call is a verdict with that status instead.
    """
    if not briefs:
        return []
    # The briefs are there already; the writer in the settings is a default that is never called.
    scenarios = {scenario.scenario_id: scenario for scenario, _, _ in briefs}
    evaluation = evaluation_of(point.settings, point.changed, tuple(scenarios.values()))
    context = context_of(project, Path(point.settings.results), [evaluation])
    store: Store | None = None
    judges = [each.settings.judge for each in (evaluation, *evaluation.voters)]
    try:
        if any(judge.kind is JudgeKind.remote for judge in judges):
            for judge in judges:
                check_key(judge)
            store = Stores.of(project, point.settings).completions()
            settings = point.settings
            context.client = ThreadedClient(Client(store, settings.runner, settings.budget, settings.retry))

        async def grade(scenario: Scenario, brief: Brief, report: Path | None) -> Sequence[Verdict]:
            files = no_file if scenario.reference is None or report is None else _file(report)
            work = judge_work(context, evaluation, scenario, [brief], "", files=files)
            return judged_of(await work.make()).verdicts

        return await gather_then_raise([grade(*each) for each in briefs])
    finally:
        if context.client is not None:
            await context.client.aclose()
        if store is not None:
            store.close()


def context_of(project: Path, results: Path, evaluations: Sequence[Evaluation] = ()) -> RunContext:
    """Return a run's context outside a run."""
    objects, reports = ObjectStore(results / "objects"), ReportStore(results / "reports")
    return RunContext(project, results, [*evaluations], None, objects, reports, Renders(results / "renders"))


def _file(report: Path) -> Files:
    async def file(_: Brief) -> bytes | None:
        return await asyncio.to_thread(report.read_bytes)

    return file
