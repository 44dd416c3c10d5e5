"""The end of the flow: the leaderboard, and what Prefect shows of the run."""

import logging
from collections.abc import Sequence

from prefect.artifacts import acreate_link_artifact, acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from flows.common.errors import BudgetReached, StaffbenchError, Stopped
from flows.pipeline.evaluate.job import Ended, Finished, Job
from flows.pipeline.orchestration.cached_tasks import TaskRuns
from flows.pipeline.orchestration.flow_runs import log
from flows.pipeline.results.leaderboard import board_file
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.notes import notes
from flows.stages.table import to_markdown


async def report(job: Job, title: str, run_id: str, results: Sequence[Ended | BaseException]) -> None:
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


def state_of(finished: Finished) -> State[None]:
    """Return the state of the flow run."""
    stops = [fault for _, fault in finished.faults if isinstance(fault, Stopped | BudgetReached)]
    if stops:
        return Cancelled(message=str(stops[0]))
    if finished.faults:
        return Failed(message=str(finished.faults[0][1]))
    ungraded = sum(ended.n_ungraded for _, ended in finished.outcomes)
    message = f"{ungraded} items have no verdict" if ungraded else "every item has a verdict"
    return Completed(message=message)


def unjudged(verdicts: Sequence[Verdict]) -> dict[str, tuple[int, str]]:
    """Count the items without a verdict by status, with the first reason; not those never judged."""
    found: dict[str, tuple[int, str]] = {}
    for verdict in verdicts:
        if verdict.passed is None and verdict.status is not VerdictStatus.abstained:
            place = f"{verdict.scenario_id}, seed {verdict.seed}, {verdict.item_id}"
            count, first = found.get(verdict.status.value, (0, f"{place}: {verdict.reason or 'no reason'}"))
            found[verdict.status.value] = count + 1, first
    return found
