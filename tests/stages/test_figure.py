"""Figures, read back as XML; positions worked by hand from the plot's 380 pixels."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from flows.schema.leaderboard import LeaderboardRow
from flows.stages.figure import ModeRow, Rate, RateRow, mode_figure, rate_figure, score_figure

NS = "{http://www.w3.org/2000/svg}"
LEFT, WIDTH = 272, 380

ROW = LeaderboardRow(
    model="m", effort="default", word_cap=3000, prompt="v1", harness="single_prompt", judge="j",
    score=0.5, ci_low=0.25, ci_high=0.75, ci_level=0.95, ci_method="bootstrap", score_low=0.5, score_high=0.5,
    score_clamped=0.5, correct=0.6, passed=0.5, wrong=1.0, n_scenarios=10, n_scenarios_all=10, n_briefs=30,
    n_briefs_all=30, n_ungraded=0, n_refused=0, n_error=0, n_empty=0, n_cut=0, n_cut_by_provider=0,
    n_hidden=0, n_noticed=0,
    words_raw=10.0, words_kept=10.0, self_judged=False, condition="m-default", judge_id="j",
    condition_digest="c", judge_digest="d",
)  # fmt: skip
UNSCORED = replace(
    ROW, condition="refuser", score=None, ci_low=None, ci_high=None, ci_level=None, score_low=-0.5,
    score_high=1.0, n_scenarios=0, n_briefs=0, n_ungraded=900,
)  # fmt: skip
HOSTILE = '<script>alert(1)</script>&"\u202eevil\u200b\x00\ud800'


def scores(*rows):
    return score_figure(rows, name="s", judge="j", scoring="severity")


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{NS}text")]


def drawn(svg, tag, kind):
    return [e.attrib for e in ET.fromstring(svg).iter(f"{NS}{tag}") if e.get("class") == kind]


def description(svg):
    return ET.fromstring(svg).find(f"{NS}desc").text


# Score


def test_point_and_interval_stand_at_their_values():
    svg = scores(ROW)
    (dot,) = drawn(svg, "circle", "dot")
    assert float(dot["cx"]) == LEFT + 0.5 * WIDTH
    bar = drawn(svg, "line", "bar")[0]
    assert (float(bar["x1"]), float(bar["x2"])) == (LEFT + 0.25 * WIDTH, LEFT + 0.75 * WIDTH)
    assert {"0.500", "0.250 to 0.750", "10 / 30"} <= set(texts(svg))


def test_an_interval_of_no_width_is_no_bar():
    svg = scores(replace(ROW, score=1.0, ci_low=1.0, ci_high=1.0, ci_unlike=0.3), ROW)
    assert len(drawn(svg, "line", "bar")) == 3  # of the other row: a bar and its ends
    assert "1.000 to 1.000, up to 30.0% otherwise" in texts(svg)
    assert any("all scenarios scored alike" in (text or "") for text in texts(svg))


def test_axis_holds_0_and_1_and_what_lies_below():
    svg = scores(replace(ROW, score=-0.3, ci_low=-0.35, ci_high=-0.2))
    ticks = [text for text in texts(svg) if text and text.replace(".", "").lstrip("-").isdigit()]
    assert ticks[:8] == ["-0.4", "-0.2", "0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert float(drawn(svg, "circle", "dot")[0]["cx"]) == pytest.approx(LEFT + 0.1 / 1.4 * WIDTH, abs=0.01)
    zero, one = drawn(svg, "line", "zero")
    assert float(zero["x1"]) == pytest.approx(LEFT + 0.4 / 1.4 * WIDTH, abs=0.01)
    assert float(one["x1"]) == LEFT + WIDTH


def test_an_extreme_score_leaves_few_ticks():
    svg = scores(replace(ROW, score=-1234.5, ci_low=None, ci_high=None))
    assert {"-1400", "-1200", "0"} <= set(texts(svg))
    assert len(drawn(svg, "line", "grid")) + len(drawn(svg, "line", "zero")) == 9  # -1400 to 200


def test_best_stands_first_and_unscored_last_whatever_the_order_of_rows():
    rows = [UNSCORED, replace(ROW, condition="worse", score=0.1), ROW, replace(ROW, condition="alike")]
    labels = [t for t in texts(scores(*rows)) if t in {"refuser", "worse", "m-default", "alike"}]
    assert labels == ["alike", "m-default", "worse", "refuser"]
    assert scores(*rows) == scores(*rows[::-1])


def test_without_a_score_there_is_no_point_but_the_bounds():
    svg = scores(UNSCORED)
    assert not drawn(svg, "circle", "dot")
    assert not drawn(svg, "line", "bar")
    (bound,) = drawn(svg, "line", "bound")
    # The axis runs from -0.6 to 1.
    assert float(bound["x1"]) == pytest.approx(LEFT + 0.1 / 1.6 * WIDTH, abs=0.01)
    assert float(bound["x2"]) == LEFT + WIDTH
    assert {"none", "bounds -0.500, 1.000", "0 of 10 / 0 of 30"} <= set(texts(svg))
    assert "refuser: score none, bounds -0.500, 1.000, scenarios / briefs 0 of 10 / 0 of 30." in description(
        svg
    )


def test_few_scenarios_have_a_range_and_no_percentage():
    few = replace(ROW, n_scenarios=2, n_scenarios_all=2, ci_level=None)
    assert "Bar: range of 2 scenarios, no interval." in description(scores(few))
    assert "Bar: 95% interval over scenarios; range of 2 scenarios" in description(scores(few, ROW))
    assert "range" not in description(scores(ROW))
    alone = replace(ROW, ci_low=None, ci_high=None, n_scenarios=1)
    assert "No intervals: they take at least 2 scenarios." in description(scores(alone))
    assert "no interval" in texts(scores(alone))


def test_copies_of_a_text_count_once():
    assert "2 / 2 texts" in texts(scores(replace(ROW, n_scenarios=2, n_scenarios_all=2, n_texts=2)))


def test_rows_outside_the_ranking_follow_it():
    ranked = [replace(ROW, condition="a", score=0.5, rank=2), replace(ROW, condition="b", score=0.6, rank=1)]
    outside = replace(ROW, condition="c", score=0.9)
    found = texts(scores(outside, *ranked))
    assert [text for text in found if text in ("a", "b", "c")] == ["b", "a", "c"]


# Rates


def test_cells_hold_rate_and_n_and_unknown_is_no_zero():
    row = RateRow("m", (Rate(9, 36), Rate(20, 30, 6), Rate(0, 0, 12), None, Rate(0, 5)))
    svg = rate_figure([row], ["risk", "tasks", "facts", "ccir", "forces"], name="r", title="T", judge="j")
    found = texts(svg)
    assert found[found.index("m") + 1 :] == [
        "25%", "n 36", "67%", "n 30 of 36", "missing", "n 0 of 12", "no item", "0%", "n 5",
    ]  # fmt: skip
    shades = [float(cell["fill-opacity"]) for cell in drawn(svg, "rect", "heat")]
    assert shades == [0.147, 0.343, 0.03]  # 0.03 + 0.47 x rate; none for the two unknown
    assert len(drawn(svg, "rect", "none")) == 2
    assert (
        "m: risk 25.0%, 9 of 36 passed; tasks 66.7%, 20 of 30 passed, 6 without a verdict; "
        "facts nothing graded, 12 without a verdict; ccir no such item; forces 0.0%, 0 of 5 passed."
    ) in description(svg)


def test_heads_break_at_spaces_only_where_they_do_not_fit():
    columns = ["centers of gravity", "tasks", *["x"] * 10]
    row = RateRow("m", (None,) * 12)
    found = texts(rate_figure([row], columns, name="r", title="T", judge="j"))
    assert found[2:5] == ["centers of", "gravity", "tasks"]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        rate_figure([RateRow("m", (None,))], ["a", "b"], name="r", title="T", judge="j")


# Modes


def test_segments_are_shares_of_failed_requirements_and_stack():
    row = ModeRow("m", Rate(60, 100, 8), {"omission": 30, "partial": 0, "incorrect": 10}, Rate(7, 10))
    svg = mode_figure([row], name="f", judge="j")
    bars = [bar for bar in drawn(svg, "rect", "seg") if float(bar["height"]) == 20]
    assert [(float(bar["x"]), float(bar["width"])) for bar in bars] == [
        (LEFT, 0.75 * WIDTH),
        (LEFT + 0.75 * WIDTH, 0.25 * WIDTH),
    ]
    assert [bar["fill"] for bar in bars] == ["url(#f-0)", "url(#f-1)"]
    assert {"30", "10", "40 of 100 (40%), 8 missing", "3 of 10 (30%)"} <= set(texts(svg))
    assert "partial" not in texts(svg)  # nothing to explain in the legend
    assert "omission 30, partial 0, incorrect 10" in description(svg)


def test_nothing_graded_is_said_and_no_bar():
    svg = mode_figure([ModeRow("m", Rate(0, 0, 90), {"omission": 0}, None)], name="f", judge="j")
    assert not drawn(svg, "rect", "seg")
    assert {"nothing graded, 90 missing", "no such item"} <= set(texts(svg))


def test_every_mode_has_a_pattern_of_its_own():
    failed = dict.fromkeys(("omission", "partial", "incorrect", "unsupported", "committed", "unstated"), 5)
    svg = mode_figure([ModeRow("m", Rate(0, 30), failed, None)], name="f", judge="j")
    patterns = list(ET.fromstring(svg).iter(f"{NS}pattern"))
    shapes = {ET.tostring(pattern[1]) for pattern in patterns}
    assert [pattern.get("id") for pattern in patterns] == [f"f-{number}" for number in range(6)]
    assert len(shapes) == 6


# All


def pictures(label, judge="j", name="x"):
    return [
        score_figure([replace(ROW, condition=label)], name=name, judge=judge, scoring="severity"),
        rate_figure([RateRow(label, (Rate(1, 2),))], [label], name=name, title="T", judge=judge),
        mode_figure([ModeRow(label, Rate(1, 2), {"omission": 1}, None)], name=name, judge=judge),
    ]


@pytest.mark.parametrize("number", range(3))
def test_hostile_labels_are_text_and_visible(number):
    svg = pictures(HOSTILE, judge=HOSTILE)[number]
    root = ET.fromstring(svg)
    assert not [e for e in root.iter() if "script" in e.tag]
    for bad in "\u202e\u200b\x00\ud800":
        assert bad not in svg
    whole = '<script>alert(1)</script>&"[U+202E]evil[U+200B][U+0000][U+D800]'
    assert any(title.text and title.text.startswith(whole) for title in root.iter(f"{NS}title"))
    svg.encode()


@pytest.mark.parametrize("number", range(3))
def test_long_labels_are_cut_in_the_middle_and_whole_in_the_title(number):
    label = "a-very-long-model-name-from-somewhere-default-3000-v0-cd19f399"
    svg = pictures(label)[number]
    assert "a-very-long-mode…-3000-v0-cd19f399" in texts(svg)  # 16 + 1 + 17 columns
    assert any(title.text == label for title in ET.fromstring(svg).iter(f"{NS}title"))


def test_wide_letters_count_double():
    label = "日" * 40
    (short,) = {text for text in texts(pictures(label)[0]) if text and text.startswith("日")}
    assert short == "日" * 8 + "…" + "日" * 8


@pytest.mark.parametrize("number", range(3))
def test_a_screen_reader_gets_title_and_description(number):
    root = ET.fromstring(pictures("m", name="j1-x")[number])
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "j1-x-title j1-x-desc"
    assert root.find(f"{NS}title").get("id") == "j1-x-title"
    assert root.find(f"{NS}title").text
    assert root.find(f"{NS}desc").text.startswith("Judge j.")


@pytest.mark.parametrize("number", range(3))
def test_colours_change_with_the_reader_s_scheme_and_nothing_is_fetched(number):
    svg = pictures("m")[number]
    assert "prefers-color-scheme:dark" in svg
    assert "href" not in svg
    assert svg.count("http") == 1  # the name of the format
