"""Every sentence under a leaderboard, checked against the numbers above it, on extreme sets."""

import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.pipeline.evaluate.showing import show_board
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard, part_of
from flows.schema.scenario import Evidence, Item, Scenario, Severity, Step, Tier
from flows.schema.settings import Refusals
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.notes import notes
from flows.stages.score import score_briefs
from flows.stages.table import shown_rows, to_csv, to_markdown

SCORING = compose_points(Path(__file__).parents[2], [], multirun=False)[0].settings.scoring
N_REQUIREMENTS, N_ERRORS = 35, 5


def item(name, severity):
    texts = dict.fromkeys(("requirement", "ground_truth", "pass_condition", "fail_condition"), "x")
    return Item(name, Step.facts, Tier.stated, severity, source=(Evidence("a", "b"),), rationale="r", **texts)


ITEMS = (
    *(item(f"R{number}", Severity.important) for number in range(N_REQUIREMENTS)),
    *(item(f"W{number}", Severity.detrimental) for number in range(N_ERRORS)),
)


def scenarios(n):
    return {
        f"s{number}": Scenario(
            scenario_id=f"s{number}", title="t", assignment="a", documents=(), items=ITEMS, controls={},
            synthetic=True, licence="CC-BY-4.0",
        )
        for number in range(n)
    }  # fmt: skip


@dataclass
class Brief:
    """A brief: how many requirements pass, how many wrong moves are made, how many items are ungraded."""

    passed: int = N_REQUIREMENTS
    made: int = 0
    ungraded: int = 0
    status: str = "written"
    text: str | None = None


PERFECT, EMPTY, RECKLESS = Brief(), Brief(0), Brief(0, N_ERRORS)
REFUSED = Brief(ungraded=len(ITEMS), status="refused")


def graded(name, briefs, *, asked_of_a_model=True, judge="j", seeds=None):
    """One condition: its briefs by scenario."""
    rows, verdicts = [], []
    for scenario_id, own in briefs.items():
        for seed, brief in enumerate(own, 1):
            words = None if brief.status == "refused" else 100
            rows.append(
                {
                    "scenario_id": scenario_id, "seed": seed, "status": brief.status, "cut": False,
                    "text": None if words is None else brief.text or f"{name} {scenario_id} {seed}",
                    "cut_by_provider": False, "detail": "", "words_raw": words, "words_kept": words,
                    "completion": "c" if asked_of_a_model else None, "report": None,
                }
            )  # fmt: skip
            for number, one in enumerate(ITEMS):
                passed = number < brief.passed if not one.is_error else number - N_REQUIREMENTS >= brief.made
                status = VerdictStatus.graded
                if number < brief.ungraded:
                    passed, status = None, VerdictStatus.refused
                verdicts.append(Verdict(scenario_id, seed, one.item_id, status, passed))
    condition = {
        "label": name, "model": name, "effort": "default", "word_cap": 3000, "prompt": "v1",
        "harness": "single_prompt", "benchmark": "ma_bench", "digest": name,
    }  # fmt: skip
    about = {
        "condition": condition,
        "judge": {
            "label": judge, "name": judge, "digest": judge, "is_stand_in": False, "members": [],
            "effort": None, "mode": None, "prompt": None,
        },
        "scenarios": list(briefs), "seeds": seeds or len(next(iter(briefs.values()))), "model_note": "",
        "self_judged": False, "n_canary_missed": None,
        "written_from": {"prompt": "p", "documents": {}, "assignments": {}},
    }  # fmt: skip
    return Graded(about, rows, verdicts)


def everywhere(brief, n, seeds=1):
    return {f"s{number}": [brief] * seeds for number in range(n)}


def mixed(n, seeds=1):
    return {f"s{number}": [Brief(10 + 2 * number)] * seeds for number in range(n)}


SETS = {
    "all passed": (8, [graded("a", everywhere(PERFECT, 8)), graded("b", mixed(8))]),
    "all failed": (8, [graded("a", everywhere(EMPTY, 8)), graded("b", mixed(8))]),
    "all wrong moves": (8, [graded("a", everywhere(RECKLESS, 8)), graded("b", mixed(8))]),
    "one scenario": (1, [graded("a", everywhere(PERFECT, 1)), graded("b", mixed(1))]),
    "two scenarios": (2, [graded("a", everywhere(PERFECT, 2)), graded("b", mixed(2))]),
    "seeds missing": (6, [graded("a", mixed(6, seeds=3)), graded("b", mixed(6, seeds=2))]),
    "one item ungraded": (
        6,
        [graded("a", {**mixed(6), "s0": [Brief(20, ungraded=1)]}), graded("b", mixed(6))],
    ),
    "many items ungraded": (
        6,
        [graded("a", {**mixed(6), "s0": [Brief(20, ungraded=10)]}), graded("b", mixed(6))],
    ),
    "one seed refused": (
        6,
        [
            graded("a", {**everywhere(PERFECT, 6, 2), "s3": [PERFECT, REFUSED]}),
            graded("b", mixed(6, seeds=2)),
            graded("c", everywhere(Brief(34), 6, 2)),
        ],
    ),
    "a scenario refused": (2, [graded("a", {"s0": [PERFECT], "s1": [REFUSED]}), graded("b", mixed(2))]),
    "all but one refused": (
        6,
        [graded("a", {**everywhere(REFUSED, 6), "s0": [PERFECT]}), graded("b", mixed(6))],
    ),
    "all refused": (6, [graded("a", everywhere(REFUSED, 6))]),
    "other scenarios": (8, [graded("a", mixed(8)), graded("b", mixed(7)), graded("c", everywhere(EMPTY, 8))]),
    "copies": (6, [graded("a", everywhere(Brief(9, text="x"), 6, 3), asked_of_a_model=False)]),
    "two judges": (
        2,
        [
            graded("a", mixed(2)),
            graded("b", everywhere(PERFECT, 2)),
            graded("a", {"s0": [PERFECT], "s1": [Brief(ungraded=len(ITEMS))]}, judge="k"),
        ],
    ),
}


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


def board_of(tmp_path, name, **changes):
    n, entries = SETS[name]
    rules = replace(SCORING, **changes)
    fresh = [replace(entry, known={}) for entry in entries]
    return build_leaderboard(fresh, scenarios(n), rules, ObjectStore(tmp_path))


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
