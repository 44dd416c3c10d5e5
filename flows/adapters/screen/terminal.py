"""Terminal output of a run: progress, tables and notes."""

import os
import re
from collections.abc import Generator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

from flows.adapters.screen.layout import fitting_widths, wrapped
from flows.adapters.screen.progress import Progress
from flows.common.errors import NotOfBenchmark, Problems, StaffbenchError

_WIDE = 160  # columns if the output is not a terminal, so that tables in logs are not wrapped
_ENDLESS = 10_000  # if all columns are wanted, too


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


def _fitted(console: Console, text: str) -> list[str]:
    """Wrap each line of a text between words if the output is a terminal; later lines keep its indent."""
    if not console.is_terminal:
        return [text]
    lines: list[str] = []
    for line in literal(text).split("\n"):
        begin = re.match(r" *(- )?", line)
        assert begin is not None
        first, later = begin.group(), " " * len(begin.group())
        broken = wrapped(line[len(first) :], console.width - len(first), breaks_names=False)
        lines += [f"{first if place == 0 else later}{part}" for place, part in enumerate(broken)]
    return lines


class Screen:
    """Writes to the terminal; results to standard output, everything else to standard error.

    Attributes:
        has_live_line: False where others write to the same terminal, whose lines would be glued to it.
    """

    has_live_line = True

    def __init__(self, *, wide: bool = False, only_this_run: bool = False) -> None:
        """Open the screen; `wide` shows all columns of leaderboards, `only_this_run` its rows alone."""
        self.wide = wide
        self.only_this_run = only_this_run
        self._out = _Console()
        if not self._out.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
            self._out = _Console(width=_ENDLESS if wide else _WIDE)
        self._err = _Console(stderr=True)

    def say(self, text: str) -> None:
        """Write a status line; a terminal gets it wrapped between words."""
        for line in _fitted(self._err, text):
            self._err.write_line(line, "dim")

    def fault(self, text: str) -> None:
        """Write an error line; a terminal gets it wrapped between words."""
        self.error(text, "red")

    def error(self, text: str, style: str | None = None) -> None:
        """Write the error that ends a command; a terminal gets it wrapped between words."""
        for line in _fitted(self._err, text):
            self._err.write_line(line, style)

    def failed(self, problems: Sequence[StaffbenchError]) -> int:
        """Write errors that were collected; return 1 for faults, 0 if there are only results to leave out."""
        faults: list[StaffbenchError] = []
        for problem in problems:
            if isinstance(problem, NotOfBenchmark):
                self.note(f"Left out: {problem}")
            else:
                faults.append(problem)
        if faults:
            self.fault(str(Problems.of("staffbench", faults)))
        return 1 if faults else 0

    def note(self, text: str) -> None:
        """Write a line of the result; a terminal gets it wrapped between words."""
        for line in _fitted(self._out, text):
            self._out.write_line(line)

    def bullet(self, text: str) -> None:
        """Write a list entry."""
        self.note(f"- {text}")

    def verbatim(self, text: str) -> None:
        """Write a text as it is, such as a document or what a person copies."""
        self._out.write_line(text)

    def with_margin(self, text: str, mark: str) -> None:
        """Write lines, of which some have a margin that ends with `mark`; a terminal gets those wrapped."""
        if not self._out.is_terminal:
            self.verbatim(text)
            return
        for line in literal(text).split("\n"):
            margin, found, words = line.partition(mark)
            room = max(1, self._out.width - cell_len(margin + found))
            for number, part in enumerate(wrapped(words, room) if found else [words]):
                self._out.write_line((" " * cell_len(margin) if number else margin) + found + part)

    def hint(self, what: str, command: str) -> None:
        """Write what a command would do, and the command; on two lines if they do not fit into one."""
        line = f"{what}: {command}"
        if not self._out.is_terminal or cell_len(line) <= self._out.width:
            self.verbatim(line)
        else:
            self.note(f"{what}:")
            self.verbatim(f"  {command}")

    def fits(self, rows: Sequence[Sequence[str]], words: AbstractSet[int]) -> bool:
        """Whether `table` would show these rows as a table, and not as a list."""
        return fitting_widths(rows, words, self._out.width) is not None

    def table(
        self,
        title: str,
        rows: Sequence[Sequence[str]],
        marked: Sequence[bool] = (),
        *,
        words: int | AbstractSet[int] = 1,
        caption: str = "",
        breaks_names: bool = True,
    ) -> None:
        """Write a table, header first, or, where it does not fit, each row as a list; nothing without a row.

        Columns of words wrap between words and, unless `breaks_names` is False, behind the signs that join
        names, never elsewhere; numbers do not wrap. `words` says how many of the first columns hold words, or
        their places; `marked` which rows after the header are highlighted. The caption is below the title.
        """
        if len(rows) < 2:  # noqa: PLR2004 -- the header, and a row
            return
        shown = [[literal(cell) for cell in row] for row in rows]
        marks = [*marked, *([False] * (len(shown) - 1 - len(marked)))]
        self._out.write_line(title, "bold")
        if caption:
            for line in wrapped(literal(caption), self._out.width):
                self._out.write_line(line)
        words = {*range(words)} if isinstance(words, int) else words
        widths = fitting_widths(shown, words, self._out.width, breaks_names=breaks_names)
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
        if self._err.is_terminal and self.has_live_line:
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
