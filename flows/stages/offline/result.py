"""The offline judge's grade of one item."""

from __future__ import annotations

from dataclasses import dataclass

from flows.schema.verdict import FailureMode


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """One item of one brief, graded by rule.

    Attributes:
        item_id: the item.
        passed: for a wrong move, True means that the brief did not make it.
        mode: how it failed; None if it passed.
        reason: the reason and the passage of the brief. Never empty.
    """

    item_id: str
    passed: bool
    mode: FailureMode | None
    reason: str
