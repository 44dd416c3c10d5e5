"""The pages of a site as a whole: hostile text, links, what is written and deleted."""

import re
from dataclasses import asdict, replace

import pytest

from flows.common.errors import StoreError
from flows.pipeline.results.leaderboard import Graded
from flows.pipeline.results.pages.site import write_site
from flows.schema.scenario import Evidence
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Count
from flows.stages.page.brief import attempt_page
from flows.stages.page.compare import compare_page
from flows.stages.page.index import paper_page
from flows.stages.page.markup import address
from flows.stages.page.rubric import document_page, rubric_page
from flows.stages.page.scenario import scenario_page
from flows.stages.page.wording import BRIEFS, REPORTS, meanings, wording
from flows.stages.table import _CELLS
from tests.stages.page_support import (
    BRIEF,
    DOCUMENTS,
    HEAD,
    HOSTILE,
    PARTLY,
    ROW,
    SCENARIO,
    SEEN,
    VERDICTS,
    Page,
    a_brief,
    a_condition,
    board,
    index,
    written,
)

# All pages


def hostile_pages():
    texts = dict.fromkeys(
        ("requirement", "ground_truth", "pass_condition", "fail_condition", "rationale"), HOSTILE
    )
    evidence = (Evidence(HOSTILE, HOSTILE),)
    items = tuple(
        replace(one, item_id=f"{HOSTILE}{number}", source=evidence, **texts)
        for number, one in enumerate(SCENARIO.items)
    )
    scenario = replace(
        SCENARIO, scenario_id=HOSTILE, title=HOSTILE, assignment=HOSTILE, documents=(HOSTILE,), items=items,
        licence=HOSTILE,
    )  # fmt: skip
    row = replace(ROW, model=HOSTILE, condition=HOSTILE, judge_id=HOSTILE, judge=HOSTILE, prompt=HOSTILE)
    brief = replace(BRIEF, scenario_id=HOSTILE, text=HOSTILE, detail=HOSTILE)
    verdicts = [
        replace(v, item_id=one.item_id, reason=HOSTILE) for v, one in zip(VERDICTS, items, strict=True)
    ]
    shown = [HEAD, (HOSTILE, "default", "3000", HOSTILE, "0.500", "1", "0")]
    return [
        index([row], shown, stand_in=True, notes=[HOSTILE], left_out=[HOSTILE]),
        a_condition(row, [(brief, PARTLY)], {"step": [Count(HOSTILE, HOSTILE, 2, 1, 3)]}, is_stand_in=True),
        a_brief(brief, verdicts, PARTLY, scenario, row, is_stand_in=True),
        rubric_page(scenario),
        document_page(scenario, replace(DOCUMENTS[0], name=HOSTILE), {HOSTILE: address(HOSTILE)}),
        paper_page(HOSTILE, HOSTILE, [[HOSTILE], [HOSTILE]], [HOSTILE], judge=HOSTILE, is_stand_in=True),
        compare_page(HOSTILE, wording(is_task=False), [HOSTILE], [HOSTILE], site=""),
    ]


@pytest.mark.parametrize("number", range(7))
def test_hostile_text_stays_text_on_every_page(number):
    html = hostile_pages()[number]
    page = Page(html)
    assert not page.all("img")
    assert all(attrs["src"].startswith(("assets/", "data/", "../../assets/")) for attrs in page.all("script"))
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert SEEN in page.said
    for bad in "\u202e\u202c\u200b\x00":
        assert bad not in html


def every_page():
    plain = ("A table", "What it shows.", [["model", "score"], ["m", "-"]], ["Note."])
    return [
        index(), a_condition(), a_brief(), rubric_page(SCENARIO), document_page(SCENARIO, DOCUMENTS[0], {}),
        scenario_page(SCENARIO, []), paper_page(*plain, judge="j", is_stand_in=False),
        compare_page("ma_bench", wording(is_task=False), ["Note."], [], site=""),
    ]  # fmt: skip


def test_the_comparison_of_report_tasks_speaks_of_them():
    html = compare_page("mission_report", REPORTS, [], [], site="")
    assert 'data-scenario="task"' in html
    assert 'data-item="required criterion or penalty"' in html
    assert REPORTS.of("Paired by scenario, briefs scored: 3") == "Paired by task, reports scored: 3"
    assert BRIEFS.of("Paired by scenario, briefs scored: 3") == "Paired by scenario, briefs scored: 3"


@pytest.mark.parametrize("number", range(8))
def test_pages_load_only_what_lies_beside_them_and_run_no_script_in_them(number):
    html = every_page()[number]
    page = Page(html)
    for tag, attrs in page.elements:
        for address_ in (attrs.get("src"), attrs.get("href")):
            assert address_ is None or not re.match(r"(?i)[a-z]+:|//", address_), tag
    assert "url(" not in html
    assert "@import" not in html
    assert "<style" not in html
    policy = page.all("meta")[1]["content"]
    assert policy.startswith("default-src 'none'; ")
    assert "script-src 'self' file:;" in policy
    assert all("src" in attrs for attrs in page.all("script"))


@pytest.mark.parametrize("number", range(8))
def test_pages_can_be_read_aloud(number):
    page = Page(every_page()[number])
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attrs for attrs in page.all("th"))
    assert all(attrs["aria-label"] for attrs in page.all("div") if attrs.get("role") == "region")


# The site as it is written

SCORING = ScoringSettings(
    name="severity",
    weights={"important": 6, "detrimental": -6},
    clamped=False,
    assumed=[],
    interval_level=0.95,
    resamples=100,
)


def graded(row=ROW, verdicts=VERDICTS):
    about = {
        "condition": {
            "label": row.condition, "model": row.model, "effort": row.effort, "word_cap": row.word_cap,
            "prompt": row.prompt, "harness": row.harness,
        },
        "judge": {"label": row.judge_id, "is_stand_in": False, "digest": "d"},
        "scenarios": ["harbour"],
        "seeds": 1,
        "model_note": "",
    }  # fmt: skip
    return Graded(about, [{**asdict(BRIEF), "condition": row.condition}], verdicts)


def test_a_site_is_written_whole_and_equal_verdicts_give_equal_bytes(tmp_path):
    row = replace(ROW, score=None, n_ungraded=1, score_low=0.0, score_high=1 / 3)
    args = {"scenarios": {"harbour": SCENARIO}, "scoring": SCORING, "documents": {"harbour": DOCUMENTS}}
    first = write_site(tmp_path / "a", board(row), [graded()], **args)
    write_site(tmp_path / "b", board(row), [graded(verdicts=VERDICTS[::-1])], **args)
    assert first == tmp_path / "a" / "site" / "index.html"
    files = written(tmp_path / "a")
    place = "site/m-default-3000-v0/j-medium"
    pages = {name for name in files if name.endswith(".html") and "/tables/" not in name}
    assert pages == {
        f"{place}/harbour-1.html", f"{place}/index.html", "site/index.html", "site/compare.html",
        "site/briefs.html", "site/rubric/harbour.html", "site/scenario/harbour.html",
        "site/documents/harbour/1.html",
    }  # fmt: skip
    figures = {name.removeprefix("figures/") for name in files if name.startswith("figures/")}
    names = ("credit", "mode", "scenario", "score", "step", "tier")
    assert figures <= {f"j-medium/{name}.{end}" for name in names for end in ("svg", "png", "vl.json")}
    assert {f"site/charts/{name}" for name in figures} <= set(files)
    assert "j-medium/mode.svg" in figures
    assert "site/tables/j-medium/items.html" in files
    assert files == written(tmp_path / "b")
    # 6 for R1, -6 for E1, R3 open, of 18: between 0 and 1/3.
    assert "bounds 0.000 to 0.333" in files[f"{place}/harbour-1.html"].decode()


def test_every_link_of_a_site_leads_to_a_page_and_an_anchor(tmp_path):
    documents = {"harbour": DOCUMENTS}
    first = write_site(
        tmp_path, board(ROW), [graded()], {"harbour": SCENARIO}, scoring=SCORING, documents=documents
    )
    followed = 0
    for path in first.parent.rglob("*.html"):
        for tag, attrs in Page(path.read_text()).elements:
            if not {"href", "src"} & set(attrs):
                continue
            target, _, anchor = attrs.get("href", attrs.get("src")).partition("#")
            page = (path.parent / target).resolve() if target else path
            assert page.is_file(), (path, tag, attrs)
            assert not anchor or "=" in anchor or f'id="{anchor}"' in page.read_text()
            followed += 1
    assert followed > 50


def test_pages_of_what_is_gone_are_deleted_and_nothing_else(tmp_path):
    args = ([graded()], {"harbour": SCENARIO})
    write_site(tmp_path, board(ROW), *args, scoring=SCORING)
    gone = tmp_path / "site" / "gone" / "j" / "harbour-1.html"
    gone.parent.mkdir(parents=True)
    gone.write_text("old")
    kept = [tmp_path / "leaderboard.html", tmp_path / "site" / "CNAME"]
    for path in kept:
        path.write_text("mine")
    write_site(tmp_path, board(ROW), *args, scoring=SCORING)
    assert not (tmp_path / "site" / "gone").exists()
    assert [path.read_text() for path in kept] == ["mine", "mine"]


def test_other_weights_have_a_site_of_their_own(tmp_path):
    even = replace(SCORING, name="unweighted")
    found = write_site(
        tmp_path, replace(board(ROW), scoring="unweighted"), [graded()], {"harbour": SCENARIO}, scoring=even
    )
    assert found == tmp_path / "site.unweighted" / "index.html"
    assert {path.name for path in tmp_path.iterdir()} == {"site.unweighted", "figures.unweighted"}


def test_two_judges_share_no_figure_and_no_id(tmp_path):
    rows = (ROW, replace(ROW, judge_id="k"))
    write_site(tmp_path, board(*rows), [graded(row) for row in rows], {"harbour": SCENARIO}, scoring=SCORING)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"j-medium", "k"}
    html = (tmp_path / "site" / "index.html").read_text()
    ids = [attrs["id"] for _, attrs in Page(html).elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert len(Page(html).all("figure")) == len(list((tmp_path / "figures").rglob("*.svg"))) == 6


def test_a_problem_is_published_without_the_machine_s_folders(tmp_path):
    problem = StoreError(tmp_path / "verdicts" / "x.parquet", "verdicts on another rubric", "this one")
    first = write_site(
        tmp_path, board(ROW), [graded()], {"harbour": SCENARIO}, scoring=SCORING, problems=[problem]
    )
    html = first.read_text()
    assert "<li>verdicts/x.parquet: verdicts on another rubric; expected this one</li>" in html
    assert str(tmp_path) not in html


def test_a_label_can_t_write_outside(tmp_path):
    row = replace(ROW, condition="..", judge_id="..")
    with pytest.raises(StoreError, match="outside the site"):
        write_site(tmp_path / "r", board(row), [graded(row)], {"harbour": SCENARIO}, scoring=SCORING)
    assert not written(tmp_path)


def test_an_attempt_is_told_turn_by_turn_and_nothing_in_it_is_markup():
    hostile = "</pre><script>alert(1)</script>"
    turn = {
        "kind": "turn", "turn": 1, "step": "answer", "completion": "0" * 64, "status": "complete",
        "finish_reason": "tool_calls", "detail": "", "text": hostile,
        "tool_calls": [{"call_id": "c1", "name": hostile, "arguments": hostile}],
        "answers": [{"call_id": "c1", "is_error": True, "text": hostile, "images": ["1" * 64],
                     "characters": 9000, "sha256": "2" * 64}],
        "usage": {"input_tokens": 4000, "output_tokens": None}, "seconds": 1.5,
    }  # fmt: skip
    told = {"kind": "told", "step": "answer", "messages": [{"role": "user", "text": hostile}]}
    page = attempt_page("m-default", "task", 2, [told, turn])
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 5
    assert "<h1>task, attempt 2</h1>" in page
    assert "<h2>Reply 1 of 1</h2>" in page
    assert "1.5 s; 4,000 tokens in, " in page
    assert "<summary>The tool refused</summary>" in page
    assert "9,000 characters in all" in page
    assert "(1 picture)" in page
    assert "not among these results" in attempt_page("m", "task", 1, [])
    links = [attrs["href"] for attrs in Page(attempt_page("m", "task", 1, [], judges=["j", "k"])).all("a")]
    assert links == ["../../index.html", "../../m/j/task-1.html", "../../m/k/task-1.html"]


def test_an_interval_of_no_width_says_how_many_may_score_otherwise():
    row = replace(ROW, ci_low=1.0, ci_high=1.0, ci_method="bootstrap", ci_unlike=0.25)
    said = "of no width, since all scored alike: up to 25.0% of all scenarios may score otherwise"
    assert said in Page(a_condition(row)).said
    assert "of no width" not in Page(a_condition()).said


@pytest.mark.parametrize("said", [BRIEFS, REPORTS])
def test_the_page_explains_every_column_that_a_leaderboard_can_have(said):
    assert not set(_CELLS) - set(meanings(said, is_clamped=False))
