"""The characters of a page, each with its place and the text object that paints it."""

from __future__ import annotations

import sys
from ctypes import c_double
from dataclasses import dataclass
from math import atan2, degrees, hypot
from typing import Any

from flows.readers.pdf.ink import Box, Ink, Run, address_of, pdfium

_SAMPLE = 20  # characters from which it can be judged whether codes are Unicode
_HYPHENS = frozenset({"\x02", "\ufffe"})  # pdfium's signs for a hyphen at a line end


@dataclass(slots=True)
class Char:
    """A character; its edges are in the frame that is read, `place` is in the page's own space."""

    text: str
    place: Box
    size: float
    angle: float
    run: Run
    origin: tuple[float, float] = (0.0, 0.0)
    x0: float = 0.0
    top: float = 0.0
    x1: float = 0.0
    bottom: float = 0.0


def chars_of(text_page: Any, ink: Ink, *, codes_are_names: bool = False) -> list[Char]:
    """The characters of a page in the order of the content stream, lines right to left in reading order.

    A line end is a character without a size. Only the text of a character without a known meaning
    is U+FFFD.

    Args:
        text_page: of pdfium.
        ink: what the page paints.
        codes_are_names: whether the codes of nameless fonts, whose glyphs are drawn, are those of Latin text.
    """
    found: list[Char] = []
    box, matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
    other = Run()
    scales: dict[int, tuple[float, float]] = {}
    nameless: list[Char] = []
    x, y = c_double(), c_double()
    for at in range(max(pdfium.FPDFText_CountChars(text_page), 0)):
        code = pdfium.FPDFText_GetUnicode(text_page, at)
        text = chr(code) if 0 < code <= sys.maxunicode else "\ufffd"
        if "\udc00" <= text <= "\udfff" and found and "\ud800" <= found[-1].text <= "\udbff":
            pair = found[-1].text + text  # pdfium counts in UTF-16
            found[-1].text = pair.encode("utf-16", "surrogatepass").decode("utf-16")
            continue
        handle = pdfium.FPDFText_GetTextObject(text_page, at)
        if not handle or pdfium.FPDFText_IsGenerated(text_page, at) == 1:
            found.append(Char(text, (0, 0, 0, 0), 0.0, 0.0, other))
            continue
        address = address_of(handle)
        run = ink.runs.get(address) or ink.runs.setdefault(address, Run())
        if address not in scales:
            pdfium.FPDFText_GetMatrix(text_page, at, matrix)
            size = pdfium.FPDFText_GetFontSize(text_page, at)
            way = 1 if size >= 0 else -1
            scales[address] = (
                abs(size) * hypot(matrix.c, matrix.d),
                round(degrees(atan2(way * matrix.b, way * matrix.a)), 1),
            )
        size, angle = scales[address]
        pdfium.FPDFText_GetLooseCharBox(text_page, at, box)
        if size < (box.top - box.bottom) / 3:
            size = box.top - box.bottom  # a drawn font that has a measure of its own
        place = (round(box.left, 2), round(box.bottom, 2), round(box.right, 2), round(box.top, 2))
        char = Char(text, place, round(size, 2), angle, run)
        if text in _HYPHENS and pdfium.FPDFText_IsHyphen(text_page, at) == 1:
            char.text = "-"
        elif pdfium.FPDFText_HasUnicodeMapError(text_page, at) == 1 and not (
            codes_are_names and not run.font and " " <= text <= "~"
        ):
            nameless.append(char)
        pdfium.FPDFText_GetCharOrigin(text_page, at, x, y)
        char.origin = (round(x.value, 2), round(y.value, 2))
        found.append(char)
    text = "".join(char.text for char in nameless)
    # Some fonts give no meaning to their codes, which are Unicode all the same. Codes of another kind
    # have no spaces among them, or control characters.
    if len(text) < _SAMPLE or " " not in text or not text.isprintable():
        for char in nameless:
            char.text = "\ufffd"
    return found
