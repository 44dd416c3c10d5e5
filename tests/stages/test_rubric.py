"""What validate says of a rubric beside its faults."""

from dataclasses import replace

import pytest

from flows.schema.scenario import MA_BENCH, Evidence, Item, Severity, Step, Tier
from flows.stages.rubric import absent_notes, rubric_notes

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


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The load is as stated in the order.", True),
        ("See table 3.", True),
        ("Gives what is listed at the end of 03-report.pdf.", True),
        ("According to the annex.", True),
        ("The order takes consent as given on the strength of a letter.", False),
        ("The annex closes the airspace above 3,000 metres.", False),
        ("Sees the table of loads as out of date.", False),
    ],
)
def test_an_item_that_sends_its_grader_to_the_packet_is_named(text, named):
    notes = rubric_notes([replace(ITEM, ground_truth=text)])
    assert notes == (
        ["refers to the packet, which no grader sees, instead of saying it: A-1"] if named else []
    )


def test_items_without_the_ground_truth_that_others_have_are_named():
    dimensions = replace(MA_BENCH, optional=("ground_truth", "rationale"))
    bare = replace(ITEM, item_id="A-2", requirement="Names the ferry.", ground_truth="")
    assert rubric_notes([ITEM, bare], dimensions) == [
        "without a ground truth, which a grader has instead of the packet: A-2"
    ]
    assert rubric_notes([bare], dimensions) == []
    (note,) = absent_notes([bare], dimensions)
    assert note.startswith("no item has a ground truth: ")
    assert absent_notes([ITEM, bare], dimensions) == []
