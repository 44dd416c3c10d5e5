"""Length limits, as written by authors and as measured."""

from dataclasses import dataclass
from enum import StrEnum


class LengthUnit(StrEnum):
    """What a length limit counts."""

    words = "words"
    pages = "pages"


@dataclass(frozen=True, slots=True)
class LengthMeasure:
    """One measurement of a report against its limit."""

    unit: LengthUnit
    limit: int  # the maximum
    found: int | None  # the count; None if not counted

    @property
    def within(self) -> bool | None:
        """Whether the count is within the limit; None if not counted."""
        return None if self.found is None else self.found <= self.limit


@dataclass(frozen=True, slots=True)
class LengthLimit:
    """A length limit as written by the task's author, and its measurable parts."""

    text: str  # the author's words
    words: int | None  # maximum words; None if not given
    pages: int | None  # maximum pages; None if not given
    # Parts of `text` that are not a plain upper limit (`about 200 words`) and so are not measured.
    unread: tuple[str, ...] = ()

    def measures(self, *, words: int | None, pages: int | None) -> tuple[LengthMeasure, ...]:
        """Compare counts, None if not counted, with each number of the limit, words first."""
        found = ((LengthUnit.words, self.words, words), (LengthUnit.pages, self.pages, pages))
        return tuple(LengthMeasure(unit, most, count) for unit, most, count in found if most is not None)
