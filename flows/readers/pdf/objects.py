"""PDF objects as Python values."""

from typing import Any

from pdfminer.pdftypes import resolve1 as resolved
from pdfminer.psparser import PSLiteral
from pdfminer.utils import decode_text

__all__ = ["entries", "keys", "numbers", "resolved", "string"]


def string(value: Any) -> str:
    """A PDF string or name as text."""
    value = resolved(value)
    if isinstance(value, PSLiteral):
        return str(value.name)
    if isinstance(value, bytes):
        return decode_text(value)
    if isinstance(value, list):
        return ", ".join(filter(None, (string(entry) for entry in entries(value))))
    return "" if value is None else str(value)


def keys(value: Any) -> dict[str, Any]:
    """A PDF dictionary, also that of a stream; an empty one for anything else."""
    value = resolved(value)
    value = getattr(value, "attrs", value)
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- it may hold anything


def entries(value: Any) -> list[Any]:
    """A PDF array; an empty one for anything else."""
    value = resolved(value)
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] -- it may hold anything


def numbers(value: Any) -> list[float]:
    """The numbers of an array."""
    found = [resolved(entry) for entry in entries(value)]
    return [float(entry) for entry in found if isinstance(entry, (int, float))]
