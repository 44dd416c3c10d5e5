"""What goes wrong, said once and the same way everywhere."""

from __future__ import annotations


class StaffbenchError(Exception):
    """A fault that a person can mend: where it is, what was found, what was expected, what to do.

    Attributes:
        where: file, item, key or address at fault; shown first.
        found: what is there.
        expected: what should be there; empty where `found` says it all.
        remedy: what to do about it; empty where nothing can be said.
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
    """A document that can't be read whole. Nothing of it is passed on."""


class ScenarioError(StaffbenchError):
    """A scenario, rubric, control or label file that breaks its rules."""


class ConfigError(StaffbenchError):
    """A configuration that can't be run as written."""

    exit_code = 2


class ProviderError(StaffbenchError):
    """An endpoint that can't be used at all: no key, not there, refuses every call."""


class StoreError(StaffbenchError):
    """A store that can't be written or is not what it should be."""


class BudgetReached(StaffbenchError):  # noqa: N818 -- it is a limit doing its work, not an error
    """A limit of `budget` was reached. What was paid is stored; the same command resumes."""

    exit_code = 3


class Stopped(StaffbenchError):  # noqa: N818 -- a person asked for it
    """A person stopped the run. What was paid is stored; the same command resumes."""

    exit_code = 130


class Problems(StaffbenchError):  # noqa: N818 -- the plural of the others
    """Several faults found together, reported together.

    Attributes:
        lines: one for each fault.
    """

    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, where: object, problems: list[StaffbenchError]) -> Problems:
        """Join `problems` into one error about `where`; lists within the list are taken apart."""
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
        """The list, one a line."""
        return "\n  - ".join(
            [f"{self.where}: {self.found}:" if self.lines else super().__str__(), *self.lines]
        )

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str], dict[str, object]]:  # pyright: ignore[reportIncompatibleMethodOverride] -- with the list
        return (
            type(self),
            (self.where, self.found, self.expected, self.remedy),
            {"lines": self.lines, "exit_code": self.exit_code},
        )
