"""A page that follows a run while it goes on (`staffbench run --watch`)."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from flows.adapters.screen import Progress, Screen, calls_text, clock
from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.common.text import number
from flows.schema.verdict import Estimate
from flows.stages.page.run import run_page

_WRITE_EVERY_S = 2.0


@dataclass
class RunPage:
    """The page `run.html` of one run.

    Attributes:
        path: where it is written.
        title: of the run.
        progress: of the run.
        names: of its conditions, in order.
        estimates: of the finished conditions, by name.
    """

    path: Path
    title: str
    progress: Progress
    names: Sequence[str]
    estimates: dict[str, Estimate] = field(default_factory=dict[str, Estimate])

    def write(self, state: str = "running") -> None:
        """Write the page as of now.

        Raises:
            StoreError: it can't be written.
        """
        progress = self.progress
        facts = {"State": state, "Done": f"{progress.share:.0%}", "Time": clock(progress.elapsed_s)}
        if state == "running":
            left = progress.left_s
            facts["Time left"] = "unknown yet" if left is None else f"about {clock(left)}"
        if progress.skipped:
            facts["Done by an earlier run"] = f"{progress.skipped} stages"
        if progress.calls is not None:
            facts["Calls"] = calls_text(progress.calls())
        stages = [
            (stage, progress.done.get(stage, 0), expected)
            for stage, expected in progress.expected.items()
            if expected
        ]
        rows = [(name, *_shown(self.estimates, name, state)) for name in self.names]
        page = run_page(self.title, facts, stages, rows, is_running=state == "running")
        write_whole(self.path, page)


def _shown(estimates: Mapping[str, Estimate], name: str, state: str) -> tuple[str, str, str]:
    found = estimates.get(name)
    if found is None:
        return ("waiting or running" if state == "running" else "not finished", "-", "-")
    interval = found.interval
    return (
        "done" if not found.n_ungraded else f"done, {found.n_ungraded} items without a verdict",
        number(found.score),
        f"{number(interval.low)} to {number(interval.high)}" if interval else "-",
    )


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
        if len(page.estimates) == len(page.names):
            state = "finished"
    finally:
        ended.set()
        thread.join()
        with suppress(StoreError):
            page.write(state)
