"""The offline judge's grade of one item."""

from __future__ import annotations

from dataclasses import dataclass

from flows.schema.verdict import FailureMode


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """One item of one text, graded by rule.

    Attributes:
        item_id: the item.
        passed: None if the judge gives no verdict on such items.
        mode: how it failed; None unless it failed.
        reason: the reason and the passage of the text. Never empty.
    """

    item_id: str
    passed: bool | None
    mode: FailureMode | None
    reason: str
