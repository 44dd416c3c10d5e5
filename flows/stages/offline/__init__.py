"""The offline judge: grades a text by rules, without a model or a download.

It compares an item with the closest one to three sentences of the text: stems, normalised numbers, units,
dates and times, marks of doubt and denial, contrary words. It is a stand-in for tests, demonstrations and
ranking similar texts. It does not reason: it finds omissions, wrong numbers and denials well, paraphrase and
inference less well, and it takes copied sentences for statements. It gives no verdict on wrong moves and on
criteria of form. `docs/explanation/offline-judge.md` has its agreement with labels.
"""

from collections.abc import Sequence

from flows.schema.scenario import Item
from flows.schema.verdict import ItemVerdict, VerdictStatus
from flows.stages.offline.passages import TextIndex
from flows.stages.offline.reference import is_of_form, wanted_beside
from flows.stages.offline.requirements import grade, wanted_of

__all__ = ["OFFLINE_VERSION", "TUNED_ON", "abstention", "grade_offline"]

OFFLINE_VERSION = "3"
"""Increment when a rule, a table or a threshold changes, as verdicts may change."""

TUNED_ON = frozenset({"gilbert_relief", "karsa_relief", "nemunas_border", "sunda_passage", "varn_corridor"})
"""Scenarios whose labels its rules were chosen by: agreement on them is reported separately."""


def abstention(item: Item, reference: str | None = None) -> str | None:
    """Return why the offline judge gives no verdict on an item; None if it does.

    Its verdicts on wrong moves agreed with labels less often than "never made" does, so it gives none.
    """
    if item.is_error:
        return "not judged by the stand-in: a wrong move or penalty"
    if reference is not None and is_of_form(item):
        return "not judged by the stand-in: about what is left out, length or headings"
    return None


def grade_offline(items: Sequence[Item], text: str, reference: str | None = None) -> list[ItemVerdict]:
    """Grade every item, in order. Each grade depends only on its item and the text.

    Instructions in the text have no effect. An empty text fails every item that is judged.

    `reference` is the expert's report, for criteria; None if items have a ground truth.
    """
    index = TextIndex(text)
    grades: list[ItemVerdict] = []
    for item in items:
        why = abstention(item, reference)
        if why is not None:
            grades.append(ItemVerdict(item.item_id, VerdictStatus.abstained, None, reason=why))
        else:
            wanted = wanted_of(item) if reference is None else wanted_beside(item, reference)
            grades.append(grade(item.item_id, wanted, index))
    return grades
