"""Terminal output of a run: progress, tables and notes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

_WIDE = 160  # columns if the output is not a terminal, so that tables in logs are not wrapped


@dataclass(frozen=True)
class CallCounts:
    """Calls of a run so far.

    Attributes:
        replayed: answered from the store.
        paid: answered by a provider.
        failed: without an answer after all attempts.
        in_flight: in flight.
        usd: price of the paid ones; a lower bound if `usd_is_bound`.
        usd_is_bound: True if the price of some calls is unknown.
    """

    replayed: int = 0
    paid: int = 0
    failed: int = 0
    in_flight: int = 0
    usd: float = 0.0
    usd_is_bound: bool = False


@dataclass
class Progress:
    """Progress counts and their display.

    Attributes:
        expected: number of runs by stage.
        calls: returns the calls so far; None without calls.
        done: number of finished runs by stage.
        skipped: number of runs finished by an earlier run.
        started: monotonic time, in seconds.
    """

    expected: dict[str, int]
    calls: Callable[[], CallCounts] | None
    done: dict[str, int] = field(default_factory=dict[str, int])
    skipped: int = 0
    started: float = field(default_factory=time.monotonic)

    def step(self, stage: str, skipped: bool) -> None:
        """Count a run of `stage` as done or skipped."""
        self.done[stage] = self.done.get(stage, 0) + 1
        self.skipped += skipped

    @property
    def share(self) -> float:
        """Share of all stage runs that are done, in [0, 1]."""
        whole = sum(self.expected.values())
        return sum(self.done.values()) / whole if whole else 1.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left_s(self) -> float | None:
        """Seconds left if the rest goes on as fast as what this run did; None if it did nothing yet."""
        done, whole = sum(self.done.values()), sum(self.expected.values())
        by_this_run = done - self.skipped
        return self.elapsed_s * (whole - done) / by_this_run if by_this_run and done < whole else None

    def line(self, width: int | None = None) -> str:
        """Progress as one line.

        Args:
            width: columns of a live line, which omits finished stages and then what does not fit; None
                for everything.
        """
        parts = [f"{self.share:4.0%}", clock(self.elapsed_s)]
        if self.left_s is not None:
            parts.append(f"{clock(self.left_s)} left")
        for stage, number in self.expected.items():
            done = self.done.get(stage, 0)
            if number and (width is None or 0 < done < number):
                parts.append(f"{stage} {done}/{number}")
        if self.calls is not None:
            parts.append(calls_text(self.calls()))
        if self.skipped:
            parts.append(f"{self.skipped} of {sum(self.done.values())} done before")
        line = " · ".join(parts)
        while width is not None and len(line) > width and len(parts) > 1:
            parts.pop()
            line = " · ".join(parts)
        return line


# Control and bidirectional characters.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def literal(text: str) -> str:
    """Escape characters that a terminal would interpret or can't show."""
    return _ACTING.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


class _Console(Console):
    """A console without markup, emoji codes and automatic highlighting.

    A broken pipe does not end the program, unlike in rich.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def write_line(self, text: str, style: str | None = None) -> None:
        """Write a line unchanged, without wrapping or expanding tabs."""
        segment = Segment(literal(text) + "\n", Style.parse(style) if style else None)
        self.print(Segments([segment]), soft_wrap=True, end="")

    def on_broken_pipe(self) -> None:
        """Stop the output; the program continues."""
        self.quiet = True
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, self.file.fileno())  # for Python's flush at exit
        os.close(devnull)


class Screen:
    """Writes to the terminal; results to standard output, everything else to standard error."""

    def __init__(self) -> None:
        self._out = _Console()
        if not self._out.is_terminal:
            self._out = _Console(width=_WIDE)
        self._err = _Console(stderr=True)

    def say(self, text: str) -> None:
        """Write a status line."""
        self._err.write_line(text, "dim")

    def fault(self, text: str) -> None:
        """Write an error line."""
        self._err.write_line(text, "red")

    def note(self, text: str) -> None:
        """Write a line of the result."""
        self._out.write_line(text)

    def table(
        self, title: str, rows: Sequence[Sequence[str]], marked: Sequence[bool] = (), *, words: int = 1
    ) -> None:
        """Write a table, header first, with marked rows highlighted; the first `words` columns are text."""
        head, *body = rows
        table = Table(title=literal(title), title_justify="left", title_style="bold")
        for number, name in enumerate(head):
            is_word = number < words
            table.add_column(
                literal(name), justify="left" if is_word else "right", no_wrap=not is_word, overflow="fold"
            )
        for row, mark in zip(body, [*marked, *([False] * (len(body) - len(marked)))], strict=True):
            table.add_row(*map(literal, row), style="bold" if mark else None)
        self._out.print(table)

    @contextmanager
    def progress(self, progress: Progress) -> Generator[None]:
        """Show `progress` during the block: on a terminal as one live line, else periodically."""
        if self._err.is_terminal:
            with Live(
                get_renderable=lambda: Text(literal(progress.line(self._err.width))),
                console=self._err,
                refresh_per_second=4,
                transient=True,
            ):
                yield
        else:
            yield
        self.say(progress.line())


def calls_text(calls: CallCounts) -> str:
    """Format calls as a phrase."""
    bound = "≥ " if calls.usd_is_bound else ""
    parts = [f"calls {calls.paid + calls.replayed}: {calls.paid} paid, {calls.replayed} replayed"]
    if calls.failed:
        parts.append(f"{calls.failed} failed")
    if calls.in_flight:
        parts.append(f"{calls.in_flight} in flight")
    return ", ".join(parts) + f" · {bound}${calls.usd:.2f}"


def clock(seconds: float) -> str:
    """Format seconds as m:ss or h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
