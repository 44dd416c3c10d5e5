# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""How struck, raised and lowered text is written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

_DIGITS = re.compile(r"[0-9+\-−=()n]*[0-9][0-9+\-−=()n]*")
_SCRIPTS = {
    "superscript": ("^", str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")),
    "subscript": ("_", str.maketrans("0123456789+-−=()n", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₙ")),
}


def scripted(text: str, script: str) -> str:
    """Raised or lowered text: digits as such, so that 10 with a raised 6 does not read 106.

    Args:
        text: a stretch of one script.
        script: `superscript`, `subscript`, or anything else for text on the line.
    """
    core = text.strip()
    if script not in _SCRIPTS or not any(sign.isdigit() for sign in core):
        return text
    mark, signs = _SCRIPTS[script]
    return text.replace(core, core.translate(signs) if _DIGITS.fullmatch(core) else f"{mark}({core})")


def struck_out(parts: Iterable[tuple[str, bool]]) -> str:
    """Stretches of text joined, `~~` around the words that are struck."""
    joined: list[str] = []
    for struck, group in groupby(parts, key=lambda part: part[1]):
        text = "".join(part[0] for part in group)
        core = text.strip()
        joined.append(text.replace(core, f"~~{core}~~") if struck and core else text)
    return "".join(joined)
