"""An assignment with its rubric, as people wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from flows.schema.report_task import ReportTask


class Step(StrEnum):
    """The twelve areas of a mission-analysis brief (the list as a whole is ours, `assumed`)."""

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
    """What a determination rests on."""

    stated = 1
    synthesis = 2
    inferred = 3


class Severity(StrEnum):
    """How much an item weighs, and in which direction."""

    critically_important = "critically_important"
    important = "important"
    slightly_important = "slightly_important"
    detrimental = "detrimental"
    critically_detrimental = "critically_detrimental"

    @property
    def is_error(self) -> bool:
        """True where the item describes a wrong move that a brief should not make."""
        return self in (Severity.detrimental, Severity.critically_detrimental)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the packet supports an item.

    Attributes:
        document: file name of the document; empty for a criterion, whose author says in one text what
            it rests on.
        quote: words found in that document's text, white space aside; or that text.
    """

    document: str
    quote: str


@dataclass(frozen=True, slots=True)
class Item:
    """One atomic pass/fail requirement.

    Attributes:
        item_id: unique within its rubric.
        step: the area of the brief that it belongs to; None for a criterion.
        tier: what it rests on; None for a criterion.
        severity: its weight class; `detrimental` ones describe a wrong move. None for a criterion.
        requirement: the determination, or the wrong move, in one sentence; a criterion's words.
        ground_truth: what is true, complete enough to grade by without the packet; empty for a
            criterion, which is judged by the expert's report.
        pass_condition: when it counts as passed; for a wrong move, when it was not made. Empty for a
            criterion.
        fail_condition: when it counts as failed; empty for a criterion.
        source: evidence in the packet; at least one, of a criterion at most one.
        rationale: why a staff would care; may be empty for a criterion.
        points: of a criterion: above 0 for a required one, below 0 for a penalty. None for an item,
            which weighs what its severity does.
    """

    item_id: str
    step: Step | None
    tier: Tier | None
    severity: Severity | None
    requirement: str
    ground_truth: str
    pass_condition: str
    fail_condition: str
    source: tuple[Evidence, ...]
    rationale: str
    points: float | None = None

    def __post_init__(self) -> None:
        if (self.severity is None) == (self.points is None):
            raise ValueError(f"{self.item_id}: severity {self.severity} with points={self.points}")

    @property
    def is_error(self) -> bool:
        """True where it describes a wrong move: a detrimental item, or a penalty."""
        return self.severity.is_error if self.severity is not None else (self.points or 0.0) < 0


@dataclass(frozen=True, slots=True)
class Control:
    """A brief whose verdicts the scenario's author wrote down before any judge saw it.

    Attributes:
        name: `strong` or `weak`; of a task `oracle` (the expert's report), `fair` or `weak`.
        text: the brief.
        labels: item id to passed, in the sense of a verdict: for a wrong move, True means that
            the brief did not make it.
        file: the report's file, of which `text` was read; None for a brief that is text alone.
    """

    name: str
    text: str
    labels: Mapping[str, bool]
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """One assignment: what is asked, the documents to answer it from, the rubric to grade it by.

    A MissionReport task is one too: its criteria are the items, the expert's report is its reference.

    Attributes:
        scenario_id: the folder's name.
        title: for people.
        assignment: what the writer is told to do, before the packet.
        documents: file names in packet order.
        items: the rubric, in file order.
        controls: by name; may be empty.
        synthetic: True where events, units and people are invented.
        licence: of the scenario's files.
        task: the task as it was read, for a scenario that is one; None otherwise.
        reference: text of the expert's report, which judges compare with; None unless a task.
    """

    scenario_id: str
    title: str
    assignment: str
    documents: tuple[str, ...]
    items: tuple[Item, ...]
    controls: Mapping[str, Control]
    synthetic: bool
    licence: str
    task: ReportTask | None = None
    reference: str | None = None
