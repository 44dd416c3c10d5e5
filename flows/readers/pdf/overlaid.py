"""Text over other text: slanted stamps and large watermarks, which would mix into its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median

from flows.readers.pdf.chars import Char
from flows.readers.pdf.runs import Word, slanting_words, words_of

_ASLANT = 2  # degrees against the rest of the page from which text is a stamp or a note of its own
_LARGE = 2.5  # times the usual size, for text over other text to be a watermark
_SHARE = 0.2  # of a word's height and width that another one covers, to stand over it
_OVER = 2  # words that a watermark stands over at least


def parted(chars: list[Char]) -> tuple[list[Word], list[str]]:
    """The words of a page, and the lines that stand over them with what they are.

    Args:
        chars: of the main direction; those that slant against the rest are turned in place.
    """
    usual = Counter(char.angle for char in chars if char.size).most_common(1)
    slants = {char.angle for char in chars if char.size and _apart(char.angle, usual[0][0]) > _ASLANT}
    words = words_of(char for char in chars if char.angle not in slants or not char.size)
    lines: list[str] = []
    for angle in sorted(slants):
        for word in slanting_words([char for char in chars if char.size and char.angle == angle], angle):
            if any(_over(word, other) for other in words):
                lines.append(f"[Slanting] {word.text}")
            else:
                words.append(word)
    size = median(word.size for word in words) if words else 0.0
    large = [
        word
        for word in words
        if word.size > _LARGE * size and sum(_over(word, other) for other in words) >= _OVER
    ]
    if large:
        levels = [word.middle for word in large]
        large = [
            word
            for word in words
            if word.size > _LARGE * size and any(abs(word.middle - level) < size for level in levels)
        ]
        lines += [f"[Watermark] {text}" for text in rows(large)]
        words = [word for word in words if word not in large]
    return words, lines


def rows(words: Iterable[Word]) -> list[str]:
    """Text line by line."""
    found: dict[int, list[Word]] = {}
    for word in words:
        found.setdefault(round(word.middle / max(word.size, 1)), []).append(word)
    return [
        " ".join(word.text for word in sorted(row, key=lambda w: w.x0)) for _, row in sorted(found.items())
    ]


def _apart(one: float, two: float) -> float:
    """Degrees between two directions."""
    return abs((one - two + 180) % 360 - 180)


def _over(word: Word, other: Word) -> bool:
    """Whether a word stands over a part of another one that matters."""
    wide = min(word.x1, other.x1) - max(word.x0, other.x0)
    high = min(word.bottom, other.bottom) - max(word.top, other.top)
    return (
        other is not word
        and wide > _SHARE * (other.x1 - other.x0)
        and high > _SHARE * (other.bottom - other.top)
    )
