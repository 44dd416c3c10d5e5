"""Words that are struck out: a thin line runs through the middle of them, or an annotation strikes them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from flows.readers.pdf.ink import Box
from flows.readers.pdf.runs import Word

_UPPER, _LOWER = 0.35, 0.72  # of a word's height, from its top; an underline is lower, a border outside
_THIN = 0.15  # of the size; thicker is a bar over the word
_SHARE = 0.6  # of a word's width that the line covers, and of the line that words cover


def strike(words: list[Word], rules: Iterable[Box], annotated: Iterable[Box]) -> None:
    """Mark struck words in place, as `~~word~~`.

    Args:
        words: of the page.
        rules: boxes of its thin lines.
        annotated: boxes of annotations that strike text out.
    """
    struck: dict[int, Word] = {}
    for box in annotated:
        for word in words:
            if box[1] <= word.middle <= box[3] and _shared(word, box) > _SHARE * (word.x1 - word.x0):
                struck[id(word)] = word
    by_middle = sorted(words, key=lambda word: word.middle)
    middles = [word.middle for word in by_middle]
    reach = max((word.bottom - word.top for word in words), default=0.0) / 2
    for x0, top, x1, bottom in rules:
        level = (top + bottom) / 2
        crossed = [
            word
            for word in by_middle[bisect_left(middles, level - reach) : bisect_right(middles, level + reach)]
            if bottom - top <= _THIN * word.size
            and _UPPER <= (level - word.top) / (word.bottom - word.top or 1) <= _LOWER
            and _shared(word, (x0, top, x1, bottom)) > 0
        ]
        covered = sum(_shared(word, (x0, top, x1, bottom)) for word in crossed)
        # Rules of a table run past its words; a line that strikes them begins and ends with them.
        if covered > _SHARE * (x1 - x0):
            for word in crossed:
                if _shared(word, (x0, top, x1, bottom)) > _SHARE * (word.x1 - word.x0):
                    struck[id(word)] = word
    for word in struck.values():
        word.text = f"~~{word.text}~~"


def _shared(word: Word, box: Box) -> float:
    return min(word.x1, box[2]) - max(word.x0, box[0])
