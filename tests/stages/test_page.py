"""Pages, read back as a browser would; and the site as it is written."""

import re
from dataclasses import replace

import pytest

from flows.schema.brief import BriefStatus
from flows.schema.report_task import ReportFacts, ReportTask
from flows.schema.scenario import Control, Severity
from flows.schema.verdict import BriefScore, Count, Verdict, VerdictStatus
from flows.stages.page.brief import brief_page
from flows.stages.page.condition import condition_page
from flows.stages.page.index import index_page
from flows.stages.page.markup import address, attribute, own
from flows.stages.page.rubric import document_addresses, document_page, rubric_data, rubric_page
from flows.stages.page.scenario import MatrixColumn, scenario_page
from flows.stages.page.text import quotes_of, rendered
from flows.stages.page.wording import wording
from tests.stages.page_support import (
    BRIEF,
    DOCUMENTS,
    HEAD,
    HOSTILE,
    PARTLY,
    ROW,
    SCENARIO,
    SEEN,
    SHOWN,
    VERDICTS,
    Page,
    a_brief,
    a_condition,
    board,
    index,
    item,
)

REPORTS = wording(is_task=True)


TASK = replace(
    SCENARIO,
    items=tuple(
        replace(
            one, step=None, tier=None, severity=None, ground_truth="", points=-3.0 if one.is_error else 1.0
        )
        for one in SCENARIO.items
    ),
    task=ReportTask("harbour", "1.4", *[None] * 6, (), (), None, "golden.docx", None, "rubric.json"),
)


def a_report(brief=BRIEF, n_calls=7, pictures=(), beside=(None, None), **facts):
    known = {
        "scenario_id": "harbour", "seed": 1, "status": "written", "report": "a" * 64, "ended": "finished",
        "n_calls": n_calls, "word_rule": "r1/w1", "words": 4, "words_body": 4, "words_tables": 0,
        "words_notes": 0, "words_text_boxes": 0, "words_outside": 0, "word_limit": None, "pages": None,
        "page_limit": None, "renderer": None, "detail": "",
    }  # fmt: skip
    return brief_page(
        ROW, TASK, brief, score=PARTLY, verdicts=VERDICTS, scoring="points", is_stand_in=False,
        report=ReportFacts(**{**known, **facts}), pictures=pictures, beside=beside,
    )  # fmt: skip


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
    foreign = {("harbor-1", ROW.judge_id): "job one, <agent>", ("harbor-2", ROW.judge_id): "job two"}
    page = Page(index_page(board(*rows), [*SHOWN, SHOWN[1]], (), figures={}, rubrics={}, foreign=foreign))
    assert [row[0] for row in page.rows[1:]] == ["mjob one, <agent>harbor-1", "mjob twoharbor-2"]
    assert not page.all("a")


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


# A brief


def test_every_item_has_its_verdict_in_words_and_what_it_is_filtered_by():
    page = Page(a_brief())
    placed = "centers of gravity, tier 2, important"
    rows = {row[0].removesuffix(placed): row[1:] for row in page.rows}
    classes = ["requirement", "2", "centers of gravity", "important"]
    assert rows["R1 #"] == ["States it.\u2013", "✓ passed", "passed", *classes, ""]
    assert rows["R2 #"] == ["States it.half", "✗ failedpartial", "failed", *classes, "partial"]
    assert rows["R3 #"][:3] == ["States it.cut reply", "? no verdictunparsed", "without a verdict"]
    (error,) = [row for row in page.rows if row[0].startswith("E1")]
    assert error[1:3] == ["Wrong move: States it.\u2013", "✗ failedmade"]


def test_what_counts_most_of_what_failed_comes_first():
    items = (
        item("R1"), item("R2", Severity.slightly_important), item("R3"),
        item("R4", Severity.critically_important), item("E1", Severity.critically_detrimental),
        item("R5", Severity.critically_important),
    )  # fmt: skip
    passed = {"R1": False, "R2": False, "R3": True, "R4": False, "E1": False, "R5": None}
    verdicts = [
        Verdict("harbour", 1, name, VerdictStatus.unparsed if ok is None else VerdictStatus.graded, ok)
        for name, ok in passed.items()
    ]
    weights = {
        "critically_important": 9, "important": 5.5, "slightly_important": 2, "critically_detrimental": -9,
    }  # fmt: skip
    html = a_brief(verdicts=verdicts, scenario=replace(SCENARIO, items=items), weights=weights)
    rows = [(attrs["id"], attrs["class"]) for attrs in Page(html).all("tr") if "id" in attrs]
    assert rows == [
        ("item-4", "failed"), ("item-5", "failed"), ("item-1", "failed"), ("item-2", "failed"),
        ("item-6", "missing"), ("item-3", "passed"),
    ]  # fmt: skip


def test_an_item_leads_to_its_rubric_and_its_documents():
    page = Page(a_brief())
    links = [attrs["href"] for attrs in page.all("a") if "rubric" in attrs["href"]]
    assert sorted(links) == [f"../../rubric/harbour.html#item-{number}" for number in (1, 2, 3, 4)]
    rubric = Page(rubric_page(SCENARIO, document_addresses(SCENARIO, DOCUMENTS, "..")))
    assert [attrs["id"] for attrs in rubric.all("article")] == ["item-1", "item-2", "item-3", "item-4"]
    assert rubric.said.count("as ordered") == 4
    assert "Passed if: if said" in rubric.said
    assert "4: 3 requirements, 1 wrong move" in rubric.said
    hrefs = [attrs["href"] for attrs in rubric.all("a")]
    assert "../documents/harbour/1.html#evidence-R1" in hrefs
    assert "../documents/harbour/2.html#evidence-R1" not in hrefs  # not among the documents
    data = rubric_data(SCENARIO, document_addresses(SCENARIO, DOCUMENTS, "..", ".."))
    assert data.startswith("(window.site ??= {}).rubric = [")
    assert data.count("../../documents/harbour/1.html#evidence-") == 4
    assert "the truth" in data


def test_evidence_is_marked_in_its_document_whatever_its_white_space():
    page = document_page(SCENARIO, DOCUMENTS[0], {"01-order.docx": "1.html", "more": "2.html"})
    marks = re.findall(r"<mark[^>]*>(.*?)</mark>", page, re.DOTALL)
    assert [re.sub(r"<.*?>", "", mark) for mark in marks] == ["as\n\nordered"]
    assert page.count('id="evidence-') == 4  # one passage for four items
    assert 'href="#evidence-R1"' in page
    assert '<a href="2.html">more</a>' in page


def test_the_offline_judge_s_stems_are_shown_as_words_of_the_item():
    reason = '34% of what is asked for, missing contai, opened, unkno; closest: "missing contai"'
    known = item("R1", requirement="States that the container", ground_truth="was opened.")
    scenario = replace(SCENARIO, items=(known, *SCENARIO.items[1:]))
    verdicts = [replace(VERDICTS[0], reason=reason), *VERDICTS[1:]]
    whole = '34% of what is asked for, missing container, opened, unkno; closest: "missing contai"'
    assert whole in Page(a_brief(verdicts=verdicts, scenario=scenario, is_stand_in=True)).said
    assert reason in Page(a_brief(verdicts=verdicts, scenario=scenario)).said  # another judge's own words


def test_a_report_stands_beside_the_expert_s_criterion_by_criterion():
    task = replace(
        TASK,
        reference="The expert wrote that the pier is closed.",
        controls={"oracle": Control("oracle", "", {"R1": True, "R2": False})},
    )
    reason = 'the report omits "the pier is closed"'
    verdicts = [VERDICTS[0], replace(VERDICTS[1], reason=reason), *VERDICTS[2:]]
    page = Page(a_brief(verdicts=verdicts, scenario=task))
    heads = [attrs["aria-label"] for attrs in page.all("section") if "aria-label" in attrs]
    assert heads == ["The report as it was graded (4 words)", "The expert's report"]
    cells = {row[0]: row[3] for row in page.rows if row[0] != "item"}
    assert cells == {"R2 #+1 point": "✗ does not", "E1 #-3 points": "\u2013", "R3 #+1 point": "\u2013",
                     "R1 #+1 point": "✓ meets"}  # fmt: skip
    assert [attrs["href"] for attrs in page.all("a") if "expert" in attrs.get("href", "")] == ["#expert-R2"]
    assert "expert" not in Page(a_brief()).said


def test_a_brief_is_rendered_as_markdown_and_a_report_as_it_is():
    text = "\n# Head\n\n<b>bold</b> and **strong**\n\n3. three\n7. seven\n"
    page = Page(a_brief(replace(BRIEF, text=text)))
    assert "<b>bold</b> and strong" in page.said
    assert [attrs.get("value") for attrs in page.all("li")] == ["3", "7"]
    html = a_brief(replace(BRIEF, text=text), scenario=TASK)
    assert '<pre class="own" dir="auto">\n\n# Head' in html  # HTML drops the first line feed of the two


@pytest.mark.parametrize(
    "text",
    [
        "[a link](javascript:alert(1)) and ![a picture](https://x.example/p.png)",
        "<https://x.example> and <img src=x onerror=alert(1)> &lt;b&gt;",
        "[//]: # (a comment)\n\n[ref]: https://x.example 'title'",
        "```info string\ncode\n```",
        "| a | b |\n|---|---|\n| 1 | 2 | hidden |",
    ],
)
def test_markdown_leads_nowhere_and_hides_no_word(text):
    html, _ = rendered(text, {}, is_markdown=True)
    page = Page(html)
    assert not {tag for tag, _ in page.elements} & {"a", "img", "script"}
    assert set(re.findall(r"[a-z]+", text)) <= set(re.findall(r"[a-z]+", page.said))


def test_what_the_judge_quotes_is_marked_over_emphasis_and_once():
    reason = 'closest: "The bridge at Kerrin  carries 30 tonnes..."; and "not in the text"'
    quotes = quotes_of([replace(VERDICTS[0], item_id="R1", reason=reason)])
    text = "So: the **bridge**.\n\nThe bridge at *Kerrin* carries\n30 tonnes only."
    html, seen = rendered(text, quotes, is_markdown=True)
    assert seen == {"R1"}
    page = Page(html)
    assert [attrs["id"] for attrs in page.all("a")] == ["quote-R1"]
    marked = "".join(re.findall(r"<mark[^>]*>(.*?)</mark>", html))
    assert re.sub(r"<.*?>", "", marked) == "The bridge at Kerrin carries30 tonnes"
    whole = a_brief(replace(BRIEF, text=text), [replace(VERDICTS[0], reason=reason), *VERDICTS[1:]])
    assert 'href="#quote-R1"' in whole


def test_passages_that_overlap_are_one_with_an_anchor_for_each_item():
    html, seen = rendered(
        "one two three four five", {"A": ["one two three"], "B": ["three four"]}, is_markdown=False
    )
    assert seen == {"A", "B"}
    assert re.findall(r'id="(.*?)"', html) == ["quote-A", "quote-B"]
    assert re.sub(r"<a.*?</a>", "", re.findall(r"<mark[^>]*>(.*?)</mark>", html)[0]) == "one two three four"


def test_a_report_has_its_pages_its_file_and_its_neighbours():
    html = a_report(
        n_calls=2, report="f" * 64, pictures=["renders/images/ab/abc.png"], beside=("a-1.html", None)
    )
    page = Page(html)
    (picture,) = page.all("img")
    assert picture["src"] == "../../../renders/images/ab/abc.png"
    (file,) = [attrs for attrs in page.all("a") if "download" in attrs]
    assert file["download"] == "report.docx"
    assert [attrs["href"] for attrs in page.all("a") if "rel" in attrs] == ["a-1.html"]


def test_a_scenario_has_scores_and_seeds_that_passed_by_condition():
    def one(seed, score, **passed):
        own = replace(PARTLY, seed=seed, score=score, score_clamped=score and max(score, 0.0))
        return f"harbour-{seed}.html", own, passed

    columns = [
        MatrixColumn(
            "m", ("m", "j"), [one(1, 0.5, R1=True, R2=True, R3=None), one(2, 0.2, R1=False, R2=True)]
        ),
        MatrixColumn(HOSTILE, ("n", "j"), [one(1, -0.5, R1=False), one(2, None, R1=None)]),
    ]
    page = Page(scenario_page(SCENARIO, columns, {"01-order.docx": address("1.html")}))
    assert page.rows[1] == ["m", "0.350", "0.200", "0.500", "2", "1, 2"]
    assert page.rows[2] == [SEEN, "-0.500", "-0.500", "-0.500", "1 of 2", "1, 2"]
    cells = {row[0][:2]: row[1:3] for row in page.rows[4:]}
    assert cells["R1"] == ["1/2", "0/1 (1 ungraded)"]
    assert cells["R2"] == ["2/2", "\u2013"]
    assert cells["R3"] == ["\u2013", "\u2013"]
    links = [attrs["href"] for attrs in page.all("a")]
    assert "../m/j/harbour-2.html#item-1" in links  # the first brief in which the item failed
    assert "../m/j/harbour-1.html#item-2" in links
    clamped = Page(scenario_page(SCENARIO, [replace(columns[1], is_clamped=True)]))
    assert clamped.rows[1][1:4] == ["0.000"] * 3


def test_an_item_without_a_verdict_row_is_a_fault():
    with pytest.raises(KeyError, match="E1"):
        a_brief(verdicts=VERDICTS[:3])
