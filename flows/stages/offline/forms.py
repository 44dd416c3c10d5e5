"""Criteria about the form of a report: its length and its headings."""

from __future__ import annotations

import re

from flows.stages.offline.index import Target
from flows.stages.offline.text import plain

WORDS_A_PAGE = 500
"""What a page is taken for: a text has no pages. A full page of 11 point type holds about so many words."""

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"^\[(?:header|footer)\].*$", re.IGNORECASE | re.MULTILINE)
_ALIKE = 0.5  # share of a heading's words


def word_count(text: str) -> int:
    """Words of a report as a person would count: runs with a letter or a digit, page headers aside."""
    return sum(any(c.isalnum() for c in word) for word in _OUTSIDE.sub(" ", plain(text)).split())


def missing_headings(text: str, reference: str) -> list[str]:
    """The headings of the expert's report, its first one aside, that a report has nothing like.

    The first is the title, which writers word anew. Where the expert has one heading, it is taken.
    """
    own = [frozenset(Target.of(title).keys) for title in _HEADING.findall(plain(text))]
    wanted = _HEADING.findall(plain(reference))
    missing: list[str] = []
    for title in wanted[1:] or wanted:
        keys = frozenset(Target.of(title).keys)
        if keys and not any(len(keys & other) >= _ALIKE * len(keys) for other in own):
            missing.append(title)
    return missing
