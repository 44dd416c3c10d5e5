# ruff: noqa: RUF001 -- signs that look alike are raised and lowered
"""How numbers of lists, struck text and raised digits of HTML are written."""

from __future__ import annotations

import re

from openpyxl.utils import get_column_letter

from flows.readers.docx.numerals import numeral
from flows.readers.ooxml import Element
from flows.readers.text.style import declarations

_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_NUMERALS = {
    "1": "decimal", "decimal": "decimal", "decimal-leading-zero": "decimalZero",
    "a": "lowerLetter", "lower-alpha": "lowerLetter", "lower-latin": "lowerLetter",
    "A": "upperLetter", "upper-alpha": "upperLetter", "upper-latin": "upperLetter",
    "i": "lowerRoman", "lower-roman": "lowerRoman", "I": "upperRoman", "upper-roman": "upperRoman",
}  # fmt: skip
_LETTERS = 26


def integer(said: str | None, otherwise: int) -> int:
    """The value of an attribute that is a whole number; `otherwise` where it is none."""
    return int(said) if said and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", said) else otherwise


def marker(element: Element, otherwise: str) -> str:
    """The form of a list's or item's number; '' for a bullet."""
    said = declarations(str(element.get("style") or ""))
    words = f"{said.get('list-style', '')} {said.get('list-style-type', '')}".split()
    words = words or [str(element.get("type") or "").strip()]
    for word in reversed(words):
        if word in _NUMERALS:
            return _NUMERALS[word]
        if word in {"disc", "circle", "square", "none"}:
            return ""
    return otherwise


def numbered(count: int, form: str) -> str:
    """The mark in front of an item: `iv. `, or `- ` where `form` is empty."""
    if not form:
        return "- "
    if form.endswith("Letter") and count > _LETTERS:
        letters = get_column_letter(count) if count <= 18278 else str(count)  # noqa: PLR2004 -- ZZZ, the last of three letters
        return (letters if form == "upperLetter" else letters.lower()) + ". "
    return f"{numeral(count, form)}. "


def struck(segments: list[tuple[str, bool]]) -> str:
    """The text of the segments, what is struck between `~~`, the white space around it outside."""
    parts: list[str] = []
    run = ""
    for text, struck in [*segments, ("", False)]:
        if run and not struck and (text.strip() or not text):
            core = run.strip()
            parts += [run[: len(run) - len(run.lstrip())], f"~~{core}~~", run[len(run.rstrip()) :]]
            run = ""
        if run or (struck and text.strip()):
            run += text
        else:
            parts.append(text)
    return "".join(parts)


def shifted(text: str, shift: int) -> str:
    """Raised and lowered digits as such: 10 with a raised 6 is a million, not 106."""
    bare = text.strip()
    if not shift:
        return text
    table = _RAISED if shift > 0 else _LOWERED
    if all(ord(sign) in table for sign in bare):
        return text.translate(table)
    return f"{'^' if shift > 0 else '_'}({bare})" if re.match(r"[+\-−]?\d", bare) else text
