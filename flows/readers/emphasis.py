# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""Notation for struck-out, superscript and subscript text, the same for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SIGNS = "0123456789+-−–=()n"
_RAISED = str.maketrans(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₙ")
_SCRIPTS = {"superscript": 1, "subscript": -1}


def shift_of(script: str) -> int:
    """Return the shift for Office's `superscript` (1) or `subscript` (-1); 0 for anything else."""
    return _SCRIPTS.get(script, 0)


def shifted(text: str, shift: int, *, behind_digit: bool = True) -> str:
    """Write superscripts and subscripts: 10 with superscript 6 is a million, not 106.

    Args:
        text: text of one script.
        shift: above 0 superscript, below 0 subscript, 0 on the baseline.
        behind_digit: whether it may follow a digit directly. Characters without a Unicode superscript are
            then separated by a mark: 10 with superscript 0.5 is not 100.5.
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
    """Join pieces of text; struck-out ones stand between `~~`, with surrounding white space outside."""
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
