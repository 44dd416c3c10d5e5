"""What stands under a table: the judge's agreement, and what it did not judge."""

import json
from dataclasses import replace

from flows.adapters.screen import fitting_widths
from flows.schema.leaderboard import JudgeNote, Leaderboard, LeaderboardRow
from flows.schema.verdict import Agreement
from flows.stages.notes import notes
from flows.stages.table import screen_table, to_json, to_markdown, to_metrics

ROW = LeaderboardRow(
    model="m", effort="default", word_cap=3000, prompt="v1", harness="single_prompt", judge="j",
    score=0.5, ci_low=0.25, ci_high=0.75, ci_level=0.95, ci_method="bootstrap", score_low=0.5, score_high=0.5,
    score_clamped=0.5, correct=0.6, passed=0.5, wrong=1.0, n_scenarios=10, n_scenarios_all=10, n_briefs=30,
    n_briefs_all=30, n_ungraded=0, n_refused=0, n_error=0, n_empty=0, n_cut=0, n_cut_by_provider=0,
    n_hidden=0, n_noticed=0,
    words_raw=10.0, words_kept=10.0, self_judged=False, condition="m-default", judge_id="j",
    condition_digest="c", judge_digest="d",
)  # fmt: skip

MEASURED = Agreement(
    labels="labelled controls",
    n=4,
    n_ungraded=0,
    accuracy=0.75,
    kappa=0.5,
)


def board(*, is_stand_in):
    note = JudgeNote(
        judge_id="j",
        is_stand_in=is_stand_in,
        agreements=(MEASURED,),
        members=(),
        n_canary_missed=None,
        self_agreement=None,
        measured=("labelled controls: n 4, kappa 0.50",),
        n_abstained=12 if is_stand_in else 0,
    )
    return Leaderboard(
        benchmark="b",
        scoring="severity",
        rows=(),
        judges=(note,),
        model_notes=(),
        assumptions=("x weighs +2",),
    )


def markdown(board):
    return to_markdown(board, notes(board))


def as_json(board):
    return to_json(board, notes(board))


def test_the_stand_in_says_that_it_is_one_how_far_it_agrees_and_what_it_does_not_judge():
    found = notes(board(is_stand_in=True))
    assert "stand-in, no judge to publish with" in found[0]
    assert "labelled controls: n 4, kappa 0.50." in found[0]
    assert "12 items not judged and not scored" in found[1]
    assert "not comparable with those of a judge that grades all" in found[1]
    assert "- Assumed: x weighs +2." in markdown(board(is_stand_in=True))
    assert found[1] in as_json(board(is_stand_in=True))


def test_a_judge_that_grades_everything_says_nothing_of_it():
    found = notes(board(is_stand_in=False))
    assert "labelled controls: n 4, kappa 0.50." in found[0]
    assert not any("not judged" in note for note in found)


def test_a_score_of_copied_text_is_marked_where_it_is_printed():
    whole = board(is_stand_in=True)
    copied, own = replace(ROW, copied=True), replace(ROW, condition="other")
    text = markdown(replace(whole, rows=(copied, own)))
    assert f"| {copied.score:.3f}\u2020 |" in text
    assert f"| {own.score:.3f} |" in text
    assert "- A score marked \u2020 is of sentences copied from the packet" in text
    assert "\u2020" not in markdown(replace(whole, rows=(own,)))


def test_attempts_that_scored_nothing_or_stopped_at_a_limit_are_named_with_their_counts():
    rows = (
        replace(ROW, condition="a", n_missing=2, n_at_limit=1, n_over_limit=0, n_unmeasured=3),
        replace(ROW, condition="b", n_corrupt=1, n_over_limit=2, n_unmeasured=0),
        replace(ROW, condition="c"),  # of text: no limit, nothing to measure
    )
    found = notes(replace(board(is_stand_in=False), rows=rows))
    assert "Attempts without a report, which score 0: a 2." in found
    assert "Reports that don't open, which score 0: b 1." in found
    assert "Attempts that ended at a limit, judged as they were then: a 1." in found
    assert "Not measured, so neither within a limit nor over it: a 3." in found
    (length,) = [note for note in found if note.startswith("Reports over")]
    assert "measured): b 2." in length
    plain = notes(replace(board(is_stand_in=False), rows=(ROW,)))
    assert not any(note.startswith(("Attempts", "Reports", "Not measured")) for note in plain)


def test_rows_with_briefs_without_a_word_are_named_and_the_control_is_not():
    empty = replace(ROW, n_briefs_all=6, n_briefs=6, n_empty=2)
    rows = (
        replace(empty, condition="said_nothing"),
        replace(empty, condition="all_cut", n_empty=6, n_cut_by_provider=6),
        replace(empty, condition="room_for_both", n_cut_by_provider=1),
        replace(empty, condition="no_room", n_empty=5, n_cut_by_provider=2),
        replace(empty, condition="with_refusals", n_refused=3, n_empty=1, n_cut_by_provider=3),
        replace(empty, condition="twice", judge="other"),
        replace(empty, condition="twice"),
        replace(empty, condition="empty-default", model="empty", n_empty=6),
        ROW,
    )
    control = ("empty", "a control that writes nothing")
    found = notes(replace(board(is_stand_in=False), rows=rows, model_notes=(control,)))
    stopped = "stopped at the output limit before a word was written"
    told = (
        f"all_cut 6 of 6 (all {stopped}), no_room 5 of 6 (up to 2 {stopped}), "
        f"room_for_both 2 of 6 (up to 1 {stopped}), said_nothing 2 of 6, twice 2 of 6, "
        f"with_refusals 1 of 6 (all {stopped})."
    )
    (note,) = [note for note in found if "without a word" in note]
    assert note == f"Briefs without a word, which score 0: {told}"
    assert "empty: a control that writes nothing." in found


def test_a_model_that_only_goes_by_the_controls_name_is_named_like_any_other():
    row = replace(ROW, condition="empty-medium", model="empty", n_briefs_all=6, n_empty=6)
    found = notes(replace(board(is_stand_in=False), rows=(row,)))
    assert "Briefs without a word, which score 0: empty-medium 6 of 6." in found


def test_what_rows_differ_in_is_a_note_and_what_was_left_out_stands_in_both_files():
    rows = replace(board(is_stand_in=False), differences=("Rows differ: a; b.",), left_out=("c: broken",))
    assert "Rows differ: a; b." in notes(rows)
    assert not any("c: broken" in note for note in notes(rows))  # pages list it apart
    text = markdown(rows)
    assert "- Rows differ: a; b." in text
    assert text.endswith("- Left out: c: broken.\n")
    content = json.loads(as_json(rows))
    assert (content["differences"], content["left_out"]) == (["Rows differ: a; b."], ["c: broken"])
    assert "Left out" not in markdown(board(is_stand_in=False))


def test_an_interval_of_no_width_has_its_note_and_a_one_sided_bound():
    whole = replace(ROW, ci_low=1.0, ci_high=1.0, score=1.0, n_scenarios=12, ci_unlike=0.25)
    rows = (replace(whole, condition="b"), replace(whole, condition="a"), replace(ROW, condition="c"))
    found = replace(board(is_stand_in=False), rows=rows)
    (note,) = [note for note in notes(found) if "no width" in note]
    assert note == (
        "An interval of no width, as of a, b, says only that all 12 scenarios scored alike. One-sided "
        "at 95%, up to 25.0% of all scenarios may score otherwise: the rule of three on scenarios, 3/n and "
        "100% at most (Hanley and Lippman-Hand 1983)."
    )
    assert note in markdown(found)
    assert [row["ci_unlike"] for row in json.loads(as_json(found))["rows"]] == [0.25, 0.25, None]
    assert not any("no width" in note for note in notes(replace(found, rows=(ROW,))))


def test_the_metrics_of_a_model_are_those_of_the_word_cap_and_prompt_in_use():
    """An experiment on them changes a value and keeps its key."""
    short = replace(ROW, word_cap=500, score=0.25, condition="m-500")
    other = replace(ROW, model="n", score=0.75, condition="n-default", prompt="v0")
    both = replace(board(is_stand_in=False), rows=(ROW, short, other))
    assert json.loads(to_metrics(both, 3000, "v1")) == {"m": 0.5, "m-500": 0.25, "n": 0.75}
    assert json.loads(to_metrics(both, 500, "v1")) == {"m": 0.25, "m-default": 0.5, "n": 0.75}
    assert json.loads(to_metrics(both, 500, "v0")) == {"m-500": 0.25, "m-default": 0.5, "n": 0.75}
    judged = replace(short, judge_id="k", score=1.0)
    again = replace(both, rows=(ROW, short, judged))
    assert json.loads(to_metrics(again, 500, "v1")) == {"m-500/j": 0.25, "m-500/k": 1.0, "m-default": 0.5}


def test_where_columns_do_not_fit_the_settings_of_a_row_are_one_column():
    rows = [
        replace(
            ROW,
            model=f"writer-{number}",
            effort=effort,
            word_cap=cap,
            judge=f"judge-{number}",
            judge_id=f"judge-{number}",
            differs=(("temperature", f"0.{number}"), ("judge.mode", "per_item")),
            rank=1,
            n_ungraded=number,
        )
        for number, (effort, cap) in enumerate([("high", 500), ("medium", None), ("medium", 3000)])
    ]
    plain, folded = screen_table(rows), screen_table(rows, folded=True)
    assert plain.rows[0] == ("model", "effort", "cap", "judge", "differs in", "score", "interval", "counts")
    assert fitting_widths(plain.rows, plain.words, 80) is None
    assert folded.rows[0] == ("model", "differs in", "score", "interval", "counts")
    assert folded.rows[1][1] == "effort high\ncap 500\njudge judge-0\ntemperature 0.0\njudge.mode per_item"
    assert fitting_widths(folded.rows, folded.words, 80) is not None
    assert [row[-3:] for row in folded.rows] == [row[-3:] for row in plain.rows]
    # A rank is within a judge's rows: it is shown where these are all.
    alone = [replace(row, judge="j", judge_id="j", rank=None) for row in rows]
    assert "rank" in screen_table(alone).rows[0]
