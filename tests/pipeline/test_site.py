"""The site in a browser, opened from the disk: sorted, filtered, compared and linked to.

Screenshots are kept where `SCREENSHOTS` names a folder.
"""

import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.site_results import make_site

pytestmark = [
    pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium"),
    pytest.mark.enable_socket,
]
UNKNOWN = "\N{EN DASH}"
BRIEF = "claude-1-medium-3000-v0/gpt-6-1-sol-medium-failed_only-v1/scenario_01-1.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make_site(tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="module")
def one_browser():
    with Browser() as found:
        yield found


@pytest.fixture
def browser(one_browser, request):
    """A browser whose pages complain of nothing and load nothing from a network."""
    one_browser.console.clear()
    one_browser.asked.clear()
    yield one_browser
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", request.node.name)
        one_browser.screenshot(Path(folder) / f"{name}.png")
    assert one_browser.console == []
    assert not [url for url in one_browser.asked if not url.startswith(("file:", "data:", "about:"))]


def column(browser, number, table="table"):
    return browser.texts(f"{table} tbody tr > :nth-child({number})")


def number(text):
    """Return the number in a cell that may have a mark, and bounds below it."""
    return float(text.split()[0].rstrip("~"))


def test_the_leaderboard_sorts_filters_and_says_so_in_its_address(browser, site):
    browser.open(site / "index.html")
    place = browser.texts("thead th").index("score")
    scores = column(browser, place + 1)
    assert len(scores) == 10
    known = [number(score) for score in scores if score[0].isdigit()]
    assert known == sorted(known, reverse=True)
    head = f"document.querySelectorAll('thead th')[{place}].querySelector('.dt-column-order').click()"
    for _ in range(2):
        browser.run(head)
    turned = column(browser, place + 1)
    assert [number(score) for score in turned[: len(known)]] == sorted(known)
    assert all(
        score.startswith(UNKNOWN) for score in turned[len(known) :]
    )  # unknown ones last, whichever way
    browser.choose(".filters select", "high")
    assert set(column(browser, 2)) == {"high"}
    browser.choose("input[type=search]", "gpt")
    assert [text.split("\n")[0] for text in column(browser, 1)] == ["gpt-1"]
    address = browser.address()
    assert "effort=high" in address
    assert "q=gpt" in address
    browser.open(site / "index.html", address[1:])  # a colleague sees the same
    assert [text.split("\n")[0] for text in column(browser, 1)] == ["gpt-1"]


def test_charts_are_drawn_and_can_be_hovered(browser, site):
    browser.open(site / "index.html")
    assert browser.run("document.querySelectorAll('[data-chart]').length") >= 5
    assert browser.run("[...document.querySelectorAll('[data-chart]')].every((e) => e.querySelector('svg'))")
    box = browser.run(
        "(() => { const e = document.querySelector('[data-chart] svg .mark-rect path');"
        "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
        "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    assert "score" in browser.run("document.querySelector('#vg-tooltip-element').innerText")


def test_a_brief_is_filtered_and_leads_to_text_rubric_and_document(browser, site):
    browser.open(site / BRIEF)
    verdicts = column(browser, 3)
    assert verdicts == sorted(verdicts, key=lambda text: not text.startswith("✗"))
    browser.choose("label:has(+ *) select", "failed")
    assert all(text.startswith("✗ failed") for text in column(browser, 3))
    failed = len(column(browser, 3))
    for name, value in (("tier", "1"), ("mode", "omission")):
        browser.run(
            "(() => { const field = [...document.querySelectorAll('.filters label')]"
            f".find((e) => e.textContent.startsWith('{name} ')).querySelector('select');"
            f"field.value = '{value}'; field.dispatchEvent(new Event('change')); }})()"
        )
    texts = browser.texts("table tbody tr > th")
    assert 0 < len(texts) < failed
    assert all("tier 1" in text for text in texts)
    assert "graded as=failed" in browser.address().replace("+", " ")
    browser.run("document.querySelector('table tbody details').open = true")
    while "Truth" not in (said := browser.texts("table tbody details")[0]) or "order.docx" not in said:
        pass
    document = browser.run("document.querySelector('table tbody details blockquote a').href")
    assert "/documents/scenario_01/1.html#evidence-I-" in document
    browser.click("table tbody .reason a")
    assert "at=quote-I-" in browser.address()
    assert "moves at once" in browser.texts("mark.here")[0]


def test_a_link_to_one_item_of_a_brief_shows_it(browser, site):
    browser.open(site / BRIEF, "item-7")
    assert "I-006" in browser.texts("tr.here th")[0]
    top, bottom = browser.run(
        "(({top, bottom}) => [top, bottom])(document.querySelector('tr.here').getBoundingClientRect())"
    )
    assert top < 900
    assert bottom > 0
    browser.open(site / BRIEF, "tier=3&at=item-9")
    assert "I-008" in browser.texts("tr.here th")[0]
    assert all("tier 3" in text for text in browser.texts("table tbody tr > th"))


def test_any_two_conditions_are_compared(browser, site):
    a, b = (f"{name}-medium-3000-v0/gpt-6-1-sol-medium-failed_only-v1" for name in ("gpt-1", "grok-1"))
    browser.open(site / "compare.html", f"a={a}&b={b}")
    facts = browser.texts("#difference dd")
    assert "+" in facts[2]
    means = [[float(x) for x in column(browser, n, "#means")] for n in (2, 3, 4)]
    assert len(means[0]) == 3
    for one, other, gap in zip(*means, strict=True):
        assert gap == pytest.approx(one - other, abs=0.0011)
    total = sum(means[2]) / 3
    assert float(facts[2].split(",")[0]) == pytest.approx(total, abs=0.0011)
    gaps = [abs(float(x)) for x in column(browser, 6, "#items") if x != UNKNOWN]
    assert gaps == sorted(gaps, reverse=True)
    first = facts[2]
    browser.choose("#side-a", browser.run("document.querySelector('#side-b').value"))
    options = browser.run("[...document.querySelector('#side-b').options].map((e) => e.text)")
    chosen = next(at for at, name in enumerate(options) if name.startswith("gpt-1-medium-3000"))
    browser.choose("#side-b", str(chosen))
    turned = browser.texts("#difference dd")[2]
    assert float(turned.split(",")[0]) == -float(first.split(",")[0])
    assert "b=gpt-1-medium-3000-v0/" in browser.address()
    page = browser.run("document.querySelector('#items tbody a').href")
    assert "/rubric/scenario_0" in page


def test_all_briefs_are_listed_and_lead_to_their_pages(browser, site):
    browser.open(site / "briefs.html", "scenario=scenario_02&sort=5d")
    assert set(column(browser, 1)) == {"scenario_02"}
    assert len(column(browser, 1)) == 20
    scores = [float(x) for x in column(browser, 6) if x != UNKNOWN]
    assert scores == sorted(scores, reverse=True)
    target = browser.run("document.querySelector('table tbody a').href")
    assert Path(target.removeprefix("file://")).is_file()


PAGES = (
    "index.html", "compare.html", "briefs.html", BRIEF, f"{BRIEF.rsplit('/', 1)[0]}/index.html",
    "scenario/scenario_01.html", "rubric/scenario_01.html", "documents/scenario_01/1.html",
    "tables/gpt-6-1-sol-medium-failed_only-v1/items.html",
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_a_telephone_and_the_dark_and_no_text_is_markup(browser, site, page):
    browser.open(site / page, size=(400, 800), dark=True)
    assert browser.overflow() == 0
    assert browser.run("document.querySelectorAll('img[src=x], script:not([src])').length") == 0
    assert not [url for url in browser.run("[...document.links].map((e) => e.href)") if "x.example" in url]
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(21, 25, 30)"
    grounds = (
        "[...document.querySelectorAll('.dt-container')].map((e) => getComputedStyle(e).backgroundColor)"
    )
    assert set(browser.run(grounds)) <= {"rgba(0, 0, 0, 0)"}  # the page's own
    widths = browser.run(
        "[...document.querySelectorAll('.chart svg')].map((e) => [e.getAttribute('width'), e.clientWidth])"
    )
    assert all(float(drawn) <= 1.02 * shown for drawn, shown in widths)  # legible: hardly scaled down
    assert browser.run("[...document.querySelectorAll('[data-chart]')].every((e) => e.ariaLabel.length > 9)")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_main_part_and_headings_in_order(browser, site, page):
    browser.open(site / page)
    levels = browser.run(
        "[...document.querySelectorAll('main :is(h1,h2,h3,h4,h5,h6)')].map((e) => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert 1 not in levels[1:]
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_the_leaderboard_fits_an_ordinary_screen(browser, site):
    browser.open(site / "index.html", size=(1280, 900))
    sizes = browser.run(
        "[...document.querySelectorAll('.scroll')].map((e) => [e.scrollWidth, e.clientWidth])"
    )
    assert all(needed <= shown for needed, shown in sizes)


def test_every_control_is_reached_by_the_keyboard_and_named(browser, site):
    browser.open(site / BRIEF)
    unnamed = browser.run(
        "[...document.querySelectorAll('select, input')].filter((e) => !e.labels?.length &&"
        " !e.getAttribute('aria-label')).length"
    )
    assert unnamed == 0
    heads = "[...document.querySelectorAll('thead th')]"
    assert browser.run(f"{heads}.every((e) => e.querySelector('[role=button]').tabIndex === 0)")
    assert browser.run("[...document.querySelectorAll('.pane')].every((e) => e.tabIndex === 0)")
