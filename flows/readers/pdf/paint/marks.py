"""What is drawn at words: check boxes beside them, lines through them, stamps and watermarks over them."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from flows.readers.pdf.paint.chars import Char
from flows.readers.pdf.paint.ink import Box
from flows.readers.pdf.paint.runs import Word, slanting_words, words_of

_LEAST, _MOST = 5.0, 18.0  # points
_SQUARE = 0.2  # share by which its sides may differ
_TICK = 0.4  # of its side that a tick is wide or high at least
_TOUCH = 1.5  # points within which two boxes are cells of one table
_NEAR = 3.0  # sides between a box and its words
MAX_BOXES = 200  # of a page; more are a drawing

_UPPER, _LOWER = 0.4, 0.68  # of a word's height, from its top; an underline is lower, a border outside
_THIN = 0.15  # of the size; thicker is a bar over the word
_LONG = 6  # times its height that a line is wide at least
_SHARE = 0.6  # of a word's width that the line covers
_BEYOND = 0.5  # of the size by which the line may reach beyond the words

_ASLANT = 2  # degrees against the rest of the page from which text is a stamp or a note of its own
_LARGE = 2.5  # times the usual size, for text over other text to be a watermark
_OVERLAP = 0.2  # of a word's height and width that another one covers, to stand over it
_OVER = 2  # words that a watermark stands over at least


def check_boxes(objects: dict[str, list[dict[str, Any]]], words: list[Word]) -> list[Word]:
    """Drawn check boxes beside words: ☒ with a tick, ☐ without; `objects` are pdfplumber's shapes."""
    squares = sorted(
        {_edges(shape) for shape in objects["rect"] if shape["stroke"] and _is_square(_edges(shape))}
    )
    if len(squares) > MAX_BOXES:
        return []
    others = [_edges(shape) for shape in objects["rect"]]
    strokes = [_edges(shape) for kind in ("line", "curve") for shape in objects[kind]]
    found: list[Word] = []
    for box in squares:
        x0, top, x1, bottom = box
        side = x1 - x0
        if any(_touch(box, other) for other in others if other != box):
            continue
        beside = (
            word
            for word in words
            if word.top < (top + bottom) / 2 < word.bottom
            and -_TOUCH < max(word.x0 - x1, x0 - word.x1) < _NEAR * side
        )
        base = next(beside, None)
        within = any(x0 < (w.x0 + w.x1) / 2 < x1 and top < w.middle < bottom for w in words)
        if base is not None and not within:
            ticked = any(_ticks(stroke, box) for stroke in strokes)
            found.append(Word("☒" if ticked else "☐", x0, base.top, x1, base.bottom, base.size))
    return found


def _edges(shape: dict[str, Any]) -> Box:
    return (shape["x0"], shape["top"], shape["x1"], shape["bottom"])


def _is_square(box: Box) -> bool:
    wide, high = box[2] - box[0], box[3] - box[1]
    return _LEAST <= wide <= _MOST and abs(wide - high) <= _SQUARE * wide


def _touch(one: Box, two: Box) -> bool:
    """Whether two boxes lie beside each other without a gap, or share a part of their edges."""
    wide = min(one[2], two[2]) - max(one[0], two[0])
    high = min(one[3], two[3]) - max(one[1], two[1])
    around = two[0] < one[0] and two[1] < one[1] and two[2] > one[2] and two[3] > one[3]
    return wide > -_TOUCH and high > -_TOUCH and not around


def _ticks(stroke: Box, box: Box) -> bool:
    x, y, side = (stroke[0] + stroke[2]) / 2, (stroke[1] + stroke[3]) / 2, box[2] - box[0]
    sides = (stroke[2] - stroke[0], stroke[3] - stroke[1])
    inside = box[0] < x < box[2] and box[1] < y < box[3]
    return inside and min(sides) >= _TICK / 2 * side and max(sides) <= 2 * side


def strike(words: list[Word], rules: Iterable[Box], annotated: Iterable[Box]) -> None:
    """Mark words struck by thin lines (`rules`) or annotations, in place, as `~~word~~`."""
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
        if x1 - x0 < _LONG * (bottom - top):
            continue
        crossed = [
            word
            for word in by_middle[bisect_left(middles, level - reach) : bisect_right(middles, level + reach)]
            if bottom - top <= _THIN * word.size
            and _UPPER <= (level - word.top) / (word.bottom - word.top or 1) <= _LOWER
            and _shared(word, (x0, top, x1, bottom)) > 0
        ]
        covered = [
            word for word in crossed if _shared(word, (x0, top, x1, bottom)) > _SHARE * (word.x1 - word.x0)
        ]
        if not covered:
            continue
        # Rules of a table run past its words; a line that strikes them begins and ends with them.
        before = min(word.x0 for word in covered) - x0
        behind = x1 - max(word.x1 for word in covered)
        if max(before, behind) <= _BEYOND * max(word.size for word in covered):
            struck.update((id(word), word) for word in covered)
    for word in struck.values():
        word.text = f"~~{word.text}~~"


def _shared(word: Word, box: Box) -> float:
    return min(word.x1, box[2]) - max(word.x0, box[0])


def parted(chars: list[Char]) -> tuple[list[Word], list[str]]:
    """The words of a page, and the lines that stand over them with what they are.

    Characters that slant against the rest are turned in place.
    """
    angles = Counter(char.angle for char in chars if char.size)
    usual = max(angles, key=angles.__getitem__, default=0.0)
    slants = {angle for angle in angles if abs((angle - usual + 180) % 360 - 180) > _ASLANT}
    words = words_of(char for char in chars if char.angle not in slants or not char.size)
    lines: list[str] = []
    for angle in sorted(slants):
        for word in slanting_words([char for char in chars if char.size and char.angle == angle], angle):
            if any(_over(word, other) for other in words):
                lines.append(f"[Slanting] {word.text}")
            else:
                words.append(word)
    size = median(word.size for word in words) if words else 0.0
    large = [word for word in words if word.size > _LARGE * size]
    levels = [word.middle for word in large if sum(_over(word, other) for other in words) >= _OVER]
    marks = [word for word in large if any(abs(word.middle - level) < size for level in levels)]
    lines += [f"[Watermark] {text}" for text in rows(marks)]
    return [word for word in words if word not in marks], lines


def rows(words: Iterable[Word]) -> list[str]:
    """Text line by line."""
    found: dict[int, list[Word]] = {}
    for word in sorted(words, key=lambda word: word.x0):
        found.setdefault(round(word.middle / max(word.size, 1)), []).append(word)
    return [" ".join(word.text for word in row) for _, row in sorted(found.items())]


def _over(word: Word, other: Word) -> bool:
    """Whether a word stands over a part of another one that matters."""
    wide = min(word.x1, other.x1) - max(word.x0, other.x0)
    high = min(word.bottom, other.bottom) - max(word.top, other.top)
    return (
        other is not word
        and wide > _OVERLAP * (other.x1 - other.x0)
        and high > _OVERLAP * (other.bottom - other.top)
    )
