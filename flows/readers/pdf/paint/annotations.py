"""The annotations of a page, and the text of its stamps, which is painted and not in the annotation."""

from dataclasses import dataclass
from typing import Any

from flows.readers.pdf.objects import entries, keys, numbers, resolved, string
from flows.readers.pdf.paint.ink import Box, in_frame, pdfium
from flows.readers.shared.notation import flat

MAX_ANNOTATIONS = 5000  # of a page
_MAX_STAMPS = 1000  # annotations of a page that are looked through for stamps
_HIDDEN, _NO_VIEW = 0x2, 0x20
_CORNERS = 8  # numbers that give the four corners of a piece of text


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation that a viewer shows; its boxes are in the frame that the page is read in."""

    kind: str
    data: dict[str, Any]
    box: Box
    pieces: tuple[Box, ...]


def annotations_of(page: Any, crop: Box, turn: int) -> list[Annotation]:
    """The annotations of a pdfminer page, from top to bottom; see `in_frame` for `crop` and `turn`."""

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


def stamped(sheets: Any, at: int) -> tuple[Any, int]:
    """Merge the stamps of page `at` (from 0) of a pypdfium2 document into its content, in memory.

    Returns:
        The page, and how many objects of its content are its own; what follows are the stamps.
    """
    sheet = sheets[at]
    own = pdfium.FPDFPage_CountObjects(sheet)
    found = False
    for number in reversed(range(min(pdfium.FPDFPage_GetAnnotCount(sheet), _MAX_STAMPS))):
        annotation = pdfium.FPDFPage_GetAnnot(sheet, number)
        is_stamp = annotation and pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_STAMP
        pdfium.FPDFPage_CloseAnnot(annotation)
        found = found or bool(is_stamp)
        if not is_stamp:
            pdfium.FPDFPage_RemoveAnnot(sheet, number)
    if not found:
        return sheet, own
    pdfium.FPDFPage_Flatten(sheet, pdfium.FLAT_NORMALDISPLAY)
    sheet.close()
    return sheets[at], own
