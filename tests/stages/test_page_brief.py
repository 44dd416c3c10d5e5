"""Pages of briefs and scenarios, read back as a browser would."""

import re
from dataclasses import replace

import pytest

from flows.schema.scenario import Control, Severity
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.page.markup import address
from flows.stages.page.rubric import document_addresses, document_page, rubric_data, rubric_page
from flows.stages.page.scenario import MatrixColumn, scenario_page
from flows.stages.page.text import quotes_of, rendered
from tests.stages.page_support import (
    BRIEF,
    DOCUMENTS,
    HOSTILE,
    PARTLY,
    ROW,
    SCENARIO,
    SEEN,
    TASK,
    VERDICTS,
    Page,
    a_brief,
    a_condition,
    a_report,
    item,
)


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
        controls={"oracle": Control("oracle", "", {"R1": True, "R2": False, "E1": True})},
    )
    reason = 'the report omits "the pier is closed"'
    verdicts = [VERDICTS[0], replace(VERDICTS[1], reason=reason), *VERDICTS[2:]]
    page = Page(a_brief(verdicts=verdicts, scenario=task))
    heads = [attrs["aria-label"] for attrs in page.all("section") if "aria-label" in attrs]
    assert heads == ["The report as it was graded (4 words)", "The expert's report"]
    cells = {row[0]: row[3] for row in page.rows if row[0] != "item"}
    assert cells == {"R2 #+1 point": "✗ failed", "E1 #-3 points": "✓ passednot triggered",
                     "R3 #+1 point": "\u2013", "R1 #+1 point": "✓ passed"}  # fmt: skip
    assert [attrs["href"] for attrs in page.all("a") if "expert" in attrs.get("href", "")] == ["#expert-R2"]
    assert "expert" not in Page(a_brief()).said


def test_a_brief_is_rendered_as_markdown():
    text = "\n# Head\n\n<b>bold</b> and **strong**\n\n3. three\n7. seven\n"
    page = Page(a_brief(replace(BRIEF, text=text)))
    assert "<b>bold</b> and strong" in page.said
    assert [attrs.get("value") for attrs in page.all("li")] == ["3", "7"]
    assert "Head" in re.findall("<h3>(.*?)</h3>", a_brief(replace(BRIEF, text=text)))  # below the page's own


def test_a_report_has_the_headings_tables_and_lines_that_were_read_and_no_markup_of_its_own():
    text = (
        "[Header] One\nTwo\n\n# Head\n\n5 * 3 * 2 is `c`\n\n| A | B |\n| --- | --- |\n| a \\| b | d |\n\n"
        "1. one\n3. three\n\n    indented\n\nlast\n---\n> q\n"
    )
    html, _ = rendered(text, {}, form="read")
    assert "<p>[Header] One<br>\nTwo</p>" in html
    assert "<h3>Head</h3>" in html
    assert "5 * 3 * 2 is `c`" in html
    assert "<td>a | b</td>" in html
    assert [attrs["value"] for attrs in Page(html).all("li")] == ["1", "3"]
    assert "last<br>\n---<br>\n&gt; q" in html
    assert not Page(html).all("pre")
    assert "<h3>Head</h3>" in a_brief(replace(BRIEF, text=text), scenario=TASK)


def test_a_plain_text_keeps_its_lines():
    html, _ = rendered("\n# Head\n", {}, form="plain")
    assert (
        html == '<pre class="own" dir="auto">\n\n# Head\n</pre>'
    )  # HTML drops the first line feed of the two


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
    html, _ = rendered(text, {}, form="markdown")
    page = Page(html)
    assert not {tag for tag, _ in page.elements} & {"a", "img", "script"}
    assert set(re.findall(r"[a-z]+", text)) <= set(re.findall(r"[a-z]+", page.said))


def test_a_quote_over_several_items_of_a_list_is_marked_in_its_sentences():
    text = "- The relief column has 412 soldiers.\n- It waits for orders at the depot.\n- Yes. No.\n"
    passage = "The relief column has 412 soldiers. It waits for orders at the depot. Yes."
    html, seen = rendered(text, {"A": [passage], "B": ["nowhere in the text at all"]}, form="markdown")
    assert seen == {"A"}
    assert re.findall(r"</a>(.*?)</mark>", html) == ["The relief column has 412 soldiers."]
    assert html.count("<mark") == 2
    assert "<li>Yes. No.</li>" in html


def test_what_the_judge_quotes_is_marked_over_emphasis_and_once():
    reason = 'closest: "The bridge at Kerrin  carries 30 tonnes..."; and "not in the text"'
    quotes = quotes_of([replace(VERDICTS[0], item_id="R1", reason=reason)])
    text = "So: the **bridge**.\n\nThe bridge at *Kerrin* carries\n30 tonnes only."
    html, seen = rendered(text, quotes, form="markdown")
    assert seen == {"R1"}
    page = Page(html)
    assert [attrs["id"] for attrs in page.all("a")] == ["quote-R1"]
    marked = "".join(re.findall(r"<mark[^>]*>(.*?)</mark>", html))
    assert re.sub(r"<.*?>", "", marked) == "The bridge at Kerrin carries30 tonnes"
    whole = a_brief(replace(BRIEF, text=text), [replace(VERDICTS[0], reason=reason), *VERDICTS[1:]])
    assert 'href="#quote-R1"' in whole


def test_passages_that_overlap_are_one_with_an_anchor_for_each_item():
    html, seen = rendered(
        "one two three four five", {"A": ["one two three"], "B": ["three four"]}, form="plain"
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
            "m", "j", ("m", "j"), [one(1, 0.5, R1=True, R2=True, R3=None), one(2, 0.2, R1=False, R2=True)]
        ),
        MatrixColumn(HOSTILE, "j", ("n", "j"), [one(1, -0.5, R1=False), one(2, None, R1=None)]),
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
    assert "stand-in" not in "".join(page.text)
    stood_in = Page(scenario_page(SCENARIO, [replace(one, is_stand_in=True) for one in columns[::-1]]))
    assert "deterministic stand-in" in "".join(stood_in.text)
    assert [row[1] for row in stood_in.rows[1:3]] == ["0.350", "-0.500"]  # by score
    clamped = Page(scenario_page(SCENARIO, [replace(columns[1], is_clamped=True)]))
    assert clamped.rows[1][1:4] == ["0.000"] * 3


def test_scores_of_copied_text_are_marked_wherever_they_stand():
    score = replace(PARTLY, score=0.25, score_clamped=0.25)
    plain = MatrixColumn("m", "j", ("m", "j"), [("harbour-1.html", score, {})])
    page = Page(scenario_page(SCENARIO, [plain, replace(plain, name="n", is_copied=True)]))
    marked = "takes copied sentences for statements"
    assert [row[1].endswith("†") for row in page.rows[1:3]] == [False, True]
    assert marked in "".join(page.text)
    assert marked not in "".join(Page(scenario_page(SCENARIO, [plain])).text)
    for is_copied in (True, False):
        row = replace(ROW, score=0.25, copied=is_copied)
        for html in (a_brief(row=row, score=score), a_condition(row)):
            assert ("0.250†" in html, marked in html) == (is_copied, is_copied)


def test_an_item_without_a_verdict_row_is_a_fault():
    with pytest.raises(KeyError, match="E1"):
        a_brief(verdicts=VERDICTS[:3])
