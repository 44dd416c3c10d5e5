"""The offline judge: grades a brief by rule, without a model and without a download.

It compares an item (requirement, pass condition, ground truth) with the closest one to three sentences of
the brief: words brought to a common form, numbers, units, dates and times normalised, citations stripped,
certainty read from its usual markers. It is a stand-in for tests, demonstrations and the ranking of like
texts. It does not reason: it sees omissions and wrong numbers well, paraphrase and inference less well, and
wrong moves least well on rubrics that it was not tuned on. A brief that pastes the ground truth passes for a
good one. `tests/benchmarks/offline_judge.py` prints how far it agrees with labels, tuned and held-out parts
apart.
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
"""Raised whenever a rule, a table or a threshold changes, for verdicts may change with it."""

TUNED_ON = frozenset({"karsa_relief"})
"""Scenarios whose controls its rules were tuned on: agreement on them is reported apart."""


def grade_offline(items: Sequence[Item], brief_text: str, reference: str | None = None) -> list[ItemGrade]:
    """A grade for every item, in item order. Each depends on its item and the brief alone.

    Text in the brief is compared and never obeyed. An empty brief fails every requirement and makes
    no wrong move.

    Args:
        items: of one rubric.
        brief_text: as it is graded, any Unicode.
        reference: the expert's report, beside which criteria are judged; None where items say what is true.
    """
    if reference is not None:
        return grade_against_reference(items, brief_text, reference)
    brief = BriefIndex(brief_text)
    return [
        grade_wrong_move(item, brief) if item.is_error else grade_requirement(item, brief) for item in items
    ]
