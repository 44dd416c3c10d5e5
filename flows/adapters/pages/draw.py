"""Render one page of a PDF."""

# pypdfium2 ships no complete types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from flows.adapters.pages.convert import DPI, MAX_PIXELS
from flows.schema.locks import PDFIUM


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page of a PDF.

    Attributes:
        pages: number of pages; None if it can't be opened.
        png: the page; None if it is missing or can't be rendered.
    """

    pages: int | None
    png: bytes | None


def draw_page(data: bytes, number: int) -> Drawn:
    """Draw page `number`, from 1, of a PDF at DPI, at most MAX_PIXELS on its longer side."""
    import pypdfium2

    with PDFIUM:
        try:
            document: Any = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError:
            return Drawn(None, None)
        try:
            pages = len(document)
            if not 1 <= number <= pages:
                return Drawn(pages, None)
            page = document[number - 1]
            scale = min(DPI / 72, MAX_PIXELS / max(page.get_size()))  # a PDF's unit is 1/72 inch
            buffer = io.BytesIO()
            page.render(scale=scale).to_pil().save(buffer, "PNG")
            return Drawn(pages, buffer.getvalue())
        except (pypdfium2.PdfiumError, ValueError, ZeroDivisionError, MemoryError):
            return Drawn(None, None)
        finally:
            document.close()
