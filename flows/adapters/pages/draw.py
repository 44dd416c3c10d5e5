"""Draw pages of a PDF with PDFium."""

# pypdfium2 and Pillow ship no complete types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import io
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.schema.locks import PDFIUM

DPI = 100
MAX_PIXELS = 2_000  # of the longer side of an image


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page of a PDF."""

    pages: int | None  # number of pages; None if it can't be opened
    png: bytes | None  # the page; None if it is missing or can't be rendered


def draw_page(data: bytes, number: int) -> Drawn:
    """Draw page `number`, from 1, of a PDF at DPI, at most MAX_PIXELS on its longer side."""
    from pypdfium2 import PdfiumError

    try:
        with opened(data) as document:
            pages = len(document)
            return Drawn(pages, png_of(document[number - 1]) if 1 <= number <= pages else None)
    except (PdfiumError, ValueError, ZeroDivisionError, MemoryError):
        return Drawn(None, None)


@contextmanager
def opened(pdf: Path | bytes) -> Generator[Any]:
    """Open a PDF, and close it at the end of the block; no other thread is in PDFium meanwhile.

    Raises:
        PdfiumError: it can't be opened.
    """
    import pypdfium2

    with PDFIUM:
        document: Any = pypdfium2.PdfDocument(pdf)
        try:
            yield document
        finally:
            document.close()


def png_of(page: Any) -> bytes:
    """Render a page of an opened PDF."""
    scale = min(DPI / 72, MAX_PIXELS / max(page.get_size()))  # a PDF's unit is 1/72 inch
    buffer = io.BytesIO()
    page.render(scale=scale).to_pil().save(buffer, "PNG")
    return buffer.getvalue()
