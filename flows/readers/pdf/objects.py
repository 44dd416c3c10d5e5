"""PDF objects, and the annotations of a page."""

import importlib
from dataclasses import dataclass
from typing import Any

from flows.readers.pdf.ink import Box
from flows.readers.pdf.seen import in_frame
from flows.readers.words import flat

MAX_ANNOTATIONS = 5000  # of a page
_HIDDEN, _NO_VIEW = 0x2, 0x20
_CORNERS = 8  # numbers that give the four corners of a piece of text


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation that a viewer shows; its boxes are in the frame that the page is read in."""

    kind: str
    data: dict[str, Any]
    box: Box
    pieces: tuple[Box, ...]


def resolved(value: Any) -> Any:
    """Return the object of a reference."""
    resolve1: Any = importlib.import_module("pdfminer.pdftypes").resolve1
    return resolve1(value)


def string(value: Any) -> str:
    """A PDF string or name as text."""
    literal: Any = importlib.import_module("pdfminer.psparser").PSLiteral
    decode_text: Any = importlib.import_module("pdfminer.utils").decode_text
    value = resolved(value)
    if isinstance(value, literal):
        return str(value.name)
    if isinstance(value, bytes):
        return str(decode_text(value))
    if isinstance(value, list):
        return ", ".join(filter(None, (string(entry) for entry in entries(value))))
    return "" if value is None else str(value)


def keys(value: Any) -> dict[str, Any]:
    """A PDF dictionary, also that of a stream; an empty one for anything else."""
    value = resolved(value)
    value = getattr(value, "attrs", value)
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- pdfminer has no types


def entries(value: Any) -> list[Any]:
    """A PDF array; an empty one for anything else."""
    value = resolved(value)
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] -- pdfminer has no types


def numbers(value: Any) -> list[float]:
    """The numbers of an array."""
    found = [resolved(entry) for entry in entries(value)]
    return [float(entry) for entry in found if isinstance(entry, (int, float))]


def annotations(page: Any, crop: Box, turn: int) -> list[Annotation]:
    """The annotations of a page, from top to bottom.

    Args:
        page: the pdfminer page.
        crop: the part of the page that is shown.
        turn: degrees that it is turned by; see `in_frame`.
    """

    def framed(points: list[float]) -> Box:
        xs, ys = points[::2], points[1::2]
        return in_frame((min(xs), min(ys), max(xs), max(ys)), crop, turn)

    found: list[Annotation] = []
    for entry in entries(page.annots)[:MAX_ANNOTATIONS]:
        data = keys(entry)
        flags, kind = resolved(data.get("F")), string(data.get("Subtype"))
        rect = numbers(data.get("Rect"))
        if isinstance(flags, int) and flags & (_HIDDEN | _NO_VIEW):
            continue  # nobody sees it
        if len(rect) != 4:  # noqa: PLR2004 -- corners of a box
            rect = [0.0, 0.0, 0.0, 0.0]
        quads = numbers(data.get("QuadPoints"))
        pieces = [
            framed(quads[at : at + _CORNERS]) for at in range(0, len(quads) - _CORNERS + 1, _CORNERS)
        ] or [framed(rect)]
        found.append(Annotation(kind, data, framed(rect), tuple(pieces)))
    return sorted(found, key=lambda annotation: (annotation.box[1], annotation.box[0]))


def address(annotation: Annotation) -> str:
    """The web or mail address that a link leads to; empty for other annotations."""
    action = keys(annotation.data.get("A"))
    return flat(string(action.get("URI"))) if annotation.kind == "Link" else ""
