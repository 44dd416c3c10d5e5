"""The flow: generate, truncate, judge, score and aggregate, for every scenario of every condition.

A chain is the stages of one scenario under one condition. All chains run concurrently in one event loop and
share one limit per provider; a chain waits only for its own previous stage.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from prefect import flow
from prefect.artifacts import acreate_link_artifact, acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from flows.common.errors import BudgetReached, StaffbenchError, Stopped
from flows.common.gather import gather_then_raise
from flows.common.text import number
from flows.pipeline.evaluate.chain import RunChain, conditions_at_once
from flows.pipeline.evaluate.job import JOB, Ended, Finished, Job
from flows.pipeline.orchestration.cached_tasks import TaskRuns, run_cached, show_skipped
from flows.pipeline.orchestration.flow_runs import (
    add_tags,
    log,
    mark_killed,
    marked_as_running,
    progress_shown,
)
from flows.pipeline.results.leaderboard import board_file
from flows.pipeline.results.record import Outcome, write_results
from flows.pipeline.results.served import judge_served, replies_behind, served, writer_spent
from flows.pipeline.results.stored import results_lock
from flows.pipeline.work.run_context import Evaluation
from flows.pipeline.work.stages import aggregate_work, packet_work, take_packet
from flows.schema.brief import BriefStatus
from flows.schema.rows import from_row
from flows.schema.scenario import Scenario
from flows.schema.verdict import Estimate, Verdict, VerdictStatus
from flows.stages.notes import notes
from flows.stages.table import to_markdown


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
        await _report(job, title, run_id, results)
        state = _state(job.finished)
        await log(run_id, f"{state.name}: {state.message}")
        return state


async def _report(job: Job, title: str, run_id: str, results: Sequence[Ended | BaseException]) -> None:
    """Fill in what finished, and write the leaderboard."""
    finished = job.finished
    for evaluation, result in zip(job.context.evaluations, results, strict=True):
        if isinstance(result, StaffbenchError):
            finished.faults.append((evaluation, result))
            await log(run_id, f"{evaluation.name}: {result}", logging.ERROR)
        elif isinstance(result, BaseException):
            raise result
        else:
            finished.outcomes.append((evaluation, result))
    finished.flow_run_id = run_id
    job.report()
    if finished.board is not None and TaskRuns.enabled:
        board = finished.board.leaderboard
        table = to_markdown(board, notes(board))
        await acreate_markdown_artifact(table, key="leaderboard", description=title)
        folder = job.context.results / board.benchmark
        site = folder / "site" / "index.html"  # of staffbench report
        file = site if site.is_file() else folder / board_file(folder, board.scoring)
        text = "On the machine of the run. Pages are made by staffbench report."
        await acreate_link_artifact(file.resolve().as_uri(), str(file), key="results", description=text)


def _state(finished: Finished) -> State[None]:
    stops = [fault for _, fault in finished.faults if isinstance(fault, Stopped | BudgetReached)]
    if stops:
        return Cancelled(message=str(stops[0]))
    if finished.faults:
        return Failed(message=str(finished.faults[0][1]))
    ungraded = sum(ended.n_ungraded for _, ended in finished.outcomes)
    message = f"{ungraded} items have no verdict" if ungraded else "every item has a verdict"
    return Completed(message=message)


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
    return Ended(score.n_ungraded, missing, _unjudged(outcome.verdicts))


def _unjudged(verdicts: Sequence[Verdict]) -> dict[str, tuple[int, str]]:
    """Count the items without a verdict by status, with the first reason; not those never judged."""
    found: dict[str, tuple[int, str]] = {}
    for verdict in verdicts:
        if verdict.passed is None and verdict.status is not VerdictStatus.abstained:
            place = f"{verdict.scenario_id}, seed {verdict.seed}, {verdict.item_id}"
            count, first = found.get(verdict.status.value, (0, f"{place}: {verdict.reason or 'no reason'}"))
            found[verdict.status.value] = count + 1, first
    return found
