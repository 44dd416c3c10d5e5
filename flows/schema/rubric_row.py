"""Check one row of a rubric, from YAML or a spreadsheet, and make it an item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from flows.schema.scenario import CRITERIA, Dimensions, Evidence, Item

TEXTS = ("item_id", "requirement", "ground_truth", "pass_condition", "fail_condition", "rationale")
FIELDS = (
    "item_id",
    "step",
    "tier",
    "severity",
    "points",
    "requirement",
    "ground_truth",
    "pass_condition",
    "fail_condition",
    "source",
    "rationale",
)


_OF_CRITERIA = ("item_id", "points", "requirement", "source", "rationale")


def fields_of(dimensions: Dimensions) -> tuple[str, ...]:
    """Return the fields of a benchmark's rows; a criterion of a report task has fewer."""
    return _OF_CRITERIA if dimensions == CRITERIA else FIELDS


@dataclass(frozen=True, slots=True)
class RowFault:
    """What is wrong with one field of a row."""

    field: str  # the field; empty if it is the row as a whole
    found: str  # what is there
    expected: str  # what should be


def read_item(
    row: Mapping[str, Any], documents: Sequence[str] | None, dimensions: Dimensions
) -> tuple[Item | None, list[RowFault]]:
    """Return the item, or None and every fault of the row.

    A field that `dimensions.optional` names may be absent, None or empty. An item without a severity weighs
    by its `points`; without either, by one point.

    Args:
        row: values by field, as YAML gives them; `source` is a list of `document` and `quote`.
        documents: names of the scenario's documents; None if they are unknown, and any may be named.
        dimensions: how the benchmark classes items.
    """
    optional = {*dimensions.optional, "points"}
    fields = {
        str(key): value for key, value in row.items() if key not in optional or value not in (None, "", [])
    }
    faults = _keys(fields, optional)
    severities = (*dimensions.severities, *dimensions.wrong_moves)
    weighed = bool(severities) and ("severity" in fields or "severity" not in optional)
    if weighed and "points" in fields:
        faults.append(
            RowFault("points", f"{fields['points']!r}", "a severity instead, which weighs the item")
        )
    points = None if weighed else fields.get("points", 1.0)
    if points is not None and (isinstance(points, bool) or not isinstance(points, int | float) or not points):
        faults.append(RowFault("points", repr(points), "a number other than 0"))
    classes: dict[str, Mapping[str, object]] = {
        "step": {name: name for name in dimensions.steps},
        "tier": {name: number for number, name in enumerate(dimensions.tiers, 1)},
        "severity": {name: name for name in severities},
    }
    for key, valid in classes.items():
        if key in fields:
            fields[key], expected = _class(fields[key], valid)
            faults += [RowFault(key, repr(fields[key]), expected)] if expected else []
    for key in TEXTS:
        if key in fields and (not isinstance(fields[key], str) or not fields[key].strip()):
            faults.append(RowFault(key, repr(fields[key]), "text"))
    source, wrong = _evidence(fields["source"], documents) if "source" in fields else ((), [])
    faults += wrong
    if faults:
        return None, faults
    severity = fields.get("severity")
    texts = {key: str(fields.get(key, "")).strip() for key in TEXTS}
    return (
        Item(
            **texts,
            step=fields.get("step"),
            tier=fields.get("tier"),
            severity=severity,
            source=source,
            points=None if points is None else float(points),
            wrong_move=None if severity is None else severity in dimensions.wrong_moves,
        ),
        [],
    )


def _class(value: object, valid: Mapping[str, object]) -> tuple[object, str]:
    """Return a class by its value or its name in any case and spacing; and what is expected if it is none."""
    if not isinstance(value, str):
        found = [one for one in valid.values() if one == value and not isinstance(value, bool)]
    else:
        found = [one for name, one in valid.items() if _plain(name) == _plain(value)]
    if found:
        return found[0], ""
    shown = [str(one) for one in valid.values()]
    near = get_close_matches(_plain(str(value)), shown, 1)
    rest = ", ".join(one for one in shown if one not in near)
    if not shown:
        return value, "nothing here: this benchmark has no such classes"
    return value, f"{near[0]}, or another of {rest}" if near and rest else f"one of {', '.join(shown)}"


def _plain(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


def _keys(fields: Mapping[str, Any], optional: set[str]) -> list[RowFault]:
    """Find missing and unknown fields; a misspelt one is one fault."""
    missing = [key for key in FIELDS if key not in fields and key not in optional]
    faults: list[RowFault] = []
    for key in fields:
        if key in FIELDS:
            continue
        near = get_close_matches(key, [*missing, *(name for name in FIELDS if name not in fields)], 1)
        faults.append(RowFault(key, "no such field", near[0] if near else "one of " + ", ".join(FIELDS)))
        missing = [name for name in missing if name not in near]
    return faults + [RowFault(key, "missing", "a value") for key in missing]


def _evidence(value: object, documents: Sequence[str] | None) -> tuple[tuple[Evidence, ...], list[RowFault]]:
    entries = cast("list[object]", value) if isinstance(value, list) else []
    if not entries:
        return (), [RowFault("source", f"{value!r}", "a list of document and quote")]
    found: list[Evidence] = []
    faults: list[RowFault] = []
    for entry in entries:
        fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
        if set(fields) != {"document", "quote"}:
            faults.append(RowFault("source", f"{entry!r}", "document and quote"))
        elif documents is not None and fields["document"] not in documents:
            faults.append(
                RowFault("source", f"document {fields['document']!r}", "a document of scenario.yaml")
            )
        elif not str(fields["quote"] or "").strip():
            faults.append(RowFault("source", f"no quote of {fields['document']}", "words of the document"))
        else:
            found.append(Evidence(str(fields["document"]), str(fields["quote"])))
    return tuple(found), faults
