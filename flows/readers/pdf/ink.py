"""What a page paints, in order: text objects and shapes, as interpreted by pdfium."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from ctypes import addressof, c_float, c_int, c_uint, create_string_buffer
from dataclasses import dataclass, field
from math import hypot
from typing import Any

pdfium: Any = importlib.import_module("pypdfium2.raw")

MAX_OBJECTS = 100_000  # of a page; a readable map has fewer
MAX_SHAPES = 20_000  # lines and boxes; finding tables among more takes minutes
_MAX_FORMS = 40  # forms inside one another, as pdfium itself reads them
_LINE_POINTS, _BOX_POINTS = 2, (4, 5)

Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Run:
    """One text object of the content stream.

    Attributes:
        order: its place in the order of painting; -1 where that is not known.
        font: name of its font.
        mode: text rendering mode; 3 paints nothing.
        colour: of its fill, each channel from 0 to 255; None where it is not known.
        opaque: whether its fill is not wholly transparent.
        clips: boxes, in the page's own space, that it can't paint outside of.
        top_level: index of the object of the page that it is in.
    """

    order: int = -1
    font: str = ""
    mode: int = 0
    colour: tuple[int, int, int] | None = None
    opaque: bool = True
    clips: tuple[Box, ...] = ()
    top_level: int = -1


@dataclass(slots=True)
class Shape:
    """A line, box or curve; points in the page's own space."""

    kind: str
    points: list[tuple[float, float]]
    filled: bool
    stroked: bool
    fill: tuple[int, int, int] | None
    stroke: tuple[int, int, int] | None
    width: float


@dataclass(frozen=True, slots=True)
class Cover:
    """An object that may hide earlier ones: its order, its box, and whether it fills the box."""

    order: int
    box: Box
    solid: bool


@dataclass(slots=True)
class Ink:
    """All that a page paints.

    Attributes:
        runs: text objects by the address of their handle.
        texts: handles of the text objects.
        shapes: lines, boxes and curves; none where there are more than MAX_SHAPES.
        images: boxes of the images.
        covers: all but its text, in the order of painting.
        count: how many objects there are.
    """

    runs: dict[int, Run] = field(default_factory=dict[int, Run])
    texts: list[Any] = field(default_factory=list[Any])
    shapes: list[Shape] = field(default_factory=list[Shape])
    images: list[Box] = field(default_factory=list[Box])
    covers: list[Cover] = field(default_factory=list["Cover"])
    count: int = 0


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


def _at(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def box_of(points: list[tuple[float, float]]) -> Box:
    """The smallest box around points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _moved(box: Box, matrix: Matrix) -> Box:
    x0, y0, x1, y1 = box
    return box_of([_at(matrix, x, y) for x in (x0, x1) for y in (y0, y1)])


def _matrix(handle: Any) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(handle, found):
        return UNIT
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _bounds(handle: Any, matrix: Matrix) -> Box:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    pdfium.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    return _moved((left.value, bottom.value, right.value, top.value), matrix)


def _colour(read: Any, handle: Any) -> tuple[tuple[int, int, int] | None, int]:
    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint(255)
    if not read(handle, red, green, blue, alpha):
        return None, 255
    return (red.value, green.value, blue.value), alpha.value


def _parts(segments: Iterable[Any], matrix: Matrix) -> list[list[tuple[float, float]]]:
    """The points of a path, one list for each of its parts."""
    parts: list[list[tuple[float, float]]] = []
    x, y = c_float(), c_float()
    for segment in segments:
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        if not parts or pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO:
            parts.append([])
        parts[-1].append(_at(matrix, x.value, y.value))
    return [part for part in parts if len(part) > 1]


def _clips(handle: Any, matrix: Matrix) -> tuple[Box, ...]:
    clip = pdfium.FPDFPageObj_GetClipPath(handle)
    boxes: list[Box] = []
    for at in range(max(pdfium.FPDFClipPath_CountPaths(clip), 0) if clip else 0):
        count = pdfium.FPDFClipPath_CountPathSegments(clip, at)
        segments = (pdfium.FPDFClipPath_GetPathSegment(clip, at, n) for n in range(count))
        parts = _parts(segments, matrix)
        if parts:
            boxes.append(box_of([point for part in parts for point in part]))
    return tuple(boxes)


def _within(box: Box, clips: tuple[Box, ...]) -> Box:
    for clip in clips:
        box = (max(box[0], clip[0]), max(box[1], clip[1]), min(box[2], clip[2]), min(box[3], clip[3]))
    return box


def _shapes(handle: Any, matrix: Matrix) -> list[Shape]:
    mode, stroked, width = c_int(), c_int(), c_float()
    pdfium.FPDFPath_GetDrawMode(handle, mode, stroked)
    pdfium.FPDFPageObj_GetStrokeWidth(handle, width)
    own = _times(_matrix(handle), matrix)
    fill, _ = _colour(pdfium.FPDFPageObj_GetFillColor, handle)
    stroke, _ = _colour(pdfium.FPDFPageObj_GetStrokeColor, handle)
    found: list[Shape] = []
    count = max(pdfium.FPDFPath_CountSegments(handle), 0)
    segments = (pdfium.FPDFPath_GetPathSegment(handle, at) for at in range(count))
    for part in _parts(segments, own):
        x0, y0, x1, y1 = box_of(part)
        corners = {(x, y) for x in (x0, x1) for y in (y0, y1)}
        kind = "curve"
        if len(part) == _LINE_POINTS:
            kind = "line"
        elif len(part) in _BOX_POINTS and set(part) == corners:
            kind = "rect"
        scale = hypot(own[0], own[1])
        found.append(
            Shape(kind, part, bool(mode.value), bool(stroked.value), fill, stroke, width.value * scale)
        )
    return found


def _font_name(font: Any) -> str:
    buffer = create_string_buffer(256)
    length = pdfium.FPDFFont_GetBaseFontName(font, buffer, 256) if font else 0
    return buffer.value.decode("utf-8", "replace") if length else ""


def address_of(handle: Any) -> int:
    """Return the identity of an object."""
    return addressof(handle.contents)


@dataclass(frozen=True, slots=True)
class _Inside:
    """Position of objects: transformation and clips of their form, depth, and object of the page."""

    matrix: Matrix = UNIT
    clips: tuple[Box, ...] = ()
    depth: int = 0
    top: int = -1


def ink_of(page: Any) -> Ink:
    """Walk through the objects of a pdfium page, into its forms."""
    ink = Ink()
    _walk(ink, page, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, _Inside())
    if len(ink.shapes) > MAX_SHAPES:
        ink.shapes = []
    return ink


def _walk(ink: Ink, parent: Any, count: Any, get: Any, inside: _Inside) -> None:
    matrix = inside.matrix
    for at in range(max(count(parent), 0)):
        handle = get(parent, at)
        ink.count += 1
        if not handle or ink.count > MAX_OBJECTS:
            return
        order, level = ink.count, at if inside.depth == 0 else inside.top
        clips = inside.clips + _clips(handle, matrix)
        kind = pdfium.FPDFPageObj_GetType(handle)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            colour, alpha = _colour(pdfium.FPDFPageObj_GetFillColor, handle)
            ink.texts.append(handle)
            ink.runs[address_of(handle)] = Run(
                order,
                _font_name(pdfium.FPDFTextObj_GetFont(handle)),
                pdfium.FPDFTextObj_GetTextRenderMode(handle),
                colour,
                alpha > 0,
                clips,
                level,
            )
        elif kind == pdfium.FPDF_PAGEOBJ_FORM:
            if inside.depth < _MAX_FORMS:
                inner = _Inside(_times(_matrix(handle), matrix), clips, inside.depth + 1, level)
                _walk(ink, handle, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject, inner)
        else:
            box, solid = _bounds(handle, matrix), False
            if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
                ink.images.append(box)
            elif kind == pdfium.FPDF_PAGEOBJ_PATH and len(ink.shapes) <= MAX_SHAPES:
                shapes = _shapes(handle, matrix)
                ink.shapes += shapes
                solid = [(shape.kind, shape.filled) for shape in shapes] == [("rect", True)]
                solid = solid and not pdfium.FPDFPageObj_HasTransparency(handle)
                box = _within(box, clips) if solid else box
            ink.covers.append(Cover(order, box, solid))
