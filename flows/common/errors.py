"""The exceptions that are shown to users."""

from __future__ import annotations


class StaffbenchError(Exception):
    """An error that the user can fix: where it is, what was found, what was expected, what to do.

    Attributes:
        where: the file, item, key or address at fault; shown first.
        found: what was found.
        expected: what was expected; may be empty.
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
            text += f". {self.remedy[0].upper()}{self.remedy[1:]}"
        return text

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str]]:
        # Without this, unpickling (Prefect, worker processes) calls __init__ with the joined text.
        return type(self), (self.where, self.found, self.expected, self.remedy)


class ReadError(StaffbenchError):
    """A document that can't be read completely. No part of it is used."""


class ScenarioError(StaffbenchError):
    """An invalid scenario, rubric, control or label file."""


class ConfigError(StaffbenchError):
    """A configuration that can't be run."""

    exit_code = 2


class ProviderError(StaffbenchError):
    """An endpoint that can't be used: no key, unreachable, or it refuses every call."""


class StoreError(StaffbenchError):
    """A store that can't be written or is damaged."""


class BudgetReached(StaffbenchError):  # noqa: N818 -- a limit, not an error
    """A limit of `budget` was reached. Paid replies are stored; the same command resumes."""

    exit_code = 3


class Stopped(StaffbenchError):  # noqa: N818 -- requested by the user
    """The user stopped the run. Paid replies are stored; the same command resumes."""

    exit_code = 130


class Problems(StaffbenchError):  # noqa: N818 -- the plural of the others
    """Several errors, reported together.

    Attributes:
        lines: one per error.
    """

    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, where: object, problems: list[StaffbenchError]) -> Problems:
        """Join `problems` into one error about `where`, flattening nested `Problems`."""
        lines: list[str] = []
        for problem in problems:
            inner = problem.lines if isinstance(problem, Problems) else (str(problem),)
            lines += [line for line in inner if line not in lines]
        joined = cls(where, f"{len(lines)} problem{'s' if len(lines) != 1 else ''}")
        joined.lines = tuple(lines)
        if problems and all(problem.exit_code == ConfigError.exit_code for problem in problems):
            joined.exit_code = ConfigError.exit_code
        joined.args = (str(joined),)
        return joined

    def __str__(self) -> str:
        """Return the errors, one per line."""
        return "\n  - ".join(
            [f"{self.where}: {self.found}:" if self.lines else super().__str__(), *self.lines]
        )

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str], dict[str, object]]:  # pyright: ignore[reportIncompatibleMethodOverride] -- with the list
        return (
            type(self),
            (self.where, self.found, self.expected, self.remedy),
            {"lines": self.lines, "exit_code": self.exit_code},
        )
