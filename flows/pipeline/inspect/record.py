"""What our logs hold besides Inspect's own fields, so that they can be read back as results."""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from flows.schema.brief import Brief
from flows.schema.completion import Completion, Spent
from flows.schema.report_task import ReportFacts
from flows.schema.verdict import Verdict

KEY = "staffbench"
"""Key of our records in the metadata of a log and of a score."""
FORMAT = 1
"""Increment when a record can't be read as before."""


@dataclass(frozen=True)
class SampleRecord:
    """One brief under one judge: in the metadata of a score."""

    brief: Brief  # as graded, with its cut
    # verdicts, repeats: on every item; as in `Judged`.
    verdicts: list[Verdict]
    repeats: list[tuple[int, Verdict]] = field(default_factory=list[tuple[int, Verdict]])
    # Kinds of hidden characters that were removed for the judge.
    hidden: list[str] = field(default_factory=list[str])
    # n_canary_missed, spent, answered_by: as in `Judged`; an export has them for the condition.
    n_canary_missed: int | None = None
    spent: Spent = field(default_factory=Spent)
    answered_by: dict[str, int] = field(default_factory=dict[str, int])
    # The writer's replies without their texts; empty without a model, and in an export.
    calls: list[Completion] = field(default_factory=list[Completion])
    # facts, trajectory: of a report; None and empty if briefs are text.
    facts: ReportFacts | None = None
    trajectory: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    report: str | None = None  # the report's file in base64; None if there is none


@dataclass(frozen=True)
class ConditionRecord:
    """One condition under one judge: in the metadata of a log."""

    scorer: str  # name of its scores
    # settings, changed: as in the settings file of results.
    settings: dict[str, Any]
    changed: list[str]
    about: dict[str, Any]  # metadata of its tables, all of it or what is known before the end
    format: int = FORMAT  # version of the records


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def dumped(record: object) -> dict[str, Any]:
    """Return a record as JSON."""
    return _adapter(type(record)).dump_python(record, mode="json")


def loaded(kind: Any, value: object) -> Any:
    """Return the record of a JSON value that anybody may have written.

    Raises:
        ValueError: it is none.
    """
    return _adapter(kind).validate_json(json.dumps(value), strict=True)
