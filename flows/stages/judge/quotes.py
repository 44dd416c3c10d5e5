"""Check that a quote in a judge's reply is in the brief."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape

_SHORTEST = 6  # letters and digits of a part: shorter ones are in any brief
_LEFT_OUT = re.compile(r"\.\.\.|…|\[…\]")


def is_quoted(quote: str, brief_text: str) -> bool:
    """True if every part of the quote is in the brief, in order.

    Compared are letters and digits: case, marks, white space and markup don't count. `...` marks what a quote
    leaves out. A part of fewer than six letters and digits is no evidence.

    Args:
        quote: as replied.
        brief_text: the brief; escaped characters are read as what they stand for.
    """
    text = _plain(brief_text)
    place = 0
    for part in _LEFT_OUT.split(quote):
        words = _plain(part)
        if len(words) < _SHORTEST or (place := text.find(words, place)) < 0:
            return False
        place += len(words)
    return True


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """Reduce a text to its words, joined by single spaces."""
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", unescape(text)).casefold()))
