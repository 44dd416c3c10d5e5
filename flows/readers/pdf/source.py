"""Open a PDF file; reject incomplete ones and decompression bombs."""

import importlib
import io
import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect

from flows.common.errors import ReadError
from flows.readers.pdf.bounds import Load, check_unpacked
from flows.readers.pdf.objects import entries, keys, resolved, string

MAX_PAGES = 2000
_LATIN = frozenset(["WinAnsiEncoding", "MacRomanEncoding", "StandardEncoding"])
_LINEAR = re.compile(rb"/Linearized\b.{0,200}?/L\s+(\d+)", re.DOTALL)


def _check(data: bytes, path: Path) -> None:
    if b"%PDF-" not in data[:1024]:
        raise ReadError(
            path, "no PDF file inside", "a file that starts with %PDF-", "give it the suffix of what it is"
        )
    linear = _LINEAR.search(data[:2048])
    if b"%%EOF" not in data or (linear and int(linear.group(1)) > len(data)):
        raise ReadError(path, "the file is cut short: its end is missing", "a complete PDF", "get it again")
    check_unpacked(data, path)


@dataclass(frozen=True, slots=True)
class Source:
    """An open PDF file."""

    path: Path  # names it in errors
    pdf: Any  # the `pdfplumber.PDF`, for its structure; None if that is damaged
    sheets: Any  # the pypdfium2 document, for what its pages paint
    layers_off: bool  # whether it has layers that are switched off
    fault: str = ""  # what is damaged in its structure
    load: Load = field(default_factory=Load)  # what its forms make a page do

    def _resources(self, number: int) -> dict[str, Any]:
        return {} if self.pdf is None else keys(self.pdf.pages[number - 1].page_obj.resources)

    def patterns(self, number: int) -> bool:
        """Whether a page (from 1) may fill with patterns."""
        return bool(self._resources(number).get("Pattern"))

    def drawn_fonts_are_named(self, number: int) -> bool:
        """Whether all fonts of a page (from 1) whose glyphs are drawn are in an encoding of Latin text."""
        fonts = map(keys, keys(self._resources(number).get("Font")).values())
        drawn = [font for font in fonts if string(font.get("Subtype")) == "Type3"]
        return all(string(font.get("Encoding")) in _LATIN for font in drawn) and bool(drawn)

    def attachments(self) -> list[str]:
        """Names of the files that are embedded in it."""
        count = self.sheets.count_attachments()
        return [self.sheets.get_attachment(at).get_name() or "without a name" for at in range(count)]

    def close(self) -> None:
        """Close both views of it."""
        self.sheets.close()
        if self.pdf is not None:
            self.pdf.close()


def opened(data: bytes, path: Path) -> Source:
    """Open a file.

    Raises:
        ReadError: it is no PDF, damaged, cut short, protected, or too large to decompress or read.
    """
    _check(data, path)
    # The library warns of each oddity, hundreds of times a page. Relevant ones are found below and on the
    # pages, and reported once.
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    pdfium: Any = importlib.import_module("pypdfium2")
    pdf, fault = _structure(data, path)
    try:
        sheets: Any = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise ReadError(
            path, f"damaged ({fault or error})", "a sound PDF", "print it to a new PDF"
        ) from error
    pages = len(sheets)
    if not pages:
        raise ReadError(path, "no page can be found in it", "a sound PDF", "print it to a new PDF")
    if pages > MAX_PAGES:
        raise ReadError(path, f"{pages} pages", f"at most {MAX_PAGES}", "split the document")
    if pdf is None:
        return Source(path, None, sheets, layers_off=False, fault=fault)
    stated, found = _stated_pages(pdf), len(pdf.pages)
    usual = keys(keys(pdf.doc.catalog.get("OCProperties")).get("D"))
    layers_off = bool(entries(usual.get("OFF"))) or string(usual.get("BaseState")) == "OFF"
    if stated is not None and stated != found:
        raise ReadError(
            path,
            f"{found} of {stated} pages can be found",
            "all pages",
            "the file is damaged: get it again, or print it to a new PDF",
        )
    if found != pages:
        return Source(path, None, sheets, layers_off, f"{found} or {pages} pages")
    return Source(path, pdf, sheets, layers_off)


def _structure(data: bytes, path: Path) -> tuple[Any, str]:
    """The `pdfplumber.PDF` with its pages found, or None and why it can't be had."""
    try:
        pdf: Any = pdfplumber.open(io.BytesIO(data))
        _stated_pages(pdf)
        pages = len(pdf.pages)
    except Exception as error:
        if error.args and isinstance(error.args[0], PDFPasswordIncorrect):
            raise ReadError(
                path,
                "the file is protected with a password",
                "a file that opens without one",
                "open it, print it to a new PDF without password, or leave it out",
            ) from error
        return None, str(error) or type(error).__name__
    return (pdf, "") if pages else (None, "no page in its structure")


def _stated_pages(pdf: Any) -> int | None:
    """How many pages the file says it has; None where it does not say."""
    count = resolved(keys(pdf.doc.catalog.get("Pages")).get("Count"))
    return count if isinstance(count, int) else None
