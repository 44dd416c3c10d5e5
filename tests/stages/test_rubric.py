"""What validate says of a rubric beside its faults."""

from dataclasses import replace

from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.stages.rubric import rubric_notes

ITEM = Item(
    "A-1", Step.facts, Tier.synthesis, Severity.important,
    "States that the bridge at Orlen carries 40 tonnes.", "The bridge carries 40 tonnes.", "", "",
    (Evidence("a.docx", "40 t"), Evidence("b.pdf", "40 tonnes")), "",
)  # fmt: skip


def test_nothing_is_said_of_a_sound_rubric():
    other = replace(ITEM, item_id="A-2", requirement="Names the ferry as the only crossing in flood.")
    assert rubric_notes([ITEM, other]) == []


def test_items_that_are_nearly_alike_are_named():
    twin = replace(ITEM, item_id="A-2", requirement="States that the bridge at Orlen carries 45 tonnes.")
    (note,) = rubric_notes([ITEM, twin])
    assert note.startswith("A-1 and A-2 are 9")


def test_a_synthesis_of_one_document_is_named():
    thin = replace(ITEM, source=ITEM.source[:1])
    assert rubric_notes([thin]) == ["tier 2 with evidence of one document alone: A-1"]


def test_shares_are_looked_at_where_there_are_enough_items():
    texts = ["".join(chr(97 + (7 * n + k * k) % 26) for k in range(60)) for n in range(60)]
    items = [replace(ITEM, item_id=str(n), requirement=text, ground_truth="") for n, text in enumerate(texts)]
    items[0] = replace(items[0], severity=Severity.detrimental)
    notes = rubric_notes(items)
    assert notes[0].startswith("no item on higher_guidance, tasks, assumptions")
    assert "1 of 60 items are detrimental: under 2%" in notes
    assert rubric_notes(items[:5]) == []


def test_criteria_with_points_of_their_own_are_passed_over():
    criterion = replace(ITEM, step=None, tier=None, severity=None, points=3.0)
    assert rubric_notes([criterion, criterion]) == []
