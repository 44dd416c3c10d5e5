"""Criteria about a report's length and headings."""

from __future__ import annotations

import re

from flows.stages.offline.index import Target
from flows.stages.offline.text import plain

WORDS_A_PAGE = 500
"""Words per page, as a text has no pages: about a full page of 11-point type."""

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"^\[(?:header|footer)\].*$", re.IGNORECASE | re.MULTILINE)
_ALIKE = 0.5  # share of a heading's words


def word_count(text: str) -> int:
    """Count words with a letter or digit, without page headers."""
    return sum(any(c.isalnum() for c in word) for word in _OUTSIDE.sub(" ", plain(text)).split())


def missing_headings(text: str, reference: str) -> list[str]:
    """Return headings of the expert's report, except the first, without a similar one in the report.

    The first is the title, which writers reword. If the expert has only one heading, it is used.
    """
    own = [frozenset(Target.of(title).keys) for title in _HEADING.findall(plain(text))]
    wanted = _HEADING.findall(plain(reference))
    missing: list[str] = []
    for title in wanted[1:] or wanted:
        keys = frozenset(Target.of(title).keys)
        if keys and not any(len(keys & other) >= _ALIKE * len(keys) for other in own):
            missing.append(title)
    return missing
