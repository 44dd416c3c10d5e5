"""A MissionReport task as written by its author, and the report that an attempt submits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from flows.schema.brief import BriefStatus
from flows.schema.document import Notice
from flows.schema.length import LengthLimit, LengthMeasure

FAMILIES = (
    "Weekly activity reports",
    "After-action reports",
    "Program status reports",
    "Performance and accomplishment reports",
    "Situation reports",  # this and the next are ours
    "Inspection reports",
)
"""Report families: the specification's four, and two of this project's tasks."""


class Polarity(StrEnum):
    """Whether meeting a criterion earns points or costs them."""

    positive = "positive"  # a required criterion
    negative = "negative"  # a penalty: an error that a report should not commit


@dataclass(frozen=True, slots=True)
class Criterion:
    """One weighted criterion of a task's rubric."""

    criterion_id: str  # unique within its rubric
    points: float  # above 0 for a required criterion, below 0 for a penalty; never 0
    polarity: Polarity  # agrees with the sign of `points`
    criterion: str  # the statement that is judged true or false
    source: str | None  # the line of the prompt or the file that it is based on; None if not given
    justification: str | None  # why it matters; None if not given


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file given to the agent."""

    name: str  # path in the agent's folder, `attachments/notes.pdf`; `/` between the parts
    path: str  # path in the task, `steps/answer/workdir/attachments/notes.pdf`


@dataclass(frozen=True, slots=True)
class TaskStep:
    """One turn of the agent."""

    name: str | None  # name of the step; None in a task without `[[steps]]`
    # The text that is sent, with `\n` line endings, without leading canary lines as in Harbor.
    instruction: str
    instruction_path: str  # path in the task
    attachments: tuple[Attachment, ...]  # the files added before this step, sorted by name
    agent_seconds: float | None  # time limit of one attempt; None if not set
    verifier_seconds: float | None  # time limit of one verifier run; None if not set


@dataclass(frozen=True, slots=True)
class ReportTask:
    """One MissionReport task."""

    task_id: str  # the name of its folder
    schema_version: str  # of `task.toml`, `1.0` to `1.4`
    # title, report_family, setting, reader, length_limit: as in the specification's table; None if not given.
    title: str | None
    report_family: str | None
    setting: str | None
    reader: str | None
    length_limit: str | None
    prompt: str | None  # the expert's prompt, which the instruction contains; None if not given separately
    steps: tuple[TaskStep, ...]  # the agent's turns in order, at least one
    criteria: tuple[Criterion, ...]  # the rubric, in file order
    grading_guidance: str | None  # the expert's notes, never shown to a judge; None if there are none
    golden_path: str  # path of the expert's report in the task
    oracle_path: str | None  # path of the script that submits it; None if there is none
    rubric_path: str  # path of the criteria in the task
    # The task's own judge settings, as found.
    judge: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mean_score_pct: float | None = None  # mean of the published run in percent; None if unknown
    # Ignored keys with their values: `task.toml: metadata.difficulty`.
    unused: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()  # remarks that are not errors, one sentence each

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files of all steps, in step order."""
        return tuple(each for step in self.steps for each in step.attachments)

    @property
    def totals(self) -> RubricTotals:
        """Counts and points of the rubric."""
        return RubricTotals.of(self.criteria)


@dataclass(frozen=True, slots=True)
class RubricTotals:
    """Totals of a rubric, as in the specification's table."""

    criteria: int  # all criteria, penalties included
    penalties: int  # those that cost points
    positive_points: float  # sum over the required criteria
    penalty_points: float  # sum over the penalties, as a positive number

    @classmethod
    def of(cls, criteria: tuple[Criterion, ...]) -> RubricTotals:
        """Count a rubric."""
        costs = [-each.points for each in criteria if each.polarity is Polarity.negative]
        gains = [each.points for each in criteria if each.polarity is Polarity.positive]
        return cls(len(criteria), len(costs), sum(gains), sum(costs))


class ReportStatus(StrEnum):
    """State of `report.docx`. All but `readable` score 0 without a judge."""

    missing = "missing"
    corrupt = "corrupt"
    empty = "empty"
    readable = "readable"


@dataclass(frozen=True, slots=True)
class ReportWords:
    """How many words a report has, and where.

    Attributes:
        rule: versions of this rule and of the word counter: `r1/w1`.
        counted: words that count against a limit: the sum of the next four.
        body: in paragraphs, headings and list items.
        tables: in tables.
        notes: in footnotes and endnotes.
        text_boxes: in text boxes and shapes.
        outside: in headers and footers, not counted.
    """

    rule: str
    body: int
    tables: int
    notes: int
    text_boxes: int
    outside: int

    @property
    def counted(self) -> int:
        """Words that count against a limit."""
        return self.body + self.tables + self.notes + self.text_boxes


@dataclass(frozen=True, slots=True)
class Submitted:
    """What one attempt submitted, before it is opened."""

    seed: int  # number of the attempt
    status: BriefStatus  # `written` if there is a file, else `missing`, `refused` or `error`
    report: str | None  # sha256 of the file; None if there is none
    ended: str = "finished"  # `finished`, or the limit that was reached
    n_calls: int = 0  # replies of the model
    completion: str | None = None  # key of the last reply; None without a model
    detail: str = ""  # why there is no file, or another remark; may be empty


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """Facts about one report except its text: a row of the reports table."""

    scenario_id: str
    seed: int
    status: str  # the attempt's outcome, as for a brief
    report: str | None  # sha256 of the file; None if there is none
    ended: str  # how the attempt ended: `finished`, `limit: steps`, ...
    n_calls: int  # replies of the model; 0 without a model
    word_rule: str  # version of the counting rule
    words: int | None  # words that count against a limit: the sum of the next four. None if not counted.
    # words_body, words_tables, words_notes, words_text_boxes, words_outside: as in `ReportWords`.
    words_body: int | None
    words_tables: int | None
    words_notes: int | None
    words_text_boxes: int | None
    words_outside: int | None
    # word_limit, page_limit: the task's limits; None if it has none.
    word_limit: int | None
    pages: int | None  # pages in LibreOffice's layout; None if not measured
    page_limit: int | None
    # How the pages were counted (program, version, fonts) or why they were not; None if there was nothing to
    # lay out.
    renderer: str | None
    detail: str  # why there is no text, or what the reader left out of it

    @property
    def length(self) -> tuple[LengthMeasure, ...]:
        """Its measurements against the task's limits, words first; empty without limits."""
        limit = LengthLimit("", self.word_limit, self.page_limit)
        return limit.measures(words=self.words, pages=self.pages)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report after the format check."""

    status: ReportStatus
    reason: str  # why it is not readable; empty if it is
    text: str | None  # the text for the judge; None unless readable
    # What a person does not see in it or what was repaired: hidden text, white text, deletions.
    notices: tuple[Notice, ...]
    words: ReportWords | None  # None unless readable

    def __post_init__(self) -> None:
        if (self.status is ReportStatus.readable) != (self.text is not None):
            raise ValueError(f"a report with status {self.status} and text {self.text!r}")
