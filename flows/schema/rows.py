"""Frozen records to plain rows and back, for JSON and tables."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any


def as_row(record: Any) -> dict[str, Any]:
    """The fields of a flat dataclass, enumerations as their words.

    `dataclasses.asdict` copies every value deeply; over a hundred thousand verdicts that took more
    time than grading them.
    """
    row: dict[str, Any] = {}
    for name in _names(record.__class__):
        value = getattr(record, name)
        row[name] = value.value if isinstance(value, Enum) else value
    return row


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
