"""What the flow is given, and what it fills in."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from flows.adapters.screen import CallCounts, Progress, Screen
from flows.adapters.tracking import Tracker
from flows.common.errors import StaffbenchError
from flows.pipeline.evaluate.chain import OpenChains, RunChain, in_process
from flows.pipeline.evaluate.run_page import RunPage
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard, write_leaderboard, write_task_table
from flows.pipeline.results.record import Outcome, ResultFiles
from flows.pipeline.results.run_record import run_record
from flows.pipeline.results.settings_file import changed_keys
from flows.pipeline.results.stored import left_out, load_graded, load_scenarios, results_lock
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.stages.differing import changed_values

_LONGEST_NAME = 200
_LONGEST_PARAM = 500  # characters; MLflow rejects some thousands


@dataclass(frozen=True)
class Ended:
    """What is kept in memory of a completed evaluation; the rest is in its files.

    Attributes:
        n_ungraded: number of items without a verdict.
        missing: briefs that failed, and why.
        unjudged: by status, how many items have no verdict, and the first reason.
    """

    n_ungraded: int
    missing: Sequence[str]
    unjudged: Mapping[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])


@dataclass(frozen=True)
class Board:
    """A leaderboard and its inputs.

    Attributes:
        leaderboard: rows and notes.
        graded: the graded conditions, unordered.
        scenarios: the benchmark's scenarios, by id.
    """

    leaderboard: Leaderboard
    graded: Sequence[Graded]
    scenarios: Mapping[str, Scenario]


@dataclass
class Finished:
    """Result of a run.

    Attributes:
        outcomes: completed evaluations; some may have ungraded items.
        faults: failed evaluations and their errors.
        flow_run_id: Prefect's id of the run; empty before it is complete.
        task_runs: number of task runs.
        board: the leaderboard; None if no condition was completed.
    """

    outcomes: list[tuple[Evaluation, Ended]] = field(default_factory=list[tuple[Evaluation, Ended]])
    faults: list[tuple[Evaluation, StaffbenchError]] = field(
        default_factory=list[tuple[Evaluation, StaffbenchError]]
    )
    flow_run_id: str = ""
    task_runs: int = 0
    board: Board | None = None


@dataclass(frozen=True)
class Job:
    """Input and output of the flow. Prefect would store parameters, so `JOB` passes it.

    Attributes:
        context: what to run.
        on_start: called when the flow begins.
        finished: filled in as evaluations end. Not the flow's return value, which Prefect would search for
            futures, value by value.
        on_step: called after each stage with its name and whether it was skipped.
        log: called with each completed evaluation, its outcome and its files.
        report: called at the end; writes and returns the leaderboard, None if it has no row.
        title: name of the run.
        progress: of the run.
        chains: opens what runs the chains.
    """

    context: RunContext
    on_start: Callable[[], None]
    on_step: Callable[[str, bool], None]
    log: Callable[[Evaluation, Outcome, ResultFiles], None]
    report: Callable[[Finished], Board | None]
    title: str
    progress: Progress
    chains: Callable[[], AbstractAsyncContextManager[RunChain]]
    finished: Finished = field(default_factory=Finished)


JOB: ContextVar[Job] = ContextVar("JOB")


def build_job(
    context: RunContext,
    progress: Progress,
    tracker: Tracker | None,
    page: RunPage | None,
    screen: Screen,
    *,
    title: str,
    on_start: Callable[[], None],
    chains: OpenChains = in_process,
) -> Job:
    """Build the flow's input."""
    first = context.evaluations[0]
    folder = context.results / first.condition.benchmark

    def log(evaluation: Evaluation, outcome: Outcome, files: ResultFiles) -> None:
        if page is not None:
            page.estimates[evaluation.name] = outcome.estimate
        if tracker is not None:
            most = evaluation.settings.tracking.traces
            # Shared by the conditions, so that a sweep of thousands of briefs is logged in a minute.
            share = -(-most // len(context.evaluations))
            tracker.log(run_record(context.project, evaluation, outcome, files, share))

    def report(finished: Finished) -> Board | None:
        if not finished.outcomes:
            return None
        scenarios, broken = load_scenarios(context.project, first.settings, first.scenarios)
        with results_lock(context.results):
            graded, problems = load_graded(folder, scenarios)
            for problem in (*broken, *problems):
                screen.fault(f"left out of the leaderboard: {problem}")
            if not graded:
                return None
            named = left_out(folder, problems)
            board = build_leaderboard(graded, scenarios, first.settings.scoring, context.objects, named)
            write_leaderboard(folder, board)
            write_task_table(folder, board, graded, scenarios, first.settings.scoring)
        return Board(board, graded, scenarios)

    opened = partial(chains, context, progress.step)
    return Job(context, on_start, progress.step, log, report, title, progress, opened)


def counts(context: RunContext) -> CallCounts:
    """Return the calls of the run so far."""
    if context.client is None:
        return CallCounts()
    totals = context.client.totals
    return CallCounts(
        replayed=totals.replayed,
        paid=totals.paid,
        failed=totals.failed,
        in_flight=totals.in_flight,
        usd=totals.price_usd,
        usd_is_bound=totals.unknown_price > 0,
    )


def expected(context: RunContext) -> dict[str, int]:
    """Return the number of runs of each stage."""
    chains = sum(len(evaluation.scenarios) for evaluation in context.evaluations)
    packets = {str(context.folder(e, scenario)) for e in context.evaluations for scenario in e.scenarios}
    each = dict.fromkeys(("generate", "truncate", "judge", "score"), chains)
    return {"packet": len(packets), **each, "aggregate": len(context.evaluations)}


def title_of(evaluations: Sequence[Evaluation]) -> tuple[str, dict[str, str]]:
    """Name a run after what it varies; return the title, and the command with the varied values."""
    first, number = evaluations[0], len(evaluations)
    title = f"{first.condition.benchmark} · {first.name if number == 1 else f'{number} conditions'}"
    title += varied(evaluations)
    params = {"command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}
    columns = {
        **{
            name: [str(getattr(one.condition, name)) for one in evaluations]
            for name in ("model", "effort", "word_cap", "prompt", "harness")
        },
        "judge": [one.judge.label for one in evaluations],
    }
    for name, values in columns.items():
        if len(set(values)) > 1:
            params[name] = ", ".join(dict.fromkeys(values))[:_LONGEST_PARAM]
    return title, params


def varied(evaluations: Sequence[Evaluation]) -> str:
    """Return what tells the conditions of a run apart, and what was overridden, as a suffix of its name."""
    values: dict[str, dict[str, None]] = {}
    for evaluation in evaluations:
        condition = evaluation.condition
        named = {"model": condition.model, "effort": condition.effort, "cap": str(condition.word_cap)}
        named |= {"prompt": condition.prompt, "judge": evaluation.judge.name}
        for key, value in named.items() if len(evaluations) > 1 else ():
            values.setdefault(key, {})[value] = None
        for key, value in changed_values(asdict(evaluation.settings), changed_keys(evaluation)).items():
            values.setdefault(f"={key}", {})[value] = None
    told = [
        f"{key.removeprefix('=')} {', '.join(found)}"
        for key, found in values.items()
        if len(found) > 1 or key.startswith("=")
    ]
    text = "".join(f" · {one}" for one in told)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
