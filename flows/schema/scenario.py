"""Scenarios: assignments with their rubrics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Literal

from flows.schema.models import Strict
from flows.schema.report_task import ReportTask


class Step(StrEnum):
    """MA-Bench's twelve areas of a mission-analysis brief (the list as a whole is our own, `assumed`)."""

    higher_guidance = "higher_guidance"
    tasks = "tasks"
    facts = "facts"
    assumptions = "assumptions"
    limitations = "limitations"
    environment = "environment"
    centers_of_gravity = "centers_of_gravity"
    objectives = "objectives"
    forces = "forces"
    risk = "risk"
    ccir = "ccir"
    mission_statement = "mission_statement"


class Tier(IntEnum):
    """What a determination is based on, in MA-Bench."""

    stated = 1
    synthesis = 2
    inferred = 3


class Severity(StrEnum):
    """MA-Bench's severity classes of items, which determine their weight."""

    critically_important = "critically_important"
    important = "important"
    slightly_important = "slightly_important"
    detrimental = "detrimental"
    critically_detrimental = "critically_detrimental"

    @property
    def is_error(self) -> bool:
        """True if the item describes a wrong move."""
        return self in (Severity.detrimental, Severity.critically_detrimental)


@dataclass(frozen=True)
class Dimensions(Strict):
    """How a benchmark classes its items."""

    steps: tuple[str, ...]  # areas of a brief, in order
    tiers: tuple[str, ...]  # what a determination may rest on, by number from 1
    severities: tuple[str, ...]  # classes of requirements, gravest first
    wrong_moves: tuple[str, ...]  # classes of items that describe a wrong move
    optional: tuple[str, ...] = ()  # fields that an item may lack


MA_BENCH = Dimensions(
    steps=tuple(step.value for step in Step),
    tiers=("stated fact", "synthesis", "inferred judgment"),
    severities=tuple(one.value for one in Severity if not one.is_error),
    wrong_moves=tuple(one.value for one in Severity if one.is_error),
)
"""Dimensions of a benchmark that names none of its own."""

CRITERIA = Dimensions(
    steps=(),
    tiers=(),
    severities=(),
    wrong_moves=(),
    optional=(
        *("step", "tier", "severity", "ground_truth", "pass_condition", "fail_condition"),
        *("source", "rationale"),
    ),
)
"""Dimensions of the criteria of a report task, which have points of their own."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the packet supports an item."""

    document: str  # file name of the document; empty for a criterion, which has its source in one text
    quote: str  # words of the document, compared without white space; or the criterion's source text


@dataclass(frozen=True, slots=True)
class Item:
    """One atomic pass/fail requirement."""

    item_id: str  # unique within its rubric
    # Its classes among the benchmark's `Dimensions`; None for a criterion, or where the benchmark lets items
    # lack them.
    step: str | None
    tier: int | None
    severity: str | None
    requirement: str  # the determination or wrong move in one sentence; or the criterion
    # The truth, complete enough to grade without the packet; empty for a criterion, which is judged by the
    # expert's report.
    ground_truth: str = ""
    pass_condition: str = (
        ""  # when it is passed; for a wrong move, when it was not made. Empty for a criterion.
    )
    fail_condition: str = ""  # when it is failed; empty for a criterion
    source: tuple[Evidence, ...] = ()  # evidence in the packet; at least one, at most one for a criterion
    rationale: str = ""  # why it matters to a staff; may be empty for a criterion
    # Points of a criterion: above 0 if required, below 0 for a penalty. None for an item, which is weighted
    # by severity.
    points: float | None = None
    # True if the severity is one of a wrong move; None to follow MA-Bench's severities.
    wrong_move: bool | None = None

    def __hash__(self) -> int:
        """Hash the id alone: rubrics are keys of caches, where hashing all their texts took long."""
        return hash(self.item_id)

    def __post_init__(self) -> None:
        if (self.severity is None) == (self.points is None):
            raise ValueError(f"{self.item_id}: severity {self.severity} with points={self.points}")

    @property
    def is_criterion(self) -> bool:
        """True if it has points and a requirement alone, as the criteria of MissionReport do."""
        return (
            self.points is not None and self.step is None and not (self.ground_truth or self.pass_condition)
        )

    @property
    def is_error(self) -> bool:
        """True if it describes a wrong move: a detrimental item or a penalty."""
        if self.points is not None:
            return self.points < 0
        return self.severity in MA_BENCH.wrong_moves if self.wrong_move is None else self.wrong_move


@dataclass(frozen=True, slots=True)
class Control:
    """A brief with verdicts labelled by the scenario's author before any judge saw it."""

    name: str  # `strong` or `weak`; for a task `oracle` (the expert's report), `fair` or `weak`
    text: str
    # Item id to `passed` as in a verdict: for a wrong move, True means that the brief did not make it.
    labels: Mapping[str, bool]
    file: str | None = None  # the report file that `text` was read from; None for a plain-text brief


@dataclass(frozen=True, slots=True)
class Scenario:
    """One assignment with its documents and its rubric.

    A MissionReport task is one too, with criteria as items and the expert's report as reference.
    """

    scenario_id: str  # the folder's name
    title: str  # display name
    assignment: str = ""  # the instructions to the writer, before the packet
    documents: tuple[str, ...] = ()  # file names in packet order
    items: tuple[Item, ...] = ()  # the rubric, in file order
    controls: Mapping[str, Control] = field(default_factory=dict[str, Control])  # by name; may be empty
    synthetic: bool = False  # True if events, units and people are fictitious
    licence: str = "not stated"  # licence of the scenario's files
    task: ReportTask | None = None  # the task, for a MissionReport task; None otherwise
    reference: str | None = None  # text of the expert's report, used by judges; None unless a task
    reference_file: str | None = None  # the file that it was read from; None unless a task
    dimensions: Dimensions = MA_BENCH  # how its items are classed


def classes(items: Iterable[Item], by: Literal["step", "tier", "severity"]) -> list[str]:
    """Return the classes that items have: MA-Bench's in its order, then others in the order of the items."""
    found = dict.fromkeys(str(value) for item in items if (value := getattr(item, by)) is not None)
    known = {
        "step": MA_BENCH.steps,
        "tier": [str(number) for number in range(1, 10)],
        "severity": (*MA_BENCH.severities, *MA_BENCH.wrong_moves),
    }[by]
    return sorted(found, key=lambda name: known.index(name) if name in known else len(known))
