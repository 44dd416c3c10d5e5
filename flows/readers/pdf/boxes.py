"""Painted check boxes: a small square next to words, with or without a tick."""

from __future__ import annotations

from typing import Any

from flows.readers.pdf.ink import Box
from flows.readers.pdf.runs import Word

_LEAST, _MOST = 5.0, 18.0  # points
_SQUARE = 0.2  # share by which its sides may differ
_TICK = 0.4  # of its side that a tick is wide or high at least
_TOUCH = 1.5  # points within which two boxes are cells of one table
_NEAR = 3.0  # sides between a box and its words
MAX_BOXES = 200  # of a page; more are a drawing


def check_boxes(objects: dict[str, list[dict[str, Any]]], words: list[Word]) -> list[Word]:
    """Drawn check boxes as words: ☒ with a tick, ☐ without.

    Args:
        objects: the shapes of the page, as pdfplumber has them.
        words: of the page.
    """
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
        beside = [
            word
            for word in words
            if word.top < (top + bottom) / 2 < word.bottom
            and -_TOUCH < max(word.x0 - x1, x0 - word.x1) < _NEAR * side
        ]
        within = any(x0 < (w.x0 + w.x1) / 2 < x1 and top < w.middle < bottom for w in words)
        if beside and not within:
            ticked = any(_ticks(stroke, box) for stroke in strokes)
            base = beside[0]
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
    large = min(stroke[2] - stroke[0], stroke[3] - stroke[1]) >= _TICK / 2 * side
    fits = max(stroke[2] - stroke[0], stroke[3] - stroke[1]) <= 2 * side
    return box[0] < x < box[2] and box[1] < y < box[3] and large and fits
