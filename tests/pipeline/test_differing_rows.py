"""Notes on rows that do not stand on the same things, from made-up rows."""

from dataclasses import replace

from flows.pipeline.results.leaderboard.differences import differences
from tests.pipeline.differences_support import row, versions


def old(name, **more):
    """A row of files that do not say what they were written from."""
    one = row(name, **more)
    return replace(one, about={key: value for key, value in one.about.items() if key != "written_from"})


def test_rows_on_equal_things_need_no_note():
    same = {"documents": {"alder": "1", "birch": "2"}, "assignments": {"alder": "a"}, "prompt": "p"}
    assert differences([row("A", **same), row("B", **same), row("strong")]) == ()
    assert differences([row("A", **same)]) == ()
    assert differences([]) == ()


def test_documents_and_assignments_of_several_versions_are_named_with_their_rows():
    graded = [
        row("C", {"alder": "2", "birch": "1"}, {"alder": "x"}),
        row("B", {"alder": "1", "birch": "1"}, {"alder": "x"}),
        row("A", {"alder": "1", "birch": "1"}, {"alder": "y"}),
        row("strong"),  # a control, which reads nothing
    ]
    assert differences(graded) == (
        versions("documents", "alder", "A, B; C."),
        versions("assignment", "alder", "A; B, C."),
    )
    assert differences(graded[::-1]) == differences(graded)


def test_scenarios_that_part_the_rows_in_one_way_share_a_note_and_a_long_list_is_cut():
    names = [f"s{number:02}" for number in range(10)]
    first, second = (dict.fromkeys(names, digest) for digest in "12")
    shown = ", ".join(names[:8])
    assert differences([row("A", first), row("B", second)]) == (
        versions("documents", f"{shown}, 2 more", "A; B."),
    )


def test_a_condition_in_two_versions_is_named_with_its_judges():
    graded = [row("A", {"alder": "1"}), row("A", {"alder": "2"}, judge="k"), row("B", {"alder": "2"})]
    assert differences(graded) == (versions("documents", "alder", "A (j); A (k), B."),)


def test_one_prompt_with_two_texts_and_one_judge_with_two_digests_are_named():
    graded = [
        row("A", prompt="1"),
        row("B", prompt="2", judge_digest="e"),
        row("C", prompt="3", condition={"label": "C", "prompt": "v2"}, judge="other", judge_digest="e"),
        row("strong"),  # was shown no prompt
    ]
    assert differences(graded) == (
        "Rows were written by different texts of prompt v0: A; B.",
        "Rows were graded by different versions of judge j: A, strong; B.",
    )


def test_rows_that_say_nothing_of_what_they_stand_on_are_unknown_and_not_equal():
    note = "The documents, assignments and prompts of these rows were not recorded: {}."
    known = row("A", {"alder": "1"}, prompt="p")
    assert differences([known, old("B"), old("C")]) == (note.format("B, C"),)
    assert differences([old("B", completion="c"), old("C")]) == (note.format("B, C"),)
    # Nobody stands beside whom they could be taken for equal to.
    assert differences([known, old("B", scenarios=["cedar"], seeds=3)])[0].startswith("Rows do not cover")
    assert differences([old("A", completion="c")]) == ()
    assert differences([old("strong"), old("weak"), row("empty")]) == ()
    # An imported job does not stand on our scenarios.
    assert differences([known, replace(old("H"), scores=[])]) == ()


def test_rows_on_fewer_scenarios_or_seeds_are_named_and_whole_ones_are_not():
    assert differences([row("A"), row("B", scenarios=["birch"]), row("C", seeds=1), row("D", seeds=2)]) == (
        "Rows do not cover the same scenarios: B on birch.",
        "Rows have fewer than 3 seeds: C 1; D 2.",
    )
    apart = [row("A", scenarios=["alder"]), row("B", scenarios=["birch"])]
    assert differences(apart) == ("Rows do not cover the same scenarios: A on alder; B on birch.",)
    four = ["alder", "birch", "cedar", "doum"]
    assert differences([row("A", scenarios=four), row("B", scenarios=four[:3])]) == (
        "Rows do not cover the same scenarios: B on all but doum.",
    )
