"""What a system wrote, and what of it is graded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BriefStatus(StrEnum):
    """What became of a request for a brief.

    `written` and `empty` have a text to grade. A report that is `missing` or `corrupt` has none and
    scores 0 all the same, unasked: that is its writer's doing. `refused` and `error` have no score.
    """

    written = "written"
    empty = "empty"  # the writer finished and wrote nothing: graded, and not a refusal
    missing = "missing"  # an attempt that ended without a report
    corrupt = "corrupt"  # a report that does not open
    refused = "refused"  # the provider's content filter, or a refusal it reports as one
    error = "error"  # no reply after every attempt


@dataclass(frozen=True, slots=True)
class Brief:
    """One brief as it is graded: cut at the word cap, with both counts.

    Attributes:
        scenario_id: the scenario that it answers.
        seed: number of the repeat, from 1.
        status: what became of the request.
        text: the kept text; None unless written or empty.
        words_raw: words before the cut; None where there is no text.
        words_kept: words after the cut; None where there is no text.
        cut: True where the word cap removed something.
        cut_by_provider: True where the provider stopped at its output limit.
        word_counter: version of the rule that counted.
        completion: key of the reply that it came from; None for briefs written elsewhere.
        detail: why there is no text; where there is one, what the reader of its file left out of it,
            such as hidden text. Empty otherwise.
        report: sha256 of the report's file, whose bytes lie in the store of reports; None for a brief
            that is text alone, or where there is no file.
    """

    scenario_id: str
    seed: int
    status: BriefStatus
    text: str | None
    words_raw: int | None
    words_kept: int | None
    cut: bool
    cut_by_provider: bool
    word_counter: str
    completion: str | None
    detail: str = ""
    report: str | None = None

    @property
    def brief_id(self) -> str:
        """Unique within a condition."""
        return f"{self.scenario_id}/{self.seed}"

    @property
    def is_gradable(self) -> bool:
        """True where there is a text, be it empty."""
        return self.text is not None
