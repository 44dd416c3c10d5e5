"""Agreements as they are printed."""

from dataclasses import replace

import pytest

from flows.pipeline.results.agreement.text import HEAD, agreement_rows, figure, phrase, remarks
from flows.schema.verdict import Agreement

NOTHING = Agreement("polarity=negative", 0, 20, None, None)
REQUIREMENTS = Agreement(
    labels="polarity=positive",
    n=100,
    n_ungraded=0,
    accuracy=0.85,
    kappa=0.7,
    accuracy_margin=0.05,
    kappa_margin=0.061,
    within=0.58,
    within_margin=0.07,
    baselines=(("which brief", 0.53), ("BM25", 0.57)),
)
FOUND = replace(
    REQUIREMENTS,
    labels="labels",
    n_ungraded=20,
    groups=(
        REQUIREMENTS,
        NOTHING,
        replace(REQUIREMENTS, labels="tier=2", n=40, kappa=0.5, within=None),
        replace(NOTHING, labels="severity=detrimental"),
    ),
)


@pytest.mark.parametrize(
    ("value", "margin", "text"), [(0.7, 0.061, "0.70±0.06"), (0.7, None, "0.70"), (None, None, "-")]
)
def test_a_figure_stands_with_its_margin(value, margin, text):
    assert figure(value, margin) == text


def test_rows_have_every_group_and_fit_eighty_columns():
    rows = agreement_rows(FOUND)
    assert [row[0] for row in rows] == ["all", "requirements", "wrong moves", "tier 2"]
    assert rows[1] == ("requirements", "100", "0.85±0.05", "0.70±0.06", "0.58±0.07", "0.53", "0.57")
    assert rows[2] == ("wrong moves", "0", "-", "-", "-", "-", "-")
    widths = [
        max(len(row[n]) for row in (HEAD, *rows, ("", "10000"))[: len(rows) + 1]) for n in range(len(HEAD))
    ]
    assert sum(widths) + 3 * len(HEAD) + 1 <= 80


def test_what_was_not_judged_and_what_is_no_better_is_said():
    assert remarks(FOUND) == [
        "all: 20 without a verdict",
        "wrong moves: 20 without a verdict",
        "tier 2: kappa no better than BM25 (0.57)",
    ]
    assert remarks(REQUIREMENTS) == []
    constant = replace(REQUIREMENTS, kappa=None, kappa_margin=None, groups=())
    assert remarks(constant) == ["all: no kappa, since all its verdicts are alike; BM25 has 0.57"]


def test_a_phrase_has_the_figures_the_baselines_and_what_is_not_judged():
    assert phrase(FOUND) == (
        "labels: n 100, accuracy 0.85±0.05, kappa 0.70±0.06, within briefs 0.58±0.07, which brief 0.53 and "
        "BM25 0.57 without a judge, wrong moves not judged"
    )
    worse = replace(REQUIREMENTS, kappa=0.4, groups=())
    assert phrase(worse).endswith("without a judge, all no better than BM25")
    assert phrase(replace(NOTHING, labels="labels")) == "labels: nothing to compare"
