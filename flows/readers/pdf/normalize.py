# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""Normalise the characters of a page: accents, superscripts, ligatures, fonts without Unicode."""

from __future__ import annotations

import re
import unicodedata

from flows.readers.emphasis import shifted
from flows.readers.pdf.chars import Char
from flows.readers.symbols import in_font

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_NEAR = 8  # characters; accents are painted before their letters, after them, or at the end of a word
# Accents that TeX paints as characters of their own, and the combining marks.
_ACCENTS = {
    "`": "\u0300", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304", "˘": "\u0306",
    "˙": "\u0307", "¨": "\u0308", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328",
}  # fmt: skip


def normalize(chars: list[Char]) -> int:
    """Compose accents with their letters and write superscript digits, in place.

    A small raised digit directly after a character becomes a superscript: 10 with superscript 6 is a
    million, not 106.

    Returns:
        The number of accents that were composed.
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
