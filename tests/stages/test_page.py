"""Pages, read back as a browser would; and the site as it is written."""

import re
from dataclasses import replace

import pytest
from markupsafe import Markup

from flows.schema.brief import BriefStatus
from flows.schema.verdict import BriefScore, Count, VerdictStatus
from flows.stages.page.condition import condition_page
from flows.stages.page.index import index_page
from flows.stages.page.markup import address, attribute, own
from flows.stages.page.rubric import rubric_page
from flows.stages.page.wording import wording
from tests.stages.page_support import (
    BRIEF,
    HEAD,
    PARTLY,
    ROW,
    SHOWN,
    TASK,
    VERDICTS,
    Page,
    a_brief,
    a_condition,
    a_report,
    board,
    index,
)

REPORTS = wording(is_task=True)


# Text of others


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ('a < b & "c"', "a &lt; b &amp; &quot;c&quot;"),
        ("x\u202ey", 'x<b class="mark">U+202E</b>y'),
        ("a\u200bb\ufeff", 'a<b class="mark">U+200B</b>b<b class="mark">U+FEFF</b>'),
        ("nul\x00 esc\x1b", 'nul<b class="mark">U+0000</b> esc<b class="mark">U+001B</b>'),
        ("tag\U000e0041", 'tag<b class="mark">U+E0041</b>'),
        ("vs\ufe0f filler\u3164", 'vs<b class="mark">U+FE0F</b> filler<b class="mark">U+3164</b>'),
        ("half\ud800", 'half<b class="mark">U+D800</b>'),
        ("line\u2028next", 'line<b class="mark">U+2028</b>next'),
        ("back\rover", 'back<b class="mark">U+000D</b>over'),
        ("one\r\ntwo\tthree", "one\ntwo\tthree"),
        ("né 日本 عربي 5\u00a0km", "né 日本 عربي 5\u00a0km"),
    ],
)
def test_text_is_escaped_and_what_hides_is_shown(text, html):
    assert own(text) == html


def test_an_attribute_can_t_be_left():
    assert attribute('a" onload="x\n\u202e') == "a&quot; onload=&quot;x U+202E"


def test_a_name_opens_no_folder_query_or_scheme():
    assert address("..", "a/../b?c#d") == "../a%2F..%2Fb%3Fc%23d"
    assert address("javascript:x") == "javascript%3Ax"


# Reports


def test_report_pages_speak_of_reports_attempts_criteria_and_penalties():
    index_of_reports = index_page(
        board(ROW),
        [("model", "score", "scenarios", "briefs", "wrong"), ("m", "0.500", "1", "3", "0.4")],
        ("Note.",),
        figures={},
        rubrics={},
        tables=[("Score by task", "The mean of 3 attempts.", [("task", "a"), ("m", "0.500")])],
        said=REPORTS,
        is_clamped=True,
    )
    row = replace(ROW, n_missing=2, n_at_limit=1, n_over_limit=0, n_unmeasured=3)
    groups = {"scenario": [Count("t", "requirement", 2, 1, 0), Count("t", "error", 2, 1, 0)]}
    condition = condition_page(
        row, [(BRIEF, PARTLY)], groups, scoring="points", note="", is_stand_in=False, said=REPORTS
    )
    pages = [index_of_reports, condition, a_report(), rubric_page(TASK)]
    for html in pages:
        assert not re.search(r"(?i)\bbriefs?\b|\bseeds?\b|wrong moves?", Page(html).said)
    first, own_page, report, rubric = map(Page, pages)
    assert first.rows[0] == ["model", "score", "tasks", "attempts", "wrong"]
    assert "wrong: penalties triggered for each attempt, on average." in first.said
    assert "within [0, 1]" in first.said
    assert "2 missing, 0 corrupt, 0 refused, 0 failed, 0 empty" in own_page.said
    assert "1 ended at a limit of the harness" in own_page.said
    assert "Over the limit of length0, not measured 3" in own_page.said
    assert ["t", "required criterion", "1", "2", "50.0%", "0"] in own_page.rows
    assert ["t", "penalty", "1", "2", "50.0%", "0"] in own_page.rows
    assert "harbour, attempt 1" in report.said
    rows = {row[0]: row[1:] for row in report.rows}
    assert rows["E1 #-3 points"][1] == "✗ failedtriggered"
    assert rows["R1 #+1 point"][1] == "✓ passed"
    assert "4: 3 required criteria, 1 penalty" in rubric.said


def test_a_file_that_need_not_be_here_is_named_and_not_linked_to():
    links = [attrs["href"] for attrs in Page(a_report(n_calls=0)).all("a")]
    assert not [link for link in links if "reports/files" in link or "attempts" in link]
    assert f"reports/files/{'a' * 64}.docx" in Page(a_report(n_calls=0)).said
    links = [attrs["href"] for attrs in Page(a_report(n_calls=7)).all("a")]
    assert f"../../../reports/files/{'a' * 64}.docx" in links


def test_places_that_the_reader_counts_are_told_from_those_of_the_tools():
    page = Page(a_report(replace(BRIEF, detail="hidden_text, paragraph 7: white text")))
    assert "Left out or repaired while readinghidden_text, paragraph 7: white text" in page.said
    assert "not the places (p7, t1r2c1)" in page.said
    assert "p7" not in Page(a_report()).said


def test_lengths_are_told_with_their_limits():
    page = Page(a_report(word_limit=150, words=151, page_limit=2, pages=None))
    assert "Words against the limit151; at most 150, over the limit" in page.said
    assert "Pages against the limitnot measured; at most 2" in page.said


# The first page


def test_the_table_is_what_people_see_elsewhere_and_its_names_lead_on():
    page = Page(index())
    assert page.rows[:2] == [list(HEAD), ["mm-default-3000-v0", "default", "3000", "j", "0.500", "1", "0"]]
    assert page.all("a")[-1]["href"] == "m-default-3000-v0/j-medium/index.html"
    assert "Note." in page.said


def test_columns_of_numbers_are_sorted_as_numbers():
    shown = [
        ("model", "effort", "cap", "interval", "scenarios", "refused"),
        ("4o", "low", "none", "-0.1 to 0.2", "1 of 3", "1"),
        ("5", "high", "1000", "-", "3", "12"),
    ]
    rows = (ROW, replace(ROW, condition="other"))
    heads = [th for th in Page(index(rows, shown)).all("th") if th.get("scope") == "col"]
    # A name is never a number, be it spelled as one.
    assert ["number" in th.get("class", "") for th in heads] == [False, False, True, True, True, True]
    # What differs between rows can be chosen.
    assert ["filter" in th.get("class", "") for th in heads] == [False, True, True, False, False, False]


def test_a_missing_score_is_missing_and_has_its_bounds():
    row = replace(ROW, score=None, n_ungraded=7, score_low=-0.25, score_high=0.75)
    shown = [HEAD, ("m", "default", "3000", "j", "-", "0 of 1", "1")]
    page = Page(index([row], shown))
    assert page.rows[1][4] == "\u2013bounds-0.250 to 0.750"
    assert {"class": "none", "title": "unknown"} in page.all("span")


def test_the_stand_in_is_announced_before_any_number():
    html = index(stand_in=True)
    assert 0 < html.index("deterministic stand-in") < html.index("<table")
    for page in (a_condition(is_stand_in=True), a_brief(is_stand_in=True)):
        assert page.index("Judge <b>j-medium</b> is a deterministic stand-in") < page.index("<dl")
    assert "stand-in" not in index() + a_condition() + a_brief()


def test_rows_of_another_harness_have_no_link_and_say_where_they_come_from():
    rows = [replace(ROW, condition=name) for name in ("harbor-1", "harbor-2")]
    foreign = {("harbor-1", ROW.judge_id): ("job one, <agent>", Markup('<a href="x">1 attempt</a>'))}
    foreign |= {("harbor-2", ROW.judge_id): ("job two", Markup())}
    page = Page(index_page(board(*rows), [*SHOWN, SHOWN[1]], (), figures={}, rubrics={}, foreign=foreign))
    assert [row[0] for row in page.rows[1:]] == ["mjob one, <agent>harbor-11 attempt", "mjob twoharbor-2"]
    assert len(page.all("a")) == 1  # to the attempt
    assert "A name leads to" not in page.said


def test_what_was_left_out_is_named():
    page = Page(index(left_out=["verdicts/x.parquet: verdicts on another rubric"]))
    assert "verdicts/x.parquet: verdicts on another rubric" in page.said


def test_a_row_without_cells_is_refused():
    with pytest.raises(ValueError, match="zip"):
        index((ROW, ROW), SHOWN)


# A condition


def test_counts_stand_with_their_n_and_unknown_is_no_zero():
    groups = {
        "step": [Count("tasks", "requirement", 4, 3, 1), Count("risk", "error", 0, 0, 2)],
        "mode": [
            Count("omission", "requirement", 4, 1, 1),
            Count("partial", "requirement", 4, 3, 1),
            Count("committed", "error", 5, 4, 0),
        ],
    }
    page = Page(a_condition(groups=groups))
    assert ["tasks", "requirement", "3", "4", "75.0%", "1"] in page.rows
    assert ["risk", "wrong move", "\u2013", "0", "\u2013", "2"] in page.rows
    # Of four failed requirements, one is partly there; of five wrong moves, one was made.
    assert ["partial", "requirement", "1", "4", "25.0%", "1"] in page.rows
    assert ["committed", "wrong move", "1", "5", "20.0%", "0"] in page.rows
    (row,) = [row for row in page.rows if row[0] == "harbour"]
    assert row == [
        "harbour", "1", "written", "\u2013bounds 0.000 to 0.333", "\u2013", "\u2013", "\u2013", "3 of 4", "4",
    ]  # fmt: skip
    assert "none: it takes two scenarios" in page.said


def test_an_unknown_number_is_a_dash_in_every_fact_of_a_condition():
    row = replace(ROW, score=None, score_clamped=None, wrong=None, correct=None, passed=None, words_raw=9.0)
    said = Page(a_condition(replace(row, words_kept=None))).said
    assert "<" not in said
    assert "Score (severity scoring)\u2013, clamped \u2013" in said
    assert "Wrong moves made\u2013 for each brief, on average" in said
    assert "Mean words\u2013 kept of 9" in said


def test_a_refused_brief_has_no_words_instead_of_0_words():
    brief = replace(BRIEF, status=BriefStatus.refused, text=None, words_raw=None, words_kept=None)
    score = replace(PARTLY, n_graded=0, n_refused=4, n_unparsed=0, score_high=1.0)
    page = Page(a_condition(briefs=[(brief, score)]))
    (row,) = [row for row in page.rows if row[0] == "harbour"]
    assert (row[2], row[-2], row[-1]) == ("refused", "0 of 4", "\u2013")
    refused = [replace(verdict, status=VerdictStatus.refused, passed=None) for verdict in VERDICTS]
    single = Page(a_brief(brief, refused, score))
    assert not single.all("pre")
    assert "4 refused, 0 unparsed, 0 error" in single.said


def test_shares_are_told_with_what_they_are_of():
    verdicts = [replace(one, status=VerdictStatus.graded, passed=one.item_id != "E1") for one in VERDICTS]
    score = BriefScore(
        "harbour", 1, 0.5, 0.5, 0.5, 0.5, 0.75, 1.0, 1, n_items=4, n_graded=4, n_refused=0, n_unparsed=0,
        n_error=0,
    )  # fmt: skip
    said = Page(a_brief(verdicts=verdicts, score=score)).said
    assert "Correct75.0%, 3 of 4 items" in said
    assert "Passed100.0%, 3 of 3 requirements" in said
    assert "Wrong moves made1 of 1" in said
    assert "Correct\u2013" in Page(a_brief()).said  # R3 has no verdict
