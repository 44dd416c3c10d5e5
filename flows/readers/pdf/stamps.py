"""The text of stamps, which is painted and not in the annotation."""

from __future__ import annotations

from typing import Any

from flows.readers.pdf.ink import pdfium

_MAX = 1000  # annotations of a page that are looked through


def stamped(sheets: Any, at: int) -> tuple[Any, int]:
    """Return a page with its stamps merged into its content.

    Args:
        sheets: the pypdfium2 document; changed in memory.
        at: number of the page from 0.

    Returns:
        The page, and how many objects of its content are its own; what follows are the stamps.
    """
    sheet = sheets[at]
    own = pdfium.FPDFPage_CountObjects(sheet)
    found = False
    for number in reversed(range(min(pdfium.FPDFPage_GetAnnotCount(sheet), _MAX))):
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
