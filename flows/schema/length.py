"""Limits of length, as authors write them and as they are measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LengthUnit(StrEnum):
    """What a length limit counts."""

    words = "words"
    pages = "pages"


@dataclass(frozen=True, slots=True)
class LengthLimit:
    """A limit of length as the task's author wrote it, and what of it can be measured.

    Attributes:
        text: the author's words.
        words: the most words; None where none are named.
        pages: the most pages; None where none are named.
        unread: parts of `text` that name no plain upper limit (`about 200 words`); they are not
            measured, and no other part is guessed from them.
    """

    text: str
    words: int | None
    pages: int | None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LengthMeasure:
    """One measure of a report against its limit.

    Attributes:
        unit: what is counted.
        limit: the most there may be.
        found: how many there are; None where they were not counted.
    """

    unit: LengthUnit
    limit: int
    found: int | None

    @property
    def within(self) -> bool | None:
        """Whether the limit is kept; None where nothing was counted."""
        return None if self.found is None else self.found <= self.limit
