"""The tables of a site have the numbers of the paper's files."""

import re
from html import unescape

import pytest

from flows.pipeline.results.pages.charts import drawn
from flows.pipeline.results.paper import paper_results
from flows.stages.paper import TABLES
from flows.stages.paper.table import cells
from tests.support.paper_results import SEVERITY
from tests.support.site_results import make_results

UNKNOWN = "\N{EN DASH}"
BENCHMARK = {"word_cap": 3000, "prompt": "v0"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return make_results(tmp_path_factory.mktemp("results"))


@pytest.mark.parametrize("name", ["table-04-main-results", "comparisons", "groups", "missing-credit"])
def test_a_table_of_the_site_ranks_and_compares_what_the_file_does(results, name):
    board, graded, scenarios = results
    (made,) = drawn(board, graded, scenarios, SEVERITY, **BENCHMARK)
    (page,) = (text for _, path, text in made.pages if path.endswith(f"/{name}.html"))
    expected = cells(TABLES[name](paper_results(graded, scenarios, SEVERITY, **BENCHMARK)))
    (body,) = re.findall(r"<tbody>.*?</tbody>", page, re.DOTALL)
    shown = [
        re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", body, re.DOTALL)
    ]
    unknown = {"-": UNKNOWN}
    assert list(map(unescape, shown)) == [unknown.get(cell, cell) for row in expected[1:] for cell in row]
    everything = cells(TABLES[name](paper_results(graded, scenarios, SEVERITY, word_cap=None, prompt="")))
    assert everything != expected  # of all conditions it is another table
