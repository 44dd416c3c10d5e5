"""What our logs hold besides Inspect's own fields, so that they can be read back as results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from flows.schema.brief import Brief
from flows.schema.completion import Completion, Spent
from flows.schema.report_task import ReportFacts
from flows.schema.verdict import Verdict

KEY = "staffbench"
"""Key of our records in the metadata of a log and of a score."""
FORMAT = 1
"""Increment when a record can't be read as before."""
T = TypeVar("T")


@dataclass(frozen=True)
class SampleRecord:
    """One brief under one judge: the metadata of a sample's score.

    Attributes:
        brief: as graded, with its cut.
        verdicts: on every item.
        repeats: number of the judge's repeat and a verdict of it.
        hidden: kinds of hidden characters that were removed for the judge.
        n_canary_missed, spent, answered_by: of the judge's replies, as in `Judged`; of an exported condition
            they are in its `ConditionRecord`.
        calls: the writer's replies without their texts; empty without a model, and in an export.
        facts: of the report file; None if briefs are text.
        trajectory: of the attempt; empty if there is none.
        report: the report file in base64; None if there is none.
    """

    brief: Brief
    verdicts: list[Verdict]
    repeats: list[tuple[int, Verdict]] = field(default_factory=list[tuple[int, Verdict]])
    hidden: list[str] = field(default_factory=list[str])
    n_canary_missed: int | None = None
    spent: Spent = field(default_factory=Spent)
    answered_by: dict[str, int] = field(default_factory=dict[str, int])
    calls: list[Completion] = field(default_factory=list[Completion])
    facts: ReportFacts | None = None
    trajectory: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    report: str | None = None


@dataclass(frozen=True)
class WrittenFrom:
    """As `written_from` returns it."""

    documents: dict[str, str]
    assignments: dict[str, str]
    prompt: str | None = None


@dataclass(frozen=True)
class Served:
    """As `served` returns it; all of it may be missing."""

    asked: str | None = None
    answered_by: dict[str, int] | None = None
    of: int | None = None
    what: str | None = None
    partial: int | None = None


@dataclass(frozen=True)
class Totals:
    """What the tables of an exported condition hold of all its briefs together.

    Attributes:
        written_from: digests of what was read.
        n_canary_missed: as in `Judged`.
        judge_spent, writer_spent: as in `Outcome`.
        served, judge_served: as in `Outcome`.
    """

    written_from: WrittenFrom
    n_canary_missed: int | None
    judge_spent: Spent
    writer_spent: Spent | None
    served: Served
    judge_served: Served


@dataclass(frozen=True)
class ConditionRecord:
    """One condition under one judge: in the metadata of a log.

    Attributes:
        scorer: name of its scores.
        format: version of the records.
        settings: as in the settings file of results.
        changed: keys that differ from their named options, and their sections.
        condition, judge: labels.
        digests: of condition and judge.
        rubrics, judge_versions: as in the tables: what the verdicts are on and by.
        totals: of an export; None for a log of our task.
    """

    scorer: str
    format: int
    settings: dict[str, Any]
    changed: list[str]
    condition: str
    judge: str
    digests: list[str]
    rubrics: dict[str, str]
    judge_versions: dict[str, str]
    totals: Totals | None = None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def dumped(record: Any) -> dict[str, Any]:
    """Return a record as JSON."""
    return _adapter(type(record)).dump_python(record, mode="json")


def loaded(kind: type[T], value: Mapping[str, Any]) -> T:
    """Return the record of a JSON value that anybody may have written.

    Raises:
        ValueError: it is none.
    """
    return _adapter(kind).validate_json(json.dumps(value), strict=True)
