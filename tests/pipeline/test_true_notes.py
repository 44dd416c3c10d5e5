"""Every sentence under a leaderboard, checked against the numbers above it, on extreme sets."""

import re
from dataclasses import replace

import pytest

from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.pipeline.evaluate.showing import show_board
from flows.pipeline.results.leaderboard import build_leaderboard, part_of
from flows.schema.settings import Refusals
from flows.stages.notes import notes
from flows.stages.table import shown_rows, to_markdown
from tests.pipeline.graded_support import ITEMS, N_ERRORS, SCORING, SETS, board_of, scenarios


def rows_of(board, names):
    return [row for row in board.rows if row.condition in names.split(", ")]


def number_of(text):
    return pytest.approx(float(text), abs=5e-4)


def is_bounds(board, told):
    """`a by j 0.500 to 0.600; ...`: all rows with bounds, and their bounds."""
    shown = {}
    for part in told.split("; "):
        name, judge, low, high = re.fullmatch(r"(\S+) by (\S+) (\S+) to (\S+)", part).groups()
        shown[name, judge] = (number_of(low), number_of(high))
    assert shown == {
        (row.condition, row.judge_id): (row.score_low, row.score_high)
        for row in board.rows
        if row.score_low < row.score_high
    }


def is_interval(board, _):
    rows = [row for row in board.rows if row.ci_level is not None]
    assert rows
    assert all(row.n_scenarios >= 6 and row.ci_level == 0.95 for row in rows)


def is_range(board, sizes):
    rows = [row for row in board.rows if row.ci_method and row.ci_level is None]
    assert sizes.split(" or ") == [str(size) for size in sorted({row.n_scenarios for row in rows})]
    assert all(row.n_scenarios < 6 for row in rows)


def is_no_width(board, names, n, most):
    for row in rows_of(board, names):
        assert row.ci_high - row.ci_low == pytest.approx(0)
        assert row.n_scenarios == int(n)
        assert float(most) / 100 == pytest.approx(min(1, 3 / int(n)), abs=1e-3)


def is_range_of_no_width(board, names, n):
    for row in rows_of(board, names):
        assert row.ci_low == row.ci_high
        assert row.n_scenarios == int(n) < 6


def is_outside(board, told):
    ranked = [row for row in board.rows if row.rank is not None]
    outside = [row for row in board.rows if row.rank is None and row.score is not None]
    assert {part.split(" by ")[0] for part in told.split("; ")} == {row.condition for row in outside}
    last = max((board.rows.index(row) for row in ranked), default=-1)
    assert all(board.rows.index(row) > last for row in outside)
    sizes = {row.n_scenarios_all for row in ranked}
    assert all(row.n_briefs < row.n_briefs_all or {row.n_scenarios_all} != sizes for row in outside)


def is_partial(board, least, told):
    assert float(least) == 95
    shown = {name: int(count) for name, count in (part.split(" ") for part in told.split(", "))}
    assert shown == {row.condition: row.n_partial for row in board.rows if row.n_partial}
    marked = [row[4] for row in shown_rows(board)[1:]]
    assert [cell.endswith("~") for cell in marked] == [bool(row.n_partial) for row in board.rows]


def is_withheld(board, least, told):
    assert float(least) == 50
    withheld = [row for row in board.rows if row.n_briefs and row.score is None]
    assert told == "; ".join(
        f"{row.condition} by {row.judge_id} {row.n_briefs} of {row.n_briefs_all}" for row in withheld
    )
    assert all(row.n_briefs / row.n_briefs_all < 0.5 for row in withheld)


def is_floor(_, share):
    assert float(share) / 100 == pytest.approx(N_ERRORS / len(ITEMS), abs=1e-3)


def is_other_ranking(board, rule, judge, told):
    other = Refusals(rule)
    assert other is not board.rules.refusals
    if told == "no row is ranked":
        assert all(row.n_refused for row in board.rows)
        return
    places = [re.fullmatch(r"(\d+) (\S+) \((\S+)\)", part).groups() for part in told.split(", ")]
    scores = [float(score) for *_, score in places]
    assert scores == sorted(scores, reverse=True)
    assert [int(place) for place, *_ in places] == [1 + sum(s > own for s in scores) for own in scores]
    assert places != [(str(r.rank), r.condition, f"{r.score:.3f}") for r in board.rows if r.rank]


def is_other_scenarios(board, _):
    assert len({row.n_scenarios_all for row in board.rows}) > 1


def is_fewer_seeds(board, most, _):
    seeds = {row.n_briefs_all // row.n_scenarios_all for row in board.rows}
    assert len(seeds) > 1
    assert max(seeds) == int(most)


def is_true(*_):
    """Says nothing of the numbers."""


def is_refusals_rule(board, rule, value):
    assert board.rules.refusals.value == value
    assert ("no score" in rule) == (value == "unscored")
    for row in board.rows:
        assert row.n_briefs + row.n_refused <= row.n_briefs_all or value == "zero"


SENTENCES = [
    (r"Judge \S+\. Nobody has measured its agreement with labels\.", is_true),
    (r"Interval: (t, 95% over scenarios)\.", is_interval),
    (r"Range of ([\d or]+) scenarios: from the lowest .* It is no confidence interval.*", is_range),
    (r"An interval of no width, as of (.+), says only that all (\d+) .* up to ([\d.]+)% .*", is_no_width),
    (r"A range of no width, as of (.+), says only that (\d+) scenarios .*", is_range_of_no_width),
    (r"Only rows on the same scenarios.* without a rank: (.*)\.", is_outside),
    (r"Another ranking follows with scoring\.refusals=(\w+), judge (\S+): (.*)\.", is_other_ranking),
    (r"Verdicts are missing\. Bounds of the score.*passes: (.*)\. A score is of .*", is_bounds),
    (r"A brief of which at least (\S+)% of the items .* Such briefs: (.*)\.", is_partial),
    (r"No score is shown where less than (\S+)% of the briefs count \(.*\): (.*)\.", is_withheld),
    (r"Correct of an empty brief, which makes no wrong move: ([\d.]+)%.*", is_floor),
    (r"Rows do not cover the same scenarios: (.*)\.", is_other_scenarios),
    (r"Rows have fewer than (\d+) seeds: (.*)\.", is_fewer_seeds),
    (r"Assumed: \w+ weighs [+-][\d.]+\.", is_true),
    (r"Assumed: a text that its writer refused (.*) \(scoring\.refusals=(\w+)\); MA-Bench's paper .*\.",
     is_refusals_rule),
]  # fmt: skip


@pytest.mark.parametrize("refusals", list(Refusals))
@pytest.mark.parametrize("name", SETS)
def test_every_sentence_is_true_of_the_numbers(tmp_path, name, refusals):
    board = board_of(tmp_path, name, refusals=refusals)
    said = notes(board)
    for sentence in said:
        fits = [(m, check) for text, check in SENTENCES if (m := re.fullmatch(text, sentence))]
        assert len(fits) == 1, sentence
        ((match, check),) = fits
        check(board, *match.groups())
    assert all(f"- {sentence}" in to_markdown(board, said) for sentence in said)


def test_rows_that_are_not_shown_are_not_said_to_differ(tmp_path, capsys):
    name = "other scenarios"
    board, (_, entries) = board_of(tmp_path, name), SETS[name]
    assert board.differences
    (first, *others) = entries
    shown = {(first.condition, first.judge)}
    asked = {**others[0].about, "prompt_additions": ["a table of risks"]}
    entries = [first, replace(others[0], about=asked), *others[1:]]
    board = build_leaderboard(entries, scenarios(8), SCORING, ObjectStore(tmp_path))
    assert any("a table of risks" in line for line in board.assumptions)
    assert not any("a table of risks" in line for line in part_of(board, [first]).assumptions)
    for only_this_run in (False, True):
        show_board(Screen(only_this_run=only_this_run), board, entries, shown)
        assert ("Rows do not cover" in capsys.readouterr().out) != only_this_run
    row = replace(board.rows[0], differs=(("temperature", "0.2"), ("top_p", "0.9")))
    show_board(
        Screen(only_this_run=True), replace(board, rows=(row,)), entries, {(row.condition, row.judge_id)}
    )
    assert "temperature 0.2, top_p 0.9" in " ".join(capsys.readouterr().out.split())
