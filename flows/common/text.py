"""Numbers and counts as text."""

from __future__ import annotations


def percent(value: float | None) -> str:
    """Format a share; a dash if unknown."""
    return "-" if value is None else f"{100 * value:.1f}%"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number; a dash if unknown."""
    return "-" if value is None else f"{value:.{digits}f}"


def count_of(part: int, whole: int) -> str:
    """Format a count, followed by the total if they differ."""
    return str(part) if part == whole else f"{part} of {whole}"


def plural(count: str, noun: str) -> str:
    """Format a count with its noun in singular or plural."""
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"
