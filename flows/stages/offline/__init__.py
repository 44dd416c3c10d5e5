"""The offline judge: grades a brief by rules, without a model or a download.

It compares an item (requirement, pass condition, ground truth) with the closest one to three sentences of
the brief: stemmed words, normalised numbers, units, dates and times, stripped citations, markers of
certainty. It is a stand-in for tests, demonstrations and ranking similar texts. It does not reason: it finds
omissions and wrong numbers well, paraphrase and inference less well, and wrong moves least well on rubrics
that it was not tuned on. A brief that pastes the ground truth passes. `tests/benchmarks/offline_judge.py`
prints its agreement with labels, separately for tuned and held-out parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from flows.schema.scenario import Item
from flows.stages.offline.index import BriefIndex
from flows.stages.offline.moves import grade_wrong_move
from flows.stages.offline.reference import grade_against_reference
from flows.stages.offline.requirements import grade_requirement
from flows.stages.offline.result import ItemGrade

__all__ = ["OFFLINE_VERSION", "TUNED_ON", "ItemGrade", "grade_offline"]

OFFLINE_VERSION = "2"
"""Increment when a rule, a table or a threshold changes, as verdicts may change."""

TUNED_ON = frozenset({"karsa_relief"})
"""Scenarios whose controls its rules were tuned on: agreement on them is reported separately."""


def grade_offline(items: Sequence[Item], brief_text: str, reference: str | None = None) -> list[ItemGrade]:
    """Grade every item, in order. Each grade depends only on its item and the brief.

    Instructions in the brief have no effect. An empty brief fails every requirement and makes no wrong move.

    Args:
        items: the items of one rubric.
        brief_text: the brief as graded, any Unicode.
        reference: the expert's report, for criteria; None if items have a ground truth.
    """
    if reference is not None:
        return grade_against_reference(items, brief_text, reference)
    brief = BriefIndex(brief_text)
    return [
        grade_wrong_move(item, brief) if item.is_error else grade_requirement(item, brief) for item in items
    ]
