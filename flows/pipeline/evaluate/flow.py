"""The flow: generate, truncate, judge, score and aggregate, for every scenario of every condition.

A chain is the stages of one scenario under one condition. All chains run concurrently in one event loop and
share one limit per provider; a chain waits only for its own previous stage.
"""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run

from flows.adapters.config.compose import Point
from flows.adapters.screen import Progress, Screen
from flows.adapters.tables import forget_pandas
from flows.adapters.tracking import Tracker
from flows.common.errors import StaffbenchError
from flows.common.gather import gather_then_raise
from flows.common.text import number
from flows.pipeline.evaluate.chain import Chain, OnStep, RunChain, Step, chains_at_once, conditions_at_once
from flows.pipeline.evaluate.job import JOB, Ended, Job, Signals, counts, expected, title_of
from flows.pipeline.evaluate.reporting import report, state_of, unjudged
from flows.pipeline.evaluate.run_page import RunPage
from flows.pipeline.evaluate.session import Asked, open_client, open_crew, run_flow
from flows.pipeline.evaluate.showing import command_hint
from flows.pipeline.orchestration.cached_tasks import TaskRuns, run_cached, show_skipped
from flows.pipeline.orchestration.flow_runs import (
    add_tags,
    log,
    mark_killed,
    marked_as_running,
    progress_shown,
)
from flows.pipeline.orchestration.server import Server
from flows.pipeline.orchestration.work import StageResult, Work
from flows.pipeline.results.record import Outcome, write_results
from flows.pipeline.results.served import judge_served, replies_behind, served, writer_spent
from flows.pipeline.results.stored import results_lock
from flows.pipeline.work.evaluations import build_evaluations
from flows.pipeline.work.judging import judge_work, judged_of
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.pipeline.work.stages import aggregate_work, packet_work, score_work, take_packet
from flows.pipeline.work.stores import Stores
from flows.readers.guarded import stop_reading
from flows.schema.brief import BriefStatus
from flows.schema.rows import from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.verdict import BriefScore, Estimate


def run_points(
    project: Path,
    points: Sequence[Point],
    *,
    server: Server | None,
    screen: Screen,
    watch: bool = False,
    asked: Asked = ((), False),
) -> int:
    """Run every point and show the leaderboard.

    Args:
        project: folder of the project.
        points: what to run.
        server: Prefect's server, starting or running; None inside a deployment, which has its own.
        screen: output.
        watch: True to write a page that follows the run.
        asked: the overrides, and whether they are a sweep: shown by Prefect, which retries by them.

    Returns:
        Exit code: 0, `INCOMPLETE`, or that of the error that stopped the run.

    Raises:
        StaffbenchError: the points can't be run, or not together; no model was called.
    """
    forget_pandas()
    settings = points[0].settings
    results = project / settings.results
    evaluations = build_evaluations(project, points)
    title, params = title_of(evaluations)
    with ExitStack() as stack:
        stack.callback(stop_reading, stopped=False)  # for the next run of this process
        tracking, tracker = settings.tracking, None
        if tracking.enabled:
            tracker = Tracker(results, tracking.experiment, tracking.wait_s)
            stack.callback(tracker.close)
        stores = Stores.of(project, settings)
        crew = open_crew(settings, server, screen, stack, __name__)
        client = open_client(stores, [evaluation.settings for evaluation in evaluations], crew, stack)
        context = stores.context(project, evaluations, client)
        progress = Progress(expected(context), (lambda: counts(context)) if client else None)
        page = results / settings.benchmark.name / "run.html"
        job = Job(
            context,
            title,
            screen,
            progress,
            Signals(context, screen),
            crew.open if crew else in_process,
            tracker,
            RunPage(page, params["command"], command_hint("report", project, settings), progress, evaluations)
            if watch
            else None,
        )
        gc.freeze()  # exclude objects of the imports from collection
        if tracker is not None:
            tracker.start(title, params)  # not earlier: it would slow down the start of Prefect's server
        JOB.set(job)
        return run_flow(evaluate, asked, server, project)


def _title() -> str:
    return JOB.get().title


@flow(
    name="evaluate",
    flow_run_name=_title,
    description="Generate, truncate, judge, score and aggregate every scenario of every condition.",
    validate_parameters=False,
)
async def evaluate(overrides: list[str], sweep: bool) -> State[None]:  # noqa: ARG001 -- what the job was made of
    """Run the job in `JOB`.

    Args:
        overrides: as on the command line; shown by Prefect, which hands them to `deployed` for a retry.
        sweep: True if lists of values are a sweep.
    """
    job = JOB.get()
    title, conditions = job.title, [evaluation.name for evaluation in job.context.evaluations]
    run_id = str(flow_run.id or "")  # none without Prefect
    job.signals.take()
    running = job.context.results / ".cache" / "flow_runs"
    if run_id:
        await mark_killed(running, run_id)
        await add_tags(run_id, [job.context.evaluations[0].condition.benchmark, *conditions])
    shown = progress_shown(run_id, lambda: (job.progress.share, job.progress.line()))
    with marked_as_running(running, run_id):
        await log(run_id, f"{title}: {', '.join(conditions)}")
        before = TaskRuns.count
        async with shown:
            packets = await _read_packets(job)
            async with job.chains(job.context, job.progress.step) as run:
                slots = asyncio.Semaphore(conditions_at_once(job.context.evaluations))

                async def in_turn(evaluation: Evaluation) -> Ended:
                    async with slots:
                        return await _evaluate_one(job, run_id, evaluation, packets, run)

                results = await asyncio.gather(*map(in_turn, job.context.evaluations), return_exceptions=True)
        job.finished.task_runs = TaskRuns.count - before
        await report(job, title, run_id, results)
        state = state_of(job.finished)
        await log(run_id, f"{state.name}: {state.message}")
        return state


async def _read_packets(job: Job) -> dict[Path, StaffbenchError | None]:
    """Read each scenario's packet once for all conditions; return the error, or None, by folder."""
    context, skipped = job.context, Counter[str]()
    wanted = {
        context.folder(evaluation, scenario): (evaluation, scenario)
        for evaluation in context.evaluations
        for scenario in evaluation.scenarios
    }

    async def read(evaluation: Evaluation, scenario: Scenario) -> StaffbenchError | None:
        name, work = scenario.scenario_id, packet_work(context, evaluation, scenario)
        try:
            result = await run_cached(context.objects, name, work, [name])
            take_packet(context, evaluation, scenario)
        except StaffbenchError as error:
            return error
        job.progress.step("packet", result.skipped)
        skipped.update(["packet"] * result.skipped)
        return None

    faults = await gather_then_raise([read(*pair) for pair in wanted.values()])
    await show_skipped("packets", skipped)
    return dict(zip(wanted, faults, strict=True))


async def _evaluate_one(
    job: Job,
    run_id: str,
    evaluation: Evaluation,
    packets: Mapping[Path, StaffbenchError | None],
    run: RunChain,
) -> Ended:
    context = job.context
    for scenario in evaluation.scenarios:
        if (fault := packets[context.folder(evaluation, scenario)]) is not None:
            raise fault

    chains = await gather_then_raise([run(evaluation, scenario) for scenario in evaluation.scenarios])
    scores = [score for chain in chains for score in chain.scores]
    work = aggregate_work(evaluation, scores, [chain.steps["score"].address for chain in chains])
    result = await run_cached(context.objects, evaluation.name, work, [evaluation.name])
    job.progress.step("aggregate", result.skipped)
    skipped = Counter(["aggregate"] * result.skipped)
    for chain in chains:
        skipped.update(stage for stage, step in chain.steps.items() if step.skipped)
    await show_skipped(evaluation.name, skipped)
    briefs = [brief for chain in chains for brief in chain.briefs]
    asked = evaluation.settings.model.name
    stored = context.client.stored if context.client else None
    submissions = [submission for chain in chains for submission in chain.submissions]
    turns = [submission.trajectory for submission in submissions]
    if context.client is not None:
        await context.client.load(replies_behind(briefs, turns))
    outcome = Outcome(
        briefs=briefs,
        judged={chain.scenario_id: chain.judged for chain in chains},
        scores=scores,
        estimate=from_row(Estimate, result.value),
        submissions=submissions,
        served=served(briefs, asked, stored, turns) if stored else {},
        spent=writer_spent(briefs, turns, stored),
        judge_served=judge_served(evaluation, [chain.judged for chain in chains]),
    )
    with results_lock(context.results):
        files = write_results(context.results, evaluation, outcome, context.packets.values())
    missing = [
        f"{evaluation.condition.model} on {brief.scenario_id}, seed {brief.seed}: no brief: {brief.detail}"
        for brief in outcome.briefs
        if brief.status is BriefStatus.error
    ]
    job.log(evaluation, outcome, files)
    score = outcome.estimate
    text = f"score {number(score.score)}, {score.n_briefs} of {score.n_briefs_all} briefs scored"
    await log(run_id, f"{evaluation.name}: {text}")
    return Ended(score.n_ungraded, missing, unjudged(outcome.verdicts))


async def run_chain(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, on_step: OnStep | None = None
) -> Chain:
    """Run the stages; `on_step` is called after each with its name and whether it was skipped."""
    name, kind = f"{scenario.scenario_id} · {evaluation.name}", evaluation.kind
    steps: dict[str, Step] = {}

    async def stage(work: Work) -> StageResult:
        result = await run_cached(context.objects, name, work, [scenario.scenario_id, evaluation.name])
        steps[work.stage] = Step(work.key, result.address, result.skipped)
        if on_step is not None:
            on_step(work.stage, result.skipped)
        return result

    context.check_stopping()
    packet = take_packet(context, evaluation, scenario)
    wrote = await stage(kind.write(context, evaluation, scenario, packet))
    cut = await stage(kind.read(context, evaluation, scenario, wrote))
    briefs = kind.briefs(cut.value)
    files = kind.files(context)
    graded = await stage(judge_work(context, evaluation, scenario, briefs, cut.address, files=files))
    judged = judged_of(graded.value)
    scored = await stage(score_work(evaluation, scenario, briefs, judged.verdicts, graded.address))
    scores = from_rows(BriefScore, scored.value)
    submissions = kind.submissions(wrote.value, cut.value)
    return Chain(scenario.scenario_id, briefs, judged, scores, submissions, steps)


@asynccontextmanager
async def in_process(context: RunContext, on_step: OnStep) -> AsyncGenerator[RunChain]:
    """Give a function that runs chains in this event loop, a limited number at once."""
    slots = asyncio.Semaphore(chains_at_once(context.evaluations[0].settings))

    async def run(evaluation: Evaluation, scenario: Scenario) -> Chain:
        async with slots:
            return await run_chain(context, evaluation, scenario, on_step)

    yield run
