"""Which numbers a criterion requires, and which are alternatives of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flows.stages.offline.numerals import spell_in_digits
from flows.stages.offline.quantities import Quantity, scan
from flows.stages.offline.text import strip_citations

Group = tuple[tuple[Quantity, ...], ...]
"""Alternatives, each a set of quantities that are given together."""

# Other numbers can satisfy a bound, so the report need not repeat it.
_BOUND = re.compile(
    r"\b(?:(?P<least>at least|at or above|above|more than|over)|at most|at or below|below|less than|under)"
    r"\s+(?:the\s+)?$"
)
# In "nine 60K loaders" the second number is part of a name.
_NUMBER_IN_NAME = re.compile(r"(?<=\d )\d+k\b(?= [a-z])|(?<=[a-z] )\d+k\b(?= [a-z])")
_DELIMITER = re.compile(r"(,? or\b|,(?!\d)|;|\(|\)|\s-\s)")
_NEAR = 4  # maximum words between an "or" and the numbers that it joins
_DISTINCT = {"date", "clock"}


def number_groups(words: str) -> tuple[Group, ...]:
    """Return the numbers that lower-case `words` require: one alternative of every group.

    "126 of 152, or 83 percent" is one group of two alternatives, and so is "69 minutes (0921)". A
    number with words as its alternative ("reaches 20, or has the second loader") and a bound ("at or above
    90 percent") are not required.
    """
    groups: list[list[tuple[Quantity, ...]]] = []
    open_group = False  # the last chunk had a number, so an alternative may follow
    void = in_list = False
    words = _NUMBER_IN_NAME.sub(" ", spell_in_digits(words))
    parts = _DELIMITER.split(strip_citations(words).replace(" or,", ","))
    for place in range(0, len(parts), 2):
        delimiter = parts[place - 1].strip() if place else ""
        chunk = parts[place]
        found = tuple(_quantities(chunk))
        or_near = delimiter == "or" and _starts_with_number(chunk)
        if delimiter == "(":
            in_list = True
        joined = open_group and (
            delimiter in (", or", "(")
            or or_near
            or (in_list and delimiter == "," and _starts_with_number(chunk))
        )
        if delimiter == "or" and not or_near:
            joined = False
        if delimiter == ")":
            in_list = False
        if joined and found:
            groups[-1].append(found)
        elif joined and delimiter == ", or" and chunk.strip():
            void = True
            groups.pop()
        elif found:
            groups.append([found])
        if chunk.strip() or found:
            open_group = bool(found) and not void
            void = False
    return tuple(tuple(group) for group in groups)


def _starts_with_number(chunk: str) -> bool:
    return any(not isinstance(token, str) for token in scan(chunk)[:_NEAR])


def _quantities(chunk: str) -> list[Quantity]:
    """Return the quantities of a part of a sentence, without names and bounds."""
    found: list[Quantity] = []
    for token, bound in _bounded(chunk):
        if not (token.loose or bound):
            found.append(token)
    return found


def bounds(words: str) -> tuple[tuple[Quantity, int], ...]:
    """Return the bounds in lower-case `words`: minimums (1) and maximums (-1)."""
    return tuple((token, bound) for token, bound in _bounded(words) if bound)


def _bounded(text: str) -> Iterator[tuple[Quantity, int]]:
    """Yield each quantity of lower-case `text`, with 1 after "at least", -1 after "at most", else 0.

    A day or a time is never a bound: "no later than 24 March" must be repeated.
    """
    text = spell_in_digits(text)
    end = 0
    for token in scan(text):
        if isinstance(token, str):
            continue
        start = max(text.find(token.text, end), 0)
        bound = None if token.dimension in _DISTINCT else _BOUND.search(text[end:start])
        end = start
        yield token, 0 if bound is None else 1 if bound["least"] else -1
