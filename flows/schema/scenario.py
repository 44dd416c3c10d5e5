"""An assignment with its rubric, as people wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


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
        document: file name of the document.
        quote: words found in that document's text, white space aside.
    """

    document: str
    quote: str


@dataclass(frozen=True, slots=True)
class Item:
    """One atomic pass/fail requirement.

    Attributes:
        item_id: unique within its rubric.
        step: the area of the brief that it belongs to.
        tier: what it rests on.
        severity: its weight class; `detrimental` ones describe a wrong move.
        requirement: the determination, or the wrong move, in one sentence.
        ground_truth: what is true, complete enough to grade by without the packet.
        pass_condition: when it counts as passed; for a wrong move, when it was not made.
        fail_condition: when it counts as failed.
        source: evidence in the packet; at least one.
        rationale: why a staff would care.
    """

    item_id: str
    step: Step
    tier: Tier
    severity: Severity
    requirement: str
    ground_truth: str
    pass_condition: str
    fail_condition: str
    source: tuple[Evidence, ...]
    rationale: str


@dataclass(frozen=True, slots=True)
class Control:
    """A brief whose verdicts the scenario's author wrote down before any judge saw it.

    Attributes:
        name: `strong` or `weak`.
        text: the brief.
        labels: item id to passed, in the sense of a verdict: for a wrong move, True means that
            the brief did not make it.
    """

    name: str
    text: str
    labels: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One assignment: what is asked, the documents to answer it from, the rubric to grade it by.

    Attributes:
        scenario_id: the folder's name.
        title: for people.
        assignment: what the writer is told to do, before the packet.
        documents: file names in packet order.
        items: the rubric, in file order.
        controls: by name; may be empty.
        synthetic: True where events, units and people are invented.
        licence: of the scenario's files.
    """

    scenario_id: str
    title: str
    assignment: str
    documents: tuple[str, ...]
    items: tuple[Item, ...]
    controls: Mapping[str, Control]
    synthetic: bool
    licence: str
