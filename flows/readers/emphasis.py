# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""How struck, raised and lowered text is written, the same for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SIGNS = "0123456789+-−–=()n"
_RAISED = str.maketrans(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₙ")
_SCRIPTS = {"superscript": 1, "subscript": -1}


def shift_of(script: str) -> int:
    """The shift that Office calls `superscript` or `subscript`; 0 for anything else."""
    return _SCRIPTS.get(script, 0)


def shifted(text: str, shift: int, *, behind_digit: bool = True) -> str:
    """Raised and lowered figures as such: 10 with a raised 6 is a million, not 106.

    Args:
        text: a stretch of one script.
        shift: over 0 raised, under 0 lowered, 0 on the line.
        behind_digit: whether it may stand right behind a digit. What Unicode has no raised signs for is
            then set apart: 10 with a raised 0.5 is not 100.5.
    """
    bare = text.strip()
    if not shift or not bare:
        return text
    table = _RAISED if shift > 0 else _LOWERED
    if all(ord(sign) in table for sign in bare):
        return text.translate(table)
    apart = behind_digit and re.search("[0-9]", bare)
    return text.replace(bare, f"{'^' if shift > 0 else '_'}({bare})") if apart else text


def struck_out(parts: Iterable[tuple[str, bool]]) -> str:
    """Stretches of text joined, what is struck between `~~`, the white space around it outside."""
    joined: list[str] = []
    run = ""
    for text, struck in [*parts, ("", False)]:
        if run and not struck and (text.strip() or not text):
            core = run.strip()
            joined += [run[: len(run) - len(run.lstrip())], f"~~{core}~~", run[len(run.rstrip()) :]]
            run = ""
        if run or (struck and text.strip()):
            run += text
        else:
            joined.append(text)
    return "".join(joined)
