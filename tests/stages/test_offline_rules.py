"""The parts of the offline judge's rule: marks of doubt, contrary words, required numbers, the passage."""

import pytest

from flows.stages.offline import markers
from flows.stages.offline.passages import Target, TextIndex
from flows.stages.offline.quantities import scan
from flows.stages.offline.requirements import number_groups


@pytest.mark.parametrize(
    "text",
    [
        "the report is unconfirmed",
        "it may be held by the militia",
        "this has not yet been verified",
        "one source says so",
        "nothing supports it",
        "the cause is under investigation",
    ],
)
def test_marks_of_doubt(text):
    assert markers.is_hedged(text)


@pytest.mark.parametrize(
    "text", ["the bridge is down", "on 14 may the ship berths", "from may 14 on", "all roads are open"]
)
def test_plain_statements_and_the_month_of_may_are_no_doubt(text):
    assert not markers.is_hedged(text)


def test_an_item_that_keeps_something_open():
    assert markers.asks_for_doubt("treats the attribution as unconfirmed")
    assert not markers.asks_for_doubt("states the load limit of the bridge")


@pytest.mark.parametrize(
    ("truth", "said", "found"),
    [
        ("the threat is high", "the threat is medium", ("high", "medium")),
        ("the threat is high", "the threat is high, formerly medium", None),
        ("the threat is moderate", "the threat is medium", None),
        ("the threat is high or low", "the threat is medium", None),
        ("the farm is in the north", "the farm lies on the southern bank", ("north", "southern")),
        ("the threat is high", "the river is wide", None),
    ],
)
def test_a_scale_is_contradicted_only_by_another_value_in_place_of_the_only_true_one(truth, said, found):
    assert markers.contrary(truth, said) == found


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("gives 24 tonnes and 14 march", [[24_000], [314]]),
        ("gives 24 tonnes or 24 t", [[24_000, 24_000]]),
        ("gives the time (0744) and 37 minutes", [[464], [37]]),
        ("names at least two of the three routes", []),
        ("names the bridge (doc 3 para 16)", []),
    ],
)
def test_numbers_that_a_condition_asks_for(condition, values):
    assert [[one.value for one in group] for group in number_groups(condition)] == values


def test_a_label_is_no_number():
    assert scan("berth 2") == ["berth", "2"]
    assert [type(token).__name__ for token in scan("berth 2 m")][-1] == "Quantity"


def target(text):
    return Target.of((text, 1.0))


def test_the_best_passage_is_the_shortest_that_covers_most_and_keeps_to_its_section():
    brief = TextIndex("# One\nThe ferry sank. Nobody drowned.\n# Two\nThe mayor resigned.")
    passage = brief.best(target("the ferry sank and the mayor resigned"))
    assert (passage.first, passage.last) == (0, 0)
    assert passage.missing == ["mayor", "resign"]
    # Two of four words, each once in the brief, so of equal weight.
    assert passage.share == pytest.approx(0.5)
    both = brief.best(target("the ferry sank and somebody drowned"))
    assert (both.first, both.last) == (0, 1)


def test_an_empty_text_or_target_has_no_passage():
    assert TextIndex("").best(target("the bridge")) is None
    assert TextIndex("The bridge.").best(target("the of")) is None
