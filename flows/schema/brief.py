"""A brief: what a system wrote and which part of it is graded."""

from dataclasses import dataclass
from enum import StrEnum


class BriefStatus(StrEnum):
    """The outcome of a request for a brief.

    `written` and `empty` have a text to grade. A `missing` or `corrupt` report has none and scores 0
    without a judge: that is the writer's failure. `refused` and `error` have no score.
    """

    written = "written"
    empty = "empty"  # the writer finished without writing anything: graded, not a refusal
    missing = "missing"  # an attempt that ended without a report
    corrupt = "corrupt"  # a report that can't be opened
    refused = "refused"  # the provider's content filter, or a refusal it reports as one
    error = "error"  # no reply after all attempts


@dataclass(frozen=True, slots=True)
class Brief:
    """One brief as graded: cut at the word cap, with both word counts."""

    scenario_id: str
    seed: int  # number of the repeat, from 1
    status: BriefStatus
    text: str | None  # the text after the cut; None unless written or empty
    words_raw: int | None  # words before the cut; None if there is no text
    words_kept: int | None  # words after the cut; None if there is no text
    word_counter: str  # version of the counting rule
    cut: bool = False  # True if the word cap removed text
    cut_by_provider: bool = False  # True if the reply stopped at the provider's output limit
    completion: str | None = None  # key of the stored reply; None for briefs written elsewhere
    # Why there is no text, or what the reader left out of the file, such as hidden text; may be empty.
    detail: str = ""
    report: str | None = None  # sha256 of the report file in the report store; None if there is no file

    @property
    def brief_id(self) -> str:
        """An id that is unique within a condition."""
        return f"{self.scenario_id}/{self.seed}"
