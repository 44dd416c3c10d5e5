# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""The characters of a page, each with its place and the text object that paints it."""

import re
import sys
import unicodedata
from ctypes import c_double
from dataclasses import dataclass
from math import atan2, degrees, hypot
from typing import Any

from flows.readers.pdf.paint.ink import Box, Ink, Run, address_of, pdfium
from flows.readers.shared.notation import shifted
from flows.readers.shared.signs import in_font

_SAMPLE = 20  # characters from which it can be judged whether codes are Unicode
_HYPHENS = frozenset({"\x02", "\ufffe"})  # pdfium's signs for a hyphen at a line end

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_NEAR = 8  # characters; accents are painted before their letters, after them, or at the end of a word
# Accents that TeX paints as characters of their own, and the combining marks.
_ACCENTS = {
    "`": "\u0300", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304", "˘": "\u0306",
    "˙": "\u0307", "¨": "\u0308", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328",
}  # fmt: skip


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

    A line end is a character without a size. Only the text of a character without a known meaning is U+FFFD.
    `codes_are_names` says whether codes of nameless fonts, whose glyphs are drawn, are those of Latin text.
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


def normalize(chars: list[Char]) -> int:
    """Compose accents with their letters, in place, and return how many; write superscript digits.

    A small raised digit directly after a character becomes a superscript: 10 with superscript 6 is a
    million, not 106.
    """
    composed = 0
    base: Char | None = None
    for at, char in enumerate(chars):
        text = char.text
        if text in _ACCENTS:
            for other in [*reversed(chars[max(at - _NEAR, 0) : at]), *chars[at + 1 : at + _NEAR]]:
                overlap = min(char.x1, other.x1) - max(char.x0, other.x0)
                level = abs(char.top - other.top) < other.size / 2
                if other.text.isalpha() and level and overlap > 0.6 * (char.x1 - char.x0):
                    other.text = unicodedata.normalize("NFC", other.text + _ACCENTS[text])
                    char.text = ""
                    composed += 1
                    break
        if base is not None and re.fullmatch(r"[0-9+\-−]", text):
            small = char.size <= 0.8 * base.size
            raised = base.bottom - char.bottom > 0.2 * base.size and char.bottom > base.top
            if small and raised and -1 < char.x0 - base.x1 < 1.5 * base.size:
                char.text = shifted(text, 1)
                char.top, char.bottom = base.top, base.bottom
                continue
        if text.strip():
            base = char
    return composed


def known(text: str) -> tuple[str, int]:
    """Return a character as Unicode, ligatures expanded, and how many of its parts have no known meaning."""
    if text in _LIGATURES:
        return _LIGATURES[text], 0
    if text.isascii():
        return text, 0
    shown, unknown = in_font(text, None)
    if unknown:
        return "\ufffd", len(unknown)
    return shown, shown.count("\ufffd")
