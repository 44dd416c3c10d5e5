"""Scores, bounds and ranks of a leaderboard's rows, on extreme sets."""

import csv
import io
from dataclasses import replace

import pytest

from flows.adapters.objects import ObjectStore
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.schema.settings import Refusals
from flows.stages.notes import notes
from flows.stages.score import score_briefs
from flows.stages.table import shown_rows, to_csv
from tests.pipeline.graded_support import (
    ITEMS,
    N_ERRORS,
    PERFECT,
    SCORING,
    SETS,
    Brief,
    board_of,
    graded,
    mixed,
    scenarios,
)


def about(board):
    """Each row in order: condition, rank, score."""
    return [
        (row.condition, row.rank, None if row.score is None else round(row.score, 3)) for row in board.rows
    ]


def said(board, beginning):
    return [sentence for sentence in notes(board) if sentence.startswith(beginning)]


def test_all_passed_all_failed_and_all_wrong_moves(tmp_path):
    perfect = board_of(tmp_path, "all passed").rows[0]
    assert (perfect.score, perfect.correct, perfect.passed, perfect.wrong) == (1, 1, 1, 0)
    assert (perfect.ci_low, perfect.ci_high, perfect.ci_unlike) == (1, 1, 3 / 8)
    empty = board_of(tmp_path, "all failed").rows[1]
    assert (empty.score, empty.passed, empty.wrong) == (0, 0, 0)
    assert empty.correct == empty.correct_empty == N_ERRORS / len(ITEMS)
    worst = board_of(tmp_path, "all wrong moves").rows[1]
    assert (worst.score, worst.correct, worst.wrong) == (pytest.approx(-5 / 35), 0, 5)


def test_one_scenario_has_no_interval_and_two_have_a_range(tmp_path):
    assert [row.ci_method for row in board_of(tmp_path, "one scenario").rows] == [None, None]
    board = board_of(tmp_path, "two scenarios")
    assert {(row.ci_method, row.ci_level) for row in board.rows} == {("range of 2 scenarios", None)}
    assert not [sentence for sentence in notes(board) if "95%" in sentence]


def test_one_ungraded_item_of_forty_keeps_its_brief(tmp_path):
    board = board_of(tmp_path, "one item ungraded")
    # The ungraded item would have passed: 19 of 34 in place of 20 of 35; the others pass 12, 14, ... 20.
    score = (19 / 34 + sum(range(12, 22, 2)) / 35) / 6
    (row,) = [row for row in board.rows if row.condition == "a"]
    assert row.score == pytest.approx(score)
    assert (row.rank, row.n_partial, row.n_briefs, row.n_ungraded) == (1, 1, 6, 1)
    assert row.score_low == pytest.approx((19 + 80) / 35 / 6)
    assert row.score_high == pytest.approx((20 + 80) / 35 / 6)
    (strict,) = [
        r for r in board_of(tmp_path, "one item ungraded", min_graded=1.0).rows if r.condition == "a"
    ]
    assert (strict.n_briefs, strict.rank, strict.n_partial) == (5, None, 0)


def test_a_brief_below_the_floor_is_left_out_and_its_row_is_not_ranked(tmp_path):
    board = board_of(tmp_path, "many items ungraded")
    assert [(name, rank) for name, rank, _ in about(board)] == [("b", 1), ("a", None)]
    assert said(board, "Only rows on the same scenarios")


def test_a_refused_seed_leaves_the_ranking_and_comes_back_as_zero(tmp_path):
    board = board_of(tmp_path, "one seed refused")
    assert about(board) == [("c", 1, 0.971), ("b", 2, 0.429), ("a", None, 1.0)]
    assert said(board, "Another ranking") == [
        "Another ranking follows with scoring.refusals=zero, judge j: 1 c (0.971), 2 a (0.917), 3 b (0.429)."
    ]
    board = board_of(tmp_path, "one seed refused", refusals=Refusals.zero)
    assert about(board) == [("c", 1, 0.971), ("a", 2, 0.917), ("b", 3, 0.429)]
    (row,) = [row for row in board.rows if row.condition == "a"]
    assert (row.score_low, row.score_high) == (row.score, row.score)
    assert row.correct == pytest.approx((5 + (1 + N_ERRORS / len(ITEMS)) / 2) / 6)
    assert (row.n_refused, row.n_ungraded) == (1, len(ITEMS))


def test_half_refused_is_below_the_complete_rows_and_less_than_half_has_no_score(tmp_path):
    assert about(board_of(tmp_path, "a scenario refused")) == [("b", 1, 0.314), ("a", None, 1.0)]
    board = board_of(tmp_path, "all but one refused")
    assert about(board) == [("b", 1, 0.429), ("a", None, None)]
    assert (board.rows[1].n_briefs, board.rows[1].ci_low, board.rows[1].correct) == (1, None, None)
    assert said(board, "No score is shown")


def test_a_judge_s_refusal_is_never_zero(tmp_path):
    board = board_of(tmp_path, "two judges", refusals=Refusals.zero)
    assert about(board) == [("b", 1, 1.0), ("a", 2, 0.314), ("a", None, 1.0)]


def test_rows_on_other_scenarios_are_not_ranked(tmp_path):
    assert about(board_of(tmp_path, "other scenarios")) == [
        ("a", 1, 0.486),
        ("c", 2, 0.0),
        ("b", None, 0.457),
    ]


def test_copies_count_once(tmp_path):
    board = board_of(tmp_path, "copies")
    assert board.rows[0].n_texts == 6
    assert shown_rows(board)[1][10] == "6 texts"
    _, (entry,) = SETS["copies"]
    assert len(entry.verdicts_once) == 6 * len(ITEMS)


def test_the_files_hold_rank_and_bounds(tmp_path):
    board = board_of(tmp_path, "one seed refused")
    rows = csv.DictReader(io.StringIO(to_csv(board)))
    found = [(row["rank"], row["score_low"]) for row in rows]
    assert found[2][0] == ""
    assert float(found[2][1]) == pytest.approx((5 + (1 - 5 / 35) / 2) / 6)


def test_an_imported_refusal_follows_the_same_rule(tmp_path):
    ours = graded("b", mixed(2))
    imported = graded("a", {"s0": [PERFECT], "s1": [Brief(status="refused")]})
    scores = score_briefs(dict.fromkeys(("s0", "s1"), ITEMS), imported.verdicts, SCORING)
    criteria = {
        name: [[one.item_id, -1.0 if one.is_error else 1.0, one.is_error, ""] for one in ITEMS]
        for name in ("s0", "s1")
    }
    harbor = {"clamped": True, "criteria": criteria}
    # Its verifier gave both attempts a reward.
    foreign = replace(imported, about={**imported.about, "harbor": harbor}, scores=scores)
    found = {}
    for refusals in Refusals:
        fresh = [replace(entry, known={}) for entry in (foreign, ours)]
        rules = replace(SCORING, refusals=refusals)
        board = build_leaderboard(fresh, scenarios(2), rules, ObjectStore(tmp_path))
        (found[refusals],) = [row for row in board.rows if row.condition == "a"]
    unscored, zero = found[Refusals.unscored], found[Refusals.zero]
    assert (unscored.score, unscored.rank, unscored.n_briefs) == (1, None, 1)
    assert (unscored.score_low, unscored.score_high) == (0.5, 1)
    assert (zero.score, zero.rank, zero.score_low, zero.score_high) == (0.5, 1, 0.5, 0.5)
