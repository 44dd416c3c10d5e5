"""What stands under a table: the stand-in's agreement, as a whole and by group."""

from flows.schema.leaderboard import JudgeNote, Leaderboard
from flows.schema.verdict import Agreement
from flows.stages.table import notes, to_json, to_markdown

MEASURED = Agreement(
    labels="labelled controls",
    n=4,
    n_ungraded=0,
    accuracy=0.75,
    kappa=0.5,
    groups=(("tier=1", 2, 1.0, None), ("polarity=negative", 2, 0.5, 0.0)),
)


def board(*, is_stand_in):
    note = JudgeNote(
        judge_id="j",
        is_stand_in=is_stand_in,
        agreements=(MEASURED,),
        members=(),
        n_canary_missed=None,
        self_agreement=None,
    )
    return Leaderboard(
        benchmark="b",
        scoring="severity",
        rows=(),
        judges=(note,),
        model_notes=(),
        assumptions=("x weighs +2",),
    )


def test_the_stand_in_says_that_it_is_one_and_how_far_it_agrees_by_group():
    found = notes(board(is_stand_in=True))
    assert "stand-in" in found[0]
    assert "accuracy 0.75, kappa 0.50, n 4" in found[0]
    groups = "tier=1 1.00, - (n 2); polarity=negative 0.50, 0.00 (n 2)"
    assert found[1] == f"Judge j on labelled controls, accuracy and kappa: {groups}."
    assert "- Assumed: x weighs +2." in to_markdown(board(is_stand_in=True))
    assert found[1] in to_json(board(is_stand_in=True))


def test_another_judge_is_given_as_a_whole():
    found = notes(board(is_stand_in=False))
    assert not any("tier=1" in note for note in found)
    assert "accuracy 0.75" in found[0]
