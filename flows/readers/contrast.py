"""Whether text of one colour can be seen on another."""

from __future__ import annotations

import re

_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_ROUNDING = 3  # of 255: programs round a colour when they convert it; nobody sees a difference so small


def invisible(colour: str, ground: str) -> bool:
    """Whether text can't be seen at all: both colours are known and equal within rounding.

    Args:
        colour: the text's, as six hex digits; anything else is an unknown colour.
        ground: that of its real background, likewise.
    """
    if not (_HEX.fullmatch(colour) and _HEX.fullmatch(ground)):
        return False
    return all(
        abs(a - b) <= _ROUNDING for a, b in zip(bytes.fromhex(colour), bytes.fromhex(ground), strict=True)
    )


READABLE_CONTRAST = 1.2
"""Below this ratio text can't be read on paper or screen. The ratio is that of WCAG 2.2: 1.0 is white
on white, 1.12 the lightest grey that Word offers (F2F2F2 on white), 1.41 a light grey that people do
read (D9D9D9). The threshold between the two is ours."""


def _luminance(colour: str) -> float | None:
    try:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    except ValueError:
        return None
    low = 0.04045  # where the sRGB curve turns linear
    red, green, blue = (p / 12.92 if p <= low else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour: str, ground: str) -> float | None:
    """WCAG 2.2 contrast ratio of two colours given as six hex digits, from 1 to 21; None if one is not."""
    one, two = _luminance(colour), _luminance(ground)
    if one is None or two is None:
        return None
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)


def unreadable(colour: str, ground: str) -> bool:
    """Whether the contrast is known and too low to read."""
    ratio = contrast(colour, ground)
    return ratio is not None and ratio < READABLE_CONTRAST
