"""A page that follows a run while it goes on (`staffbench run --watch`)."""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from flows.adapters.screen import Progress, Screen, calls_text, clock
from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.common.text import number, plural
from flows.pipeline.work.run_context import Evaluation
from flows.schema.settings import Writer
from flows.schema.verdict import Estimate
from flows.stages.page.run import RunRow, run_page

COPIED = "A score marked † is of copied text, which the stand-in takes for statements."
_WRITE_EVERY_S = 2.0
_RESULTS = ("leaderboard.md", "site/index.html")


@dataclass
class RunPage:
    """The page `run.html` of one run."""

    path: Path
    command: str  # that runs
    report: str  # the command that writes the pages
    progress: Progress
    evaluations: Sequence[Evaluation]
    estimates: dict[str, Estimate] = field(default_factory=dict[str, Estimate])  # of finished ones, by name

    def write(self, state: str = "running") -> None:
        """Write the page as of now.

        Raises:
            StoreError: it can't be written.
        """
        progress = self.progress
        facts = {
            "Command": self.command,
            "State": state,
            "Done": f"{progress.share:.0%}",
            "Time": clock(progress.elapsed_s),
        }
        if state == "running":
            left = progress.left_s
            facts["Time left"] = "unknown yet" if left is None else f"about {clock(left)}"
        if progress.skipped:
            facts["Done by an earlier run"] = plural(progress.skipped, "stage")
        if progress.calls is not None:
            facts["Calls"] = calls_text(progress.calls())
        stages = [
            (stage, progress.done.get(stage, 0), expected)
            for stage, expected in progress.expected.items()
            if expected
        ]
        rows = [self._row(evaluation, state) for evaluation in self.evaluations]
        copied = any(_is_copied(evaluation) for evaluation in self.evaluations)
        stand_ins = sorted({one.judge.label for one in self.evaluations if one.judge.is_stand_in})
        is_running = state == "running"
        page = run_page(
            f"{self.evaluations[0].condition.benchmark}: run of {plural(len(self.evaluations), 'condition')}",
            facts,
            stages,
            rows,
            stand_ins=stand_ins,
            notes=[COPIED] if copied else [],
            report=self.report,
            links=[] if is_running else [name for name in _RESULTS if (self.path.parent / name).is_file()],
            is_running=is_running,
        )
        write_whole(self.path, page)

    def _row(self, evaluation: Evaluation, state: str) -> RunRow:
        found = self.estimates.get(evaluation.name)
        pages = ("site", evaluation.condition.label, evaluation.judge.label, "index.html")
        page = pages if self.path.parent.joinpath(*pages).is_file() and state != "running" else ()
        if found is None:
            said = "waiting or running" if state == "running" else "not finished"
            return RunRow(evaluation.name, page, said, "-", "-")
        return RunRow(
            evaluation.name,
            page,
            "done" if not found.n_ungraded else f"done, {found.n_ungraded} items without a verdict",
            number(found.score) + ("†" if _is_copied(evaluation) and found.score is not None else ""),
            found.interval.text if found.interval else "-",
        )


def _is_copied(evaluation: Evaluation) -> bool:
    """True for a score of copied sentences, as `LeaderboardRow.copied`."""
    return evaluation.condition.model == Writer.extractive.value and evaluation.judge.is_stand_in


@contextmanager
def kept_up_to_date(page: RunPage | None, screen: Screen) -> Generator[None]:
    """Write the page every two seconds during the block, and once at its end. Nothing without a page.

    A page that can't be written does not stop the run; that is said once.
    """
    if page is None:
        yield
        return
    try:
        page.write()
        screen.say(f"Page of this run: {page.path.as_uri()}")
    except StoreError as error:
        screen.fault(str(error))
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(_WRITE_EVERY_S):
            with suppress(StoreError):
                page.write()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    state = "stopped before everything was done; the same command resumes"
    try:
        yield
        if len(page.estimates) == len(page.evaluations):
            state = "finished"
    finally:
        ended.set()
        thread.join()
        with suppress(StoreError):
            page.write(state)
