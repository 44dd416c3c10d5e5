"""Terminal output of a run: progress, tables and notes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.cells import cell_len
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
        paid: answered by a model, at a price or without one.
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

    def __init__(self, *, wide: bool = False, only_this_run: bool = False) -> None:
        """Open the screen.

        Args:
            wide: True to show leaderboards with all their columns.
            only_this_run: True to show only the rows of this run.
        """
        self.wide = wide
        self.only_this_run = only_this_run
        self._out = _Console()
        if not self._out.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
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

    def bullet(self, text: str) -> None:
        """Write a list entry; a terminal gets it wrapped between words."""
        if not self._out.is_terminal:
            self.note(f"- {text}")
            return
        for number, line in enumerate(wrapped(literal(text), self._out.width - 2)):
            self.note(f"{'- ' if number == 0 else '  '}{line}")

    def table(
        self,
        title: str,
        rows: Sequence[Sequence[str]],
        marked: Sequence[bool] = (),
        *,
        words: int | AbstractSet[int] = 1,
        caption: str = "",
    ) -> None:
        """Write a table, or, where it does not fit, each row as a list of its cells.

        Columns of words wrap between words and behind the signs that join names, never elsewhere; numbers do
        not wrap.

        Args:
            title: above the table.
            rows: cells, the header first.
            marked: for each row after the header, whether it is highlighted.
            words: how many of the first columns hold words, or their places.
            caption: below the title.
        """
        shown = [[literal(cell) for cell in row] for row in rows]
        marks = [*marked, *([False] * (len(shown) - 1 - len(marked)))]
        self._out.write_line(title, "bold")
        if caption:
            for line in wrapped(literal(caption), self._out.width):
                self._out.write_line(line)
        words = {*range(words)} if isinstance(words, int) else words
        widths = fitting_widths(shown, words, self._out.width)
        if widths is None:
            self._list(shown, marks)
            return
        table = Table()
        wrap = [[wrapped(cell, width) for cell, width in zip(row, widths, strict=True)] for row in shown]
        for place, lines in enumerate(wrap[0]):
            justify = "left" if place in words else "right"
            table.add_column("\n".join(lines), justify=justify, no_wrap=True, min_width=widths[place])
        for row, mark in zip(wrap[1:], marks, strict=True):
            table.add_row(*("\n".join(lines) for lines in row), style="bold" if mark else None)
        self._out.print(table)

    def _list(self, rows: Sequence[Sequence[str]], marked: Sequence[bool]) -> None:
        head, *body = rows
        for row, mark in zip(body, marked, strict=True):
            self._out.write_line(row[0], "bold" if mark else None)
            for name, cell in zip(head[1:], row[1:], strict=True):
                if cell:
                    text = f"{name} {'; '.join(cell.splitlines())}"
                    for number, line in enumerate(wrapped(text, self._out.width - 4)):
                        self._out.write_line(f"{'  ' if number == 0 else '    '}{line}")

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


_JOINTS = re.compile(r"(?<=[^\s\-_./:;,·])([\-_./:;,·]+)(?=[^\s\-_./:;,·])")
"""Signs behind which a name may be broken."""


def fitting_widths(rows: Sequence[Sequence[str]], words: AbstractSet[int], width: int) -> list[int] | None:
    """Return the widths of a table's columns, in terminal cells; None if it can't fit.

    Args:
        rows: cells, the header first.
        words: places of the columns that may wrap; of the others only the header may.
        width: of the terminal.
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]
    least = [
        max(
            _longest_piece(column[0]),
            max(
                (_longest_piece(cell) if place in words else cell_len(cell) for cell in column[1:]), default=0
            ),
        )
        for place, column in enumerate(columns)
    ]
    free = width - 3 * len(columns) - 1  # a line and two spaces for each column
    while sum(widths) > free:
        spare = [have - need for have, need in zip(widths, least, strict=True)]
        if not any(spare):
            return None
        widest = max((place for place, some in enumerate(spare) if some), key=lambda place: widths[place])
        widths[widest] -= 1
    return widths


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a text between words and behind joints of names; a longer piece has a line of its own."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            pieces = [word] if cell_len(word) <= width else _pieces(word)
            for number, piece in enumerate(pieces):
                joined = f"{line} {piece}" if number == 0 and line else line + piece
                if line and cell_len(joined) > width:
                    lines.append(line)
                    joined = piece
                line = joined
        lines.append(line)
    return lines


def _pieces(word: str) -> list[str]:
    return _JOINTS.sub(r"\1\0", word).split("\0")


def _longest_piece(text: str) -> int:
    return max(cell_len(piece) for word in text.split() or [""] for piece in _pieces(word))


def calls_text(calls: CallCounts) -> str:
    """Format calls as a phrase."""
    parts = [f"calls {calls.paid + calls.replayed}: {calls.paid} new, {calls.replayed} replayed"]
    if calls.failed:
        parts.append(f"{calls.failed} failed")
    if calls.in_flight:
        parts.append(f"{calls.in_flight} in flight")
    price = f"${calls.usd:.2f}"
    if calls.usd_is_bound:
        price = f"≥ {price}" if calls.usd else "price unknown"
    return ", ".join(parts) + (f" · {price}" if calls.paid else "")


def clock(seconds: float) -> str:
    """Format seconds as m:ss or h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
