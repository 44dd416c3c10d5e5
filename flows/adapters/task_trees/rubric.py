"""Parse criteria with the documented field names or synonyms; other fields are kept and not used."""

import json
import math
from collections.abc import Mapping
from typing import Any, cast

from flows.common.errors import ScenarioError, StaffbenchError
from flows.schema.report_task import Criterion, Polarity

FIELDS: Mapping[str, tuple[str, ...]] = {
    "criterion_id": ("criterion_id", "id"),
    "points": ("points", "weight"),
    "polarity": ("polarity", "kind", "type"),
    "criterion": ("criterion", "description", "text", "requirement"),
    "source": ("source", "sources"),
    "justification": ("justification", "rationale"),
}
"""Accepted names of each field, the documented one first."""

_MEANING = {name: field for field, names in FIELDS.items() for name in names}
_POLARITIES = {
    **dict.fromkeys(("positive", "required", "requirement", "reward", "+"), Polarity.positive),
    **dict.fromkeys(("negative", "penalty", "error", "-"), Polarity.negative),
}
LISTS = ("criteria", "rubric", "items")  # keys of an object that may contain the list of criteria


def criteria_of(
    value: Any, where: object, problems: list[StaffbenchError], unused: dict[str, Any] | None = None
) -> tuple[Criterion, ...]:
    """Parse criteria.

    They are a list of objects, an object of objects by id, or an object with either under one of LISTS. All
    errors are added to `problems`, by file, criterion and field; unknown fields to `unused`: values by
    criterion id, by name of the field.

    Returns:
        The valid criteria, in order; ids are unique.
    """
    rows = _rows(value, where, problems)
    found: dict[str, Criterion] = {}
    for number, row in enumerate(rows, 1):
        criterion = _criterion(row, number, where, problems)
        if criterion is None:
            continue
        if unused is not None:
            for key in (key for key in row if _field_of(key) is None):
                unused.setdefault(key, {})[criterion.criterion_id] = row[key]
        if criterion.criterion_id in found:
            twice = f"criterion {criterion.criterion_id!r}: criterion_id twice"
            problems.append(ScenarioError(where, twice, "each id once", "rename one of them"))
            continue
        found[criterion.criterion_id] = criterion
    if rows and found and not any(each.polarity is Polarity.positive for each in found.values()):
        problems.append(
            ScenarioError(where, "no criterion with points above 0", "something that a report can earn")
        )
    return tuple(found.values())


def _rows(value: Any, where: object, problems: list[StaffbenchError]) -> list[Any]:
    if isinstance(value, dict):
        holder = cast("dict[str, Any]", value)
        named = [key for key in LISTS if key in holder]
        if len(named) == 1:
            value = holder[named[0]]
        elif named:
            problems.append(
                ScenarioError(where, f"criteria under {' and '.join(named)}", "one list of criteria")
            )
            return []
        elif not holder or not all(isinstance(entry, dict) for entry in holder.values()):
            problems.append(
                ScenarioError(where, f"an object with {', '.join(map(repr, holder))}", "a list of criteria")
            )
            return []
    if isinstance(value, dict):
        by_id = cast("dict[str, Any]", value)
        return [{"criterion_id": k, **v} if isinstance(v, dict) else v for k, v in by_id.items()]
    if isinstance(value, list) and value:
        return cast("list[Any]", value)
    found = "an empty list" if isinstance(value, list) else f"a {type(value).__name__}"
    remedy = "staffbench rubric import BENCHMARK/TASK FILE writes it"
    problems.append(ScenarioError(where, found, "a list of criteria", remedy))
    return []


def _criterion(row: Any, number: int, where: object, problems: list[StaffbenchError]) -> Criterion | None:
    if not isinstance(row, dict):
        problems.append(ScenarioError(where, f"criterion {number} is a {type(row).__name__}", "an object"))
        return None
    entries = cast("dict[str, Any]", row)
    before = len(problems)
    named = next((entries[key] for key in FIELDS["criterion_id"] if key in entries), None)
    name = f"criterion {number}" if named is None else f"criterion {named!r}"

    def fault(field: str, found: str, expected: str) -> None:
        problems.append(ScenarioError(where, f"{name}: {field} {found}", expected))

    fields: dict[str, Any] = {}
    for key, value in entries.items():
        field = _field_of(key)
        if field is not None and field in fields:
            fault(key, f"says again what {field} is", "each field once")
        elif field is not None:
            fields[field] = value
    criterion_id, text = (_text(fields.get(field), field, fault) for field in ("criterion_id", "criterion"))
    points = _points(fields.get("points"), fault)
    polarity = _polarity(fields.get("polarity"), points, fault)
    if len(problems) > before or points is None or polarity is None:
        return None
    source, justification = (_said(fields.get(field)) for field in ("source", "justification"))
    return Criterion(criterion_id, points, polarity, text, source, justification)


def _field_of(key: str) -> str | None:
    return _MEANING.get(key.strip().lower())


def _text(value: Any, field: str, fault: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and field == "criterion_id":
        return str(value)  # criteria are often numbered
    if isinstance(value, str) and value.strip():
        return value.strip()
    fault(field, "is missing" if value is None else f"is {value!r}", "text")
    return ""


def _said(value: Any) -> str | None:
    """Read an optional remark, which no judge sees: text, or a list or object as JSON."""
    if value is None or isinstance(value, str):
        return (value or "").strip() or None
    if isinstance(value, list) and all(isinstance(entry, str) for entry in cast("list[Any]", value)):
        return "; ".join(entry.strip() for entry in cast("list[str]", value)) or None
    return json.dumps(value, ensure_ascii=False)


def _points(value: Any, fault: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        fault("points", "is missing" if value is None else f"is {value!r}", "a number")
        return None
    if value == 0 or abs(value) > 1e6 or not math.isfinite(value):  # noqa: PLR2004 -- no rubric weighs like that
        fault("points", f"is {value!r}", "a number above 0, or below 0 for a penalty")
        return None
    return float(value)


def _polarity(value: Any, points: float | None, fault: Any) -> Polarity | None:
    """Return the polarity, which must match the sign of the points if given."""
    if value is None:
        return None if points is None else Polarity.positive if points > 0 else Polarity.negative
    polarity = _POLARITIES.get(value.strip().lower()) if isinstance(value, str) else None
    if polarity is None:
        fault("polarity", f"is {value!r}", "positive or negative")
    elif points is not None and (points > 0) != (polarity is Polarity.positive):
        sign = "below" if polarity is Polarity.negative else "above"
        fault(
            "points", f"is {points:g} and polarity is {value}", f"points {sign} 0 where polarity is {value}"
        )
        return None
    return polarity
