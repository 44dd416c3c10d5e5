"""Exceptions that are shown to the user without a traceback."""

from __future__ import annotations

from collections.abc import Sequence

from flows.common.text import plural

_COMMANDS = frozenset({"staffbench", "make", "dvc", "git", "pip", "prefect", "mlflow", "harbor", "ollama"})


def as_sentence(text: str) -> str:
    """Capitalise the first word, unless it is a command, a key or another name to be typed as it stands."""
    first = text.split(" ", 1)[0]
    return text if first in _COMMANDS or not first.rstrip(",;:").isalpha() else text[0].upper() + text[1:]


class StaffbenchError(Exception):
    """An error that a user can fix.

    Attributes:
        where: file, item, key or address of the error; shown first.
        found: what is wrong.
        expected: what is valid; may be empty.
        remedy: how to fix it; may be empty.
    """

    exit_code = 1

    def __init__(self, where: object, found: str, expected: str = "", remedy: str = "") -> None:
        self.where = str(where)
        self.found = found
        self.expected = expected
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.found}"
        if self.expected:
            text += f"; expected {self.expected}"
        if self.remedy:
            text += f". {as_sentence(self.remedy)}"
        return text

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str]]:
        # Without this, unpickling (Prefect, worker processes) calls __init__ with the joined text.
        return type(self), (self.where, self.found, self.expected, self.remedy)


class ReadError(StaffbenchError):
    """A document that can't be read completely; no part of it is used."""


class ScenarioError(StaffbenchError):
    """An invalid scenario, rubric, control or label file."""


class ConfigError(StaffbenchError):
    """An invalid configuration."""

    exit_code = 2


class ProviderError(StaffbenchError):
    """An endpoint that can't be used: no key, unreachable, or it refuses every call."""


class StoreError(StaffbenchError):
    """A store that can't be written, or is damaged."""


class NotOfBenchmark(StoreError):  # noqa: N818 -- no fault
    """Stored verdicts on a scenario that the benchmark does not have; they are left out of tables."""


class BudgetReached(StaffbenchError):  # noqa: N818 -- a limit, not an error
    """A limit of `budget` was reached. Paid replies are stored; the same command resumes."""

    exit_code = 3


class Stopped(StaffbenchError):  # noqa: N818 -- requested by the user
    """The user stopped the run. Paid replies are stored; the same command resumes."""

    exit_code = 130


class Problems(StaffbenchError):  # noqa: N818 -- a list of errors
    """Several errors, reported together.

    Attributes:
        lines: one for each error.
    """

    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, where: object, problems: Sequence[StaffbenchError]) -> Problems:
        """Join `problems` into one error about `where`; nested lists are flattened."""
        lines: list[str] = []
        for problem in problems:
            inner = problem.lines if isinstance(problem, Problems) else (str(problem),)
            lines += [line for line in inner if line not in lines]
        joined = cls(where, plural(len(lines), "problem"))
        joined.lines = tuple(lines)
        if problems and all(problem.exit_code == ConfigError.exit_code for problem in problems):
            joined.exit_code = ConfigError.exit_code
        joined.args = (str(joined),)
        return joined

    @classmethod
    def one_or_all(cls, where: object, problems: Sequence[StaffbenchError]) -> StaffbenchError:
        """Return the only problem as it is, or several joined as by `of`."""
        return problems[0] if len(problems) == 1 else cls.of(where, problems)

    def __str__(self) -> str:
        """Return the list, one error per line."""
        return "\n  - ".join(
            [f"{self.where}: {self.found}:" if self.lines else super().__str__(), *self.lines]
        )

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str], dict[str, object]]:  # pyright: ignore[reportIncompatibleMethodOverride] -- with the list
        return (
            type(self),
            (self.where, self.found, self.expected, self.remedy),
            {"lines": self.lines, "exit_code": self.exit_code},
        )
