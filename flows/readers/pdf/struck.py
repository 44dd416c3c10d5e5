"""Find struck-out words: by a thin line through their middle, or by an annotation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from flows.readers.pdf.ink import Box
from flows.readers.pdf.runs import Word

_UPPER, _LOWER = 0.4, 0.68  # of a word's height, from its top; an underline is lower, a border outside
_THIN = 0.15  # of the size; thicker is a bar over the word
_LONG = 6  # times its height that a line is wide at least
_SHARE = 0.6  # of a word's width that the line covers
_BEYOND = 0.5  # of the size by which the line may reach beyond the words


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
            if box[1] <= word.middle <= box[3] and _shared(word, box) > _SHARE * _width(word):
                struck[id(word)] = word
    by_middle = sorted(words, key=lambda word: word.middle)
    middles = [word.middle for word in by_middle]
    reach = max((word.bottom - word.top for word in words), default=0.0) / 2
    for x0, top, x1, bottom in rules:
        level = (top + bottom) / 2
        if x1 - x0 < _LONG * (bottom - top):
            continue
        crossed = [
            word
            for word in by_middle[bisect_left(middles, level - reach) : bisect_right(middles, level + reach)]
            if bottom - top <= _THIN * word.size
            and _UPPER <= (level - word.top) / (word.bottom - word.top or 1) <= _LOWER
            and _shared(word, (x0, top, x1, bottom)) > 0
        ]
        covered = [word for word in crossed if _shared(word, (x0, top, x1, bottom)) > _SHARE * _width(word)]
        # Rules of a table run past its words; a line that strikes them begins and ends with them.
        beyond = _BEYOND * max((word.size for word in covered), default=0.0)
        if (
            covered
            and min(word.x0 for word in covered) - x0 <= beyond
            and x1 - max(word.x1 for word in covered) <= beyond
        ):
            struck.update((id(word), word) for word in covered)
    for word in struck.values():
        word.text = f"~~{word.text}~~"


def _width(word: Word) -> float:
    return word.x1 - word.x0


def _shared(word: Word, box: Box) -> float:
    return min(word.x1, box[2]) - max(word.x0, box[0])
