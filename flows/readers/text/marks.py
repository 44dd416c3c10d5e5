"""Numbers and bullets of HTML lists."""

from __future__ import annotations

import re

from flows.readers.markup import Element
from flows.readers.numerals import numeral
from flows.readers.text.style import declarations
from flows.readers.words import letters

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
        name = letters(count)
        return (name if form == "upperLetter" else name.lower()) + ". "
    return f"{numeral(count, form)}. "
