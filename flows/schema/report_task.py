"""A MissionReport task as its author wrote it, and the report that an attempt hands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from flows.schema.brief import BriefStatus
from flows.schema.document import Notice
from flows.schema.length import LengthMeasure, LengthUnit


class Polarity(StrEnum):
    """Whether meeting a criterion earns points or costs them."""

    positive = "positive"  # a required criterion
    negative = "negative"  # a penalty: it describes an error that a report should not commit


@dataclass(frozen=True, slots=True)
class Criterion:
    """One weighted criterion of a task's rubric.

    Attributes:
        criterion_id: unique within its rubric.
        points: above 0 for a required criterion, below 0 for a penalty; never 0.
        polarity: agrees with the sign of `points`.
        criterion: what is judged true or false of the report.
        source: the prompt's line or the file that it rests on; None where the author names none.
        justification: why it matters; None where the author gives none.
    """

    criterion_id: str
    points: float
    polarity: Polarity
    criterion: str
    source: str | None
    justification: str | None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that the agent is given.

    Attributes:
        name: its place in the agent's folder, `attachments/notes.pdf`; `/` between the parts.
        path: its place in the task, `steps/answer/workdir/attachments/notes.pdf`.
    """

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class TaskStep:
    r"""One turn of the agent.

    Attributes:
        name: of the step; None in a task without `[[steps]]`.
        instruction: what is sent, `\n` line ends, leading canary lines left out as Harbor does.
        instruction_path: where it stands in the task.
        attachments: the files laid out before this step, sorted by name.
        agent_seconds: limit of one attempt; None where the task sets none.
        verifier_seconds: limit of one judging; None where the task sets none.
    """

    name: str | None
    instruction: str
    instruction_path: str
    attachments: tuple[Attachment, ...]
    agent_seconds: float | None
    verifier_seconds: float | None


@dataclass(frozen=True, slots=True)
class ReportTask:
    """One task of the MissionReport kind, read whole.

    Attributes:
        task_id: the name of its folder.
        schema_version: of `task.toml`, `1.0` to `1.4`.
        title, report_family, setting, reader, length_limit: as in the specification's table; None
            where the task doesn't say.
        prompt: the expert's prompt, which the instruction wraps; None where it isn't given apart.
        steps: the agent's turns in order, at least one.
        criteria: the rubric, in file order.
        grading_guidance: the expert's notes, never shown to a judge; None where there are none.
        golden_path: the expert's report, a path in the task.
        oracle_path: the script that submits it, a path in the task; None where there is none.
        rubric_path: where the criteria stand, a path in the task.
        judge: the task's own judge settings, as found.
        mean_score_pct: mean of the published run in per cent; None where unknown.
        unused: keys that nothing here reads, with their values: `task.toml: metadata.difficulty`.
        notes: what a person should know and what is no fault, one sentence each.
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
        """The files of all steps, in the order of the steps."""
        return tuple(each for step in self.steps for each in step.attachments)

    @property
    def totals(self) -> RubricTotals:
        """Counts and points of the rubric."""
        return RubricTotals.of(self.criteria)


@dataclass(frozen=True, slots=True)
class RubricTotals:
    """What a rubric comes to, as the specification's table counts.

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
    """What became of `report.docx`. All but `readable` score 0, and no judge is asked."""

    missing = "missing"
    corrupt = "corrupt"
    empty = "empty"
    readable = "readable"


@dataclass(frozen=True, slots=True)
class ReportWords:
    """How many words a report has, and where.

    Attributes:
        rule: version of the rule for what counts, with that of the word counter: `r1/w1`.
        counted: those that count against a limit: the four below together.
        body: in paragraphs, headings and list items.
        tables: in tables.
        notes: in footnotes and endnotes.
        text_boxes: in text boxes and shapes.
        outside: in headers and footers, which don't count.
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
    """What one attempt handed in, before anybody opened it.

    Attributes:
        seed: number of the attempt.
        status: `written` where there is a file, else `missing`, `refused` or `error`.
        report: sha256 of the file; None where there is none.
        ended: `finished`, or the limit that it reached.
        n_calls: replies of the model.
        completion: key of the last reply; None where nobody was asked.
        detail: why there is no file, or what else a reader must know; may be empty.
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
    """What is known of one report beside its text: a row of the reports table.

    Attributes:
        scenario_id, seed: the brief that it is.
        status: what became of the attempt, in a brief's words.
        report: sha256 of the file; None where there is none.
        ended: how the attempt ended: `finished`, `limit: steps`, ...
        n_calls: replies of the model; 0 where none was asked.
        word_rule: version of the rule that counted.
        words: those that count against a limit: the four that follow. None where nothing was counted.
        words_body, words_tables, words_notes, words_text_boxes, words_outside: as in `ReportWords`.
        word_limit, page_limit: of the task; None where it names none.
        pages: as LibreOffice lays it out; None where they were not measured.
        renderer: how the pages were counted (program, version, fonts), or why they were not; None
            where there was nothing to lay out.
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
        """Its measures against the task's limits, words first; empty where the task names none."""
        limits = (
            (LengthUnit.words, self.word_limit, self.words),
            (LengthUnit.pages, self.page_limit, self.pages),
        )
        return tuple(LengthMeasure(unit, limit, found) for unit, limit, found in limits if limit is not None)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report after the format check.

    Attributes:
        status: what became of it.
        reason: why it is not readable; empty where it is.
        text: what a judge is shown; None unless readable.
        notices: what a person does not see in it, or what was mended: hidden text, white text,
            deletions.
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
