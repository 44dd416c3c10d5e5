"""Length limits, as written by authors and as measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LengthUnit(StrEnum):
    """What a length limit counts."""

    words = "words"
    pages = "pages"


@dataclass(frozen=True, slots=True)
class LengthLimit:
    """A length limit as written by the task's author, and its measurable parts.

    Attributes:
        text: the author's words.
        words: maximum words; None if not given.
        pages: maximum pages; None if not given.
        unread: parts of `text` that are not a plain upper limit (`about 200 words`) and so are not measured.
    """

    text: str
    words: int | None
    pages: int | None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LengthMeasure:
    """One measurement of a report against its limit.

    Attributes:
        unit: the unit.
        limit: the maximum.
        found: the count; None if not counted.
    """

    unit: LengthUnit
    limit: int
    found: int | None

    @property
    def within(self) -> bool | None:
        """Whether the count is within the limit; None if not counted."""
        return None if self.found is None else self.found <= self.limit
