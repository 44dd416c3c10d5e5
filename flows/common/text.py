"""Numbers and counts as text."""

from __future__ import annotations

_ABBREVIATIONS = ("ccir",)
"""Of names that are written in small letters; as words they are written in capitals."""


def words(name: str) -> str:
    """Return a name such as `higher_guidance` as a person writes it."""
    return " ".join(part.upper() if part in _ABBREVIATIONS else part for part in name.split("_"))


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share; a dash if unknown."""
    return "-" if value is None else f"{100 * value:.{digits}f}%"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number; a dash if unknown."""
    return "-" if value is None else f"{value:.{digits}f}"


def count_of(part: int, whole: int) -> str:
    """Format a count, followed by the total if they differ."""
    return str(part) if part == whole else f"{part} of {whole}"


def plural(count: int | str, noun: str, nouns: str = "") -> str:
    """Format a count, or one as text, with its noun in singular or plural (`nouns`, if not with an s)."""
    shown = f"{count:,}" if isinstance(count, int) else count
    return f"{shown} {noun}" if shown == "1" else f"{shown} {nouns or noun + 's'}"
