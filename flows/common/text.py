"""Numbers and counts as text."""

import re

_TASK_TERMS = {
    "brief": "report",
    "packet": "source files",
    "briefs": "reports",
    "scenario": "task",
    "scenarios": "tasks",
    "seed": "attempt",
    "seeds": "attempts",
    "requirement": "required criterion",
    "requirements": "required criteria",
    "wrong move": "penalty",
    "wrong moves": "penalties",
}
"""What is said of report tasks in place of the words of scenarios."""
_TERMS = re.compile(rf"\b(?:{'|'.join(sorted(_TASK_TERMS, key=len, reverse=True))})\b", re.IGNORECASE)

_ABBREVIATIONS = ("ccir",)
"""Of names that are written in small letters; as words they are written in capitals."""


def words(name: str) -> str:
    """Return a name such as `higher_guidance` as a person writes it."""
    return " ".join(part.upper() if part in _ABBREVIATIONS else part for part in name.split("_"))


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share; a dash if unknown."""
    return "-" if value is None else f"{100 * value:z.{digits}f}%"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number; a dash if unknown."""
    return "-" if value is None else f"{value:z.{digits}f}"


def count_of(part: int, whole: int) -> str:
    """Format a count, followed by the total if they differ."""
    return str(part) if part == whole else f"{part} of {whole}"


def plural(count: int | str, noun: str, nouns: str = "") -> str:
    """Format a count, or one as text, with its noun in singular or plural (`nouns`, if not with an s)."""
    shown = f"{count:,}" if isinstance(count, int) else count
    return f"{shown} {noun}" if shown == "1" else f"{shown} {nouns or noun + 's'}"


def in_task_terms(text: str) -> str:
    """Return a text of ours about scenarios in the words of report tasks."""

    def term(found: re.Match[str]) -> str:
        word = _TASK_TERMS[found.group().lower()]
        return word.capitalize() if found.group()[0].isupper() else word

    return _TERMS.sub(term, text)
