"""What the flow is given, and what it fills in; signals that stop it; the name of a run."""

import asyncio
import shlex
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flows.adapters.screen import CallCounts, Progress, Screen
from flows.adapters.tracking import Tracker
from flows.common.errors import StaffbenchError
from flows.common.text import plural
from flows.pipeline.evaluate.chain import OpenChains
from flows.pipeline.evaluate.run_page import RunPage
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import (
    board_file,
    build_leaderboard,
    write_leaderboard,
    write_task_table,
)
from flows.pipeline.results.record import Outcome, ResultFiles
from flows.pipeline.results.run_record import identify, run_record
from flows.pipeline.results.settings_file import changed_keys
from flows.pipeline.results.stored import left_out, load_graded, load_scenarios, results_lock
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.readers.guarded import stop_reading
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.stages.differing import changed_values

_LONGEST_NAME = 200
_LONGEST_PARAM = 500  # characters; MLflow rejects some thousands
_TRACES_S = 30.0  # seconds that MLflow's traces of one command may take


@dataclass(frozen=True)
class Ended:
    """What is kept in memory of a completed evaluation; the rest is in its files."""

    n_ungraded: int  # items without a verdict
    missing: Sequence[str]  # briefs that failed, and why
    unjudged: Mapping[str, tuple[int, str]]  # by status, how many items have no verdict, and the first reason


@dataclass(frozen=True)
class Board:
    """A leaderboard, with the graded conditions (unordered) and the scenarios that it is made of."""

    leaderboard: Leaderboard
    graded: Sequence[Graded]
    scenarios: Mapping[str, Scenario]


@dataclass
class Finished:
    """Result of a run: completed evaluations, some with ungraded items, and failed ones with their errors."""

    outcomes: list[tuple[Evaluation, Ended]] = field(default_factory=list[tuple[Evaluation, Ended]])
    faults: list[tuple[Evaluation, StaffbenchError]] = field(
        default_factory=list[tuple[Evaluation, StaffbenchError]]
    )
    flow_run_id: str = ""  # Prefect's id of the run; empty before it is complete
    task_runs: int = 0
    board: Board | None = None  # None if no condition was completed


class Signals:
    """Ctrl-C and SIGTERM during a run: the first lets calls in flight finish, the second abandons them."""

    def __init__(self, context: RunContext, screen: Screen) -> None:
        self._context = context
        self._screen = screen
        self._run: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        """Install the handlers; a second signal cancels the current task."""
        self._run = asyncio.current_task()
        self.take()

    def take(self) -> None:
        """Install the handlers; again after Prefect has replaced ours for SIGTERM."""
        if threading.current_thread() is threading.main_thread():  # Python allows handlers only there
            for name in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(name, self._stop)

    def _stop(self) -> None:
        context = self._context
        if context.stopping:
            assert self._run is not None
            self._run.cancel()
            return
        if context.evaluations[0].settings.runner.batch:
            text = "submitted batches continue at the provider; the same command collects them."
        else:
            going = "what is being read or graded finishes"
            if context.client is not None:
                going = "calls in flight finish and are stored"
            text = f"{going}. Press Ctrl-C again to abandon them."
        self._screen.say(f"Stopping: {text}")
        stop_reading()  # a packet may take minutes, and costs nothing to read again
        context.stop()


@dataclass(frozen=True)
class Job:
    """Input and output of the flow. Prefect would store parameters, so `JOB` passes it."""

    context: RunContext
    title: str
    screen: Screen
    progress: Progress
    signals: Signals
    chains: OpenChains
    tracker: Tracker | None  # None without MLflow
    page: RunPage | None  # None without `--watch`
    # Filled in as evaluations end. As the flow's return value, Prefect would search it for futures.
    finished: Finished = field(default_factory=Finished)

    def log(self, evaluation: Evaluation, outcome: Outcome, files: ResultFiles) -> None:
        """Show and log a completed evaluation."""
        if self.page is not None:
            self.page.estimates[evaluation.name] = outcome.estimate
        if self.tracker is not None and not self.tracker.has(identify(evaluation, outcome)[1]):
            n, most = len(self.context.evaluations), evaluation.settings.tracking.traces
            # Shared by the conditions, so that a sweep of thousands of briefs is logged in a minute.
            bounds = -(-most // n), _TRACES_S / n
            self.tracker.log(run_record(self.context.project, evaluation, outcome, files, *bounds))

    def report(self) -> None:
        """Write the leaderboard, if it has a row."""
        stop_reading(stopped=False)  # of a stopped run, too
        context, first = self.context, self.context.evaluations[0]
        if not self.finished.outcomes:
            return
        folder, scoring = context.results / first.condition.benchmark, first.settings.scoring
        scenarios, broken = load_scenarios(context.project, first.settings, first.scenarios)
        with results_lock(context.results):
            graded, problems = load_graded(folder, scenarios)
            # All of them where no leaderboard is written that has them.
            shown = problems[:1] if graded else problems
            for problem in (*broken, *shown):
                self.screen.fault(f"left out of the leaderboard: {problem}")
            if n := len(problems) - len(shown):
                others = plural(n, "other file of verdicts", "other files of verdicts")
                self.screen.fault(f"left out, too: {others}; {board_file(folder, scoring.name)} says why")
            if not graded:
                return
            named = left_out(folder, problems)
            board = build_leaderboard(graded, scenarios, scoring, context.objects, named)
            write_leaderboard(folder, board, first.settings)
            write_task_table(folder, board, graded, scenarios, scoring)
        self.finished.board = Board(board, graded, scenarios)


JOB: ContextVar[Job] = ContextVar("JOB")


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
        usd_is_bound=totals.unknown_price + totals.unreported > 0,
        paid_is_bound=totals.unreported > 0,
    )


def expected(context: RunContext) -> dict[str, int]:
    """Return the number of runs of each stage."""
    chains = sum(len(evaluation.scenarios) for evaluation in context.evaluations)
    packets = {context.folder(e, scenario) for e in context.evaluations for scenario in e.scenarios}
    each = dict.fromkeys(("generate", "truncate", "judge", "score"), chains)
    return {"packet": len(packets), **each, "aggregate": len(context.evaluations)}


def title_of(evaluations: Sequence[Evaluation]) -> tuple[str, dict[str, str]]:
    """Name a run after what it varies; return the title, and the command with the varied values."""
    first, number = evaluations[0], len(evaluations)
    title = f"{first.condition.benchmark} · {first.name if number == 1 else f'{number} conditions'}"
    title += varied(evaluations)
    params = {"command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}
    names = ("model", "effort", "word_cap", "prompt", "harness")
    columns = {name: [str(getattr(one.condition, name)) for one in evaluations] for name in names}
    columns["judge"] = [one.judge.label for one in evaluations]
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
    parts = [
        f"{key.removeprefix('=')} {', '.join(found)}"
        for key, found in values.items()
        if len(found) > 1 or key.startswith("=")
    ]
    text = "".join(f" · {one}" for one in parts)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
