"""Generated verdicts with known effects, and what tables are made from."""

import pytest

from flows.pipeline.results.paper import paper_results
from tests.stages.paper.tables_support import SCENARIOS
from tests.support.paper_results import JUDGE, SEVERITY, make_graded, make_labels


@pytest.fixture(scope="module")
def graded():
    return make_graded(SCENARIOS)


@pytest.fixture(scope="module")
def results(graded):
    labels = make_labels(graded, SCENARIOS)
    return paper_results(graded, SCENARIOS, SEVERITY, word_cap=3000, prompt="v0", judge=JUDGE, labels=labels)
