"""What a page paints, in order: text objects and shapes, as interpreted by pdfium."""

import importlib
from collections.abc import Iterable
from ctypes import addressof, c_float, c_int, c_uint, create_string_buffer
from dataclasses import dataclass, field
from math import hypot
from typing import Any

from pdfminer.utils import apply_matrix_pt, apply_matrix_rect, get_bound, mult_matrix

pdfium: Any = importlib.import_module("pypdfium2.raw")

MAX_OBJECTS = 100_000  # of a page; a readable map has fewer
MAX_SHAPES = 20_000  # lines and boxes; finding tables among more takes minutes
_MAX_FORMS = 40  # forms inside one another, as pdfium itself reads them
_LINE_POINTS, _BOX_POINTS = 2, (4, 5)

Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
Colour = tuple[int, int, int]
UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Run:
    """One text object of the content stream."""

    order: int = -1  # its place in the order of painting; -1 where that is not known
    font: str = ""  # name of its font
    mode: int = 0  # text rendering mode; 3 paints nothing
    colour: Colour | None = None  # of its fill, each channel from 0 to 255; None where it is not known
    opaque: bool = True  # whether its fill is not wholly transparent
    clips: tuple[Box, ...] = ()  # boxes, in the page's own space, that it can't paint outside of
    top_level: int = -1  # index of the object of the page that it is in


@dataclass(slots=True)
class Shape:
    """A line, box or curve; points in the page's own space."""

    kind: str
    points: list[tuple[float, float]]
    filled: bool
    stroked: bool
    fill: Colour | None
    stroke: Colour | None
    width: float


@dataclass(frozen=True, slots=True)
class Cover:
    """An object that may hide earlier ones: its order, its box, and whether it fills the box."""

    order: int
    box: Box
    solid: bool


@dataclass(slots=True)
class Ink:
    """All that a page paints."""

    runs: dict[int, Run] = field(default_factory=dict[int, Run])  # by the address of their handle
    texts: list[Any] = field(default_factory=list[Any])  # handles of the text objects
    # Lines, boxes and curves; none where there are more than MAX_SHAPES.
    shapes: list[Shape] = field(default_factory=list[Shape])
    images: list[Box] = field(default_factory=list[Box])  # boxes of the images
    covers: list[Cover] = field(default_factory=list["Cover"])  # all but its text, in the order of painting
    count: int = 0  # how many objects there are


def _matrix(handle: Any) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(handle, found):
        return UNIT
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _bounds(handle: Any, matrix: Matrix) -> Box:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    pdfium.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    return apply_matrix_rect(matrix, (left.value, bottom.value, right.value, top.value))


def _colour(read: Any, handle: Any) -> tuple[Colour | None, int]:
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
        parts[-1].append(apply_matrix_pt(matrix, (x.value, y.value)))
    return [part for part in parts if len(part) > 1]


def _clips(handle: Any, matrix: Matrix) -> tuple[Box, ...]:
    clip = pdfium.FPDFPageObj_GetClipPath(handle)
    boxes: list[Box] = []
    for at in range(pdfium.FPDFClipPath_CountPaths(clip) if clip else 0):
        count = pdfium.FPDFClipPath_CountPathSegments(clip, at)
        segments = (pdfium.FPDFClipPath_GetPathSegment(clip, at, n) for n in range(count))
        parts = _parts(segments, matrix)
        if parts:
            boxes.append(get_bound(point for part in parts for point in part))
    return tuple(boxes)


def _within(box: Box, clips: tuple[Box, ...]) -> Box:
    for clip in clips:
        box = (max(box[0], clip[0]), max(box[1], clip[1]), min(box[2], clip[2]), min(box[3], clip[3]))
    return box


def _shapes(handle: Any, matrix: Matrix) -> list[Shape]:
    mode, stroked, width = c_int(), c_int(), c_float()
    pdfium.FPDFPath_GetDrawMode(handle, mode, stroked)
    pdfium.FPDFPageObj_GetStrokeWidth(handle, width)
    own = mult_matrix(_matrix(handle), matrix)
    fill, _ = _colour(pdfium.FPDFPageObj_GetFillColor, handle)
    stroke, _ = _colour(pdfium.FPDFPageObj_GetStrokeColor, handle)
    found: list[Shape] = []
    count = pdfium.FPDFPath_CountSegments(handle)
    segments = (pdfium.FPDFPath_GetPathSegment(handle, at) for at in range(count))
    for part in _parts(segments, own):
        x0, y0, x1, y1 = get_bound(part)
        kind = "line" if len(part) == _LINE_POINTS else "curve"
        if len(part) in _BOX_POINTS and set(part) == {(x, y) for x in (x0, x1) for y in (y0, y1)}:
            kind = "rect"
        wide = width.value * hypot(own[0], own[1])
        found.append(Shape(kind, part, bool(mode.value), bool(stroked.value), fill, stroke, wide))
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
    for at in range(count(parent)):
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
                inner = _Inside(mult_matrix(_matrix(handle), matrix), clips, inside.depth + 1, level)
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


def in_frame(box: Box, crop: Box, turn: int) -> Box:
    """A box of the page's own space in the frame that it is shown in: from the left and from the top.

    Boxes are left, bottom, right, top; `crop` is the part of the page that is shown, `turn` the degrees that
    the page is turned clockwise by, a multiple of 90.
    """
    left, bottom, right, top = crop
    x0, top0, x1, bottom0 = box[0] - left, top - box[3], box[2] - left, top - box[1]
    wide, high = right - left, top - bottom
    if turn == 90:  # noqa: PLR2004 -- degrees
        return high - bottom0, x0, high - top0, x1
    if turn == 180:  # noqa: PLR2004
        return wide - x1, high - bottom0, wide - x0, high - top0
    if turn == 270:  # noqa: PLR2004
        return top0, wide - x1, bottom0, wide - x0
    return x0, top0, x1, bottom0
