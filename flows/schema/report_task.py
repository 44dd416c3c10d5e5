"""A MissionReport task as written by its author, and the report that an attempt submits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from flows.schema.brief import BriefStatus
from flows.schema.document import Notice
from flows.schema.length import LengthMeasure, LengthUnit

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
    """One weighted criterion of a task's rubric.

    Attributes:
        criterion_id: unique within its rubric.
        points: above 0 for a required criterion, below 0 for a penalty; never 0.
        polarity: agrees with the sign of `points`.
        criterion: the statement that is judged true or false.
        source: the line of the prompt or the file that it is based on; None if not given.
        justification: why it matters; None if not given.
    """

    criterion_id: str
    points: float
    polarity: Polarity
    criterion: str
    source: str | None
    justification: str | None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file given to the agent.

    Attributes:
        name: path in the agent's folder, `attachments/notes.pdf`; `/` between the parts.
        path: path in the task, `steps/answer/workdir/attachments/notes.pdf`.
    """

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class TaskStep:
    r"""One turn of the agent.

    Attributes:
        name: name of the step; None in a task without `[[steps]]`.
        instruction: the text that is sent, with `\n` line endings, without leading canary lines as in Harbor.
        instruction_path: path in the task.
        attachments: the files added before this step, sorted by name.
        agent_seconds: time limit of one attempt; None if not set.
        verifier_seconds: time limit of one verifier run; None if not set.
    """

    name: str | None
    instruction: str
    instruction_path: str
    attachments: tuple[Attachment, ...]
    agent_seconds: float | None
    verifier_seconds: float | None


@dataclass(frozen=True, slots=True)
class ReportTask:
    """One MissionReport task.

    Attributes:
        task_id: the name of its folder.
        schema_version: of `task.toml`, `1.0` to `1.4`.
        title, report_family, setting, reader, length_limit: as in the specification's table; None
            if not given.
        prompt: the expert's prompt, which the instruction contains; None if not given separately.
        steps: the agent's turns in order, at least one.
        criteria: the rubric, in file order.
        grading_guidance: the expert's notes, never shown to a judge; None if there are none.
        golden_path: path of the expert's report in the task.
        oracle_path: path of the script that submits it; None if there is none.
        rubric_path: path of the criteria in the task.
        judge: the task's own judge settings, as found.
        mean_score_pct: mean of the published run in percent; None if unknown.
        unused: ignored keys with their values: `task.toml: metadata.difficulty`.
        notes: remarks that are not errors, one sentence each.
    """

    task_id: str
    schema_version: str
    title: str | None
    report_family: str | None
    setting: str | None
    reader: str | None
    length_limit: str | None
    prompt: str | None
    steps: tuple[TaskStep, ...]
    criteria: tuple[Criterion, ...]
    grading_guidance: str | None
    golden_path: str
    oracle_path: str | None
    rubric_path: str
    judge: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mean_score_pct: float | None = None
    unused: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()

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
    """Totals of a rubric, as in the specification's table.

    Attributes:
        criteria: all criteria, penalties included.
        penalties: those that cost points.
        positive_points: sum over the required criteria.
        penalty_points: sum over the penalties, as a positive number.
    """

    criteria: int
    penalties: int
    positive_points: float
    penalty_points: float

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
    """What one attempt submitted, before it is opened.

    Attributes:
        seed: number of the attempt.
        status: `written` if there is a file, else `missing`, `refused` or `error`.
        report: sha256 of the file; None if there is none.
        ended: `finished`, or the limit that was reached.
        n_calls: replies of the model.
        completion: key of the last reply; None without a model.
        detail: why there is no file, or another remark; may be empty.
    """

    seed: int
    status: BriefStatus
    report: str | None
    ended: str = "finished"
    n_calls: int = 0
    completion: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """Facts about one report except its text: a row of the reports table.

    Attributes:
        scenario_id, seed: the brief.
        status: the attempt's outcome, as for a brief.
        report: sha256 of the file; None if there is none.
        ended: how the attempt ended: `finished`, `limit: steps`, ...
        n_calls: replies of the model; 0 without a model.
        word_rule: version of the counting rule.
        words: words that count against a limit: the sum of the next four. None if not counted.
        words_body, words_tables, words_notes, words_text_boxes, words_outside: as in `ReportWords`.
        word_limit, page_limit: the task's limits; None if it has none.
        pages: pages in LibreOffice's layout; None if not measured.
        renderer: how the pages were counted (program, version, fonts) or why they were not; None if there
            was nothing to lay out.
        detail: why there is no text, or what the reader left out of it.
    """

    scenario_id: str
    seed: int
    status: str
    report: str | None
    ended: str
    n_calls: int
    word_rule: str
    words: int | None
    words_body: int | None
    words_tables: int | None
    words_notes: int | None
    words_text_boxes: int | None
    words_outside: int | None
    word_limit: int | None
    pages: int | None
    page_limit: int | None
    renderer: str | None
    detail: str

    @property
    def length(self) -> tuple[LengthMeasure, ...]:
        """Its measurements against the task's limits, words first; empty without limits."""
        limits = (
            (LengthUnit.words, self.word_limit, self.words),
            (LengthUnit.pages, self.page_limit, self.pages),
        )
        return tuple(LengthMeasure(unit, limit, found) for unit, limit, found in limits if limit is not None)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report after the format check.

    Attributes:
        status: its state.
        reason: why it is not readable; empty if it is.
        text: the text for the judge; None unless readable.
        notices: what a person does not see in it or what was repaired: hidden text, white text, deletions.
        words: None unless readable.
    """

    status: ReportStatus
    reason: str
    text: str | None
    notices: tuple[Notice, ...]
    words: ReportWords | None

    def __post_init__(self) -> None:
        if (self.status is ReportStatus.readable) != (self.text is not None):
            raise ValueError(f"a report with status {self.status} and text {self.text!r}")
