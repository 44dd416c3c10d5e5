"""The parts of the offline judge's rules: certainty, scales, swaps, and the search for a window."""

import pytest

from flows.stages.offline import certainty, scales
from flows.stages.offline.index import BriefIndex, Target
from flows.stages.offline.quantities import scan
from flows.stages.offline.swaps import counted, swapped


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
    assert certainty.is_hedged(text)


@pytest.mark.parametrize(
    "text", ["the bridge is down", "on 14 may the ship berths", "from may 14 on", "all roads are open"]
)
def test_plain_statements_and_the_month_of_may_are_no_doubt(text):
    assert not certainty.is_hedged(text)


def test_an_item_that_keeps_something_open_and_one_that_forbids_certainty():
    assert certainty.asks_for_doubt("treats the attribution as unconfirmed")
    assert not certainty.asks_for_doubt("states the load limit of the bridge")
    assert certainty.asks_for_firmness("states as fact that the depot is held")
    assert not certainty.asks_for_firmness("states that the depot is held")


def test_a_denial_reaches_to_the_end_of_its_clause():
    assert certainty.clauses("we do not cross the bridge, but hold the ford") == [
        ("we do ", "not cross the bridge"),
        (" hold the ford", ""),
    ]
    assert certainty.clauses("no later than noon") == [("no later than noon", "")]
    assert certainty.clauses("they didn't cross") == [("they ", "didn't cross")]


def test_conditions_and_corrections():
    assert certainty.is_conditional("cross only after engineers raise the limit")
    assert not certainty.is_conditional("cross at noon")
    assert certainty.is_corrected("the figure of 61,000 was withdrawn")
    assert not certainty.is_corrected("61,000 people are displaced")


@pytest.mark.parametrize(
    ("truth", "said", "found"),
    [
        ("the threat is high", "the threat is medium", ("high", "medium")),
        ("the threat is high", "the threat is high, formerly medium", None),
        ("the threat is moderate", "the threat is medium", None),
        ("the threat is high or low", "the threat is medium", None),
        ("the farm is in the north", "the farm lies on the southern bank", ("north", "south")),
        ("the threat is high", "the river is wide", None),
    ],
)
def test_a_scale_is_contradicted_only_by_another_value_in_place_of_the_only_true_one(truth, said, found):
    assert scales.contradiction(scales.values(truth), scales.values(said)) == found


@pytest.mark.parametrize(
    ("truth", "said", "exchanged"),
    [
        ("three killed and seven wounded", "seven killed and three wounded", True),
        ("three killed and seven wounded", "seven wounded and three killed", False),
        ("three killed and seven wounded", "seven wounded", False),
        ("three killed and seven wounded", "there were three dead; seven were hurt", False),
        ("12 trucks and 40 boats", "40 trucks and 12 boats", True),
        ("12 trucks and 40 boats", "40 trucks, 12 boats and 12 trucks", False),
        ("12 trucks and 12 boats", "12 boats and 12 trucks", False),
    ],
)
def test_only_a_full_exchange_of_two_numbers_is_a_swap(truth, said, exchanged):
    assert (swapped(counted(truth), counted(said)) is not None) == exchanged


def test_a_label_is_no_number():
    assert scan("berth 2") == ["berth", "2"]
    assert [type(token).__name__ for token in scan("berth 2 m")][-1] == "Quantity"


def test_the_best_window_is_the_shortest_that_covers_most_and_keeps_to_its_section():
    brief = BriefIndex("# One\nThe ferry sank. Nobody drowned.\n# Two\nThe mayor resigned.")
    window = brief.best(Target.of("the ferry sank and the mayor resigned"), longest=3)
    assert (window.first, window.last) == (0, 0)
    assert window.missing == ("mayor", "resign")
    # Two of four words, each once in the brief, so of equal weight.
    assert window.coverage == pytest.approx(0.5)
    both = brief.best(Target.of("the ferry sank and somebody drowned"), longest=3)
    assert (both.first, both.last) == (0, 1)
    alone = brief.best(Target.of("the ferry sank and somebody drowned"), longest=1)
    assert (alone.first, alone.last) == (0, 0)


def test_a_list_joined_by_or_weighs_as_one_word():
    target = Target.of("clearing, seizing or holding the pass")
    assert len([key for key in target.keys if "|" in key]) == 1
    brief = BriefIndex("We seize the pass at dawn.")
    assert brief.best(target, longest=1).coverage == pytest.approx(1.0)


def test_words_under_a_denial_count_only_where_they_are_asked_for():
    brief = BriefIndex("The convoy will not use the bridge.")
    target = Target.of("convoy bridge")
    assert brief.best(target, longest=1).coverage == pytest.approx(1.0)
    assert brief.best(target, longest=1, affirmed=True).coverage == pytest.approx(0.5)


def test_an_empty_brief_or_target_has_no_window():
    assert BriefIndex("").best(Target.of("the bridge"), longest=3) is None
    assert BriefIndex("The bridge.").best(Target.of("the of"), longest=3) is None
