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
