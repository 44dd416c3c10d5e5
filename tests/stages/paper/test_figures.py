"""Figures: drawn from the rows of their tables, without a browser or the network."""

import io
import json
from contextlib import suppress
from dataclasses import replace

import pytest
from PIL import Image

from flows.pipeline.results.graded import Graded
from flows.pipeline.results.paper import paper_results
from flows.schema.verdict import VerdictStatus
from flows.stages.paper import FIGURES, TABLES, NotEnoughError, draw
from flows.stages.paper.figures.figure import FIGURE_ENDINGS
from flows.stages.paper.table import cells
from tests.support.paper_results import JUDGE, SEVERITY, make_graded, make_scenarios

SCENARIOS = make_scenarios(n_scenarios=6, n_items=60)


@pytest.fixture(scope="module")
def results():
    graded = make_graded(SCENARIOS, n_models=6)
    return paper_results(graded, SCENARIOS, SEVERITY, word_cap=3000, prompt="v0", judge=JUDGE)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_with_its_title_and_no_unknown_number(results, name):
    figure = FIGURES[name](results)
    files = draw(figure)
    assert tuple(files) == FIGURE_ENDINGS
    svg = files["svg"].decode()
    assert figure.title in svg
    assert "NaN" not in svg
    assert "undefined" not in svg
    image = Image.open(io.BytesIO(files["png"]))
    assert 400 < image.width < 2400
    assert 200 < image.height < 2400
    assert len(image.convert("L").getcolors()) > 10  # not blank
    assert "NaN" not in files["vl.json"].decode()


BY_CONDITION = [
    "figure-01-scores",
    "figure-03-tiers",
    "figure-10-scores-by-judge",
    "appendix-g-steps",
    "appendix-h-failure-modes",
    "scenarios",
]


@pytest.mark.parametrize("name", BY_CONDITION)
def test_a_figure_names_the_benchmarks_conditions_and_no_other(results, name):
    svg = draw(FIGURES[name](results))["svg"].decode()
    assert all(f">{results.names[condition]}<" in svg for condition in results.at_benchmark)
    assert "no cap" not in svg


def test_the_bars_are_the_scores_of_the_table(results):
    shown = json.loads(draw(FIGURES["figure-01-scores"](results))["vl.json"])
    (rows,) = shown["datasets"].values()
    table = TABLES["table-04-main-results"](results).frame
    table = table[table["condition"].isin(results.at_benchmark)]
    assert [row["score"] for row in rows] == pytest.approx(list(table["score"]))
    assert [row["low"] for row in rows] == pytest.approx(list(table["low"]))


def test_steps_are_words_and_cells_show_their_number(results):
    svg = draw(FIGURES["appendix-g-steps"](results))["svg"].decode()
    assert ">CCIR<" in svg
    assert "ccir<" not in svg
    shown = draw(FIGURES["scenarios"](results))["svg"].decode()
    means = TABLES["scenarios"](results).frame
    means = means[means["condition"].isin(results.at_benchmark)]["mean"]
    assert all(f">{mean:.2f}<" in shown for mean in means)


def test_labels_have_the_size_and_room_that_they_are_given(results):
    config = FIGURES["scenarios"](results).specification["config"]
    assert (config["axis"]["labelFontSize"], config["axis"]["labelLimit"]) == (11, 260)
    assert config["axis"]["labelFlush"] is False  # else the last label is pushed into the one before
    assert (config["legend"]["labelFontSize"], config["legend"]["labelLimit"]) == (11, 400)
    assert (config["view"]["strokeWidth"], config["background"]) == (0, "white")


@pytest.mark.parametrize("others", [0, 3], ids=["alone", "beside others"])
def test_nothing_is_drawn_of_a_judge_without_a_verdict(others):
    scenarios = make_scenarios(2, 12)
    graded = make_graded(scenarios, n_models=3, n_seeds=1, second=False, repeats=False)
    about = {"judge": {"label": "silent", "is_stand_in": False}}
    silent = [
        Graded(
            {**entry.about, **about},
            entry.briefs,
            [replace(one, passed=None, status=VerdictStatus.unparsed, mode=None) for one in entry.verdicts],
        )
        for entry in graded[:2]
    ]
    results = paper_results(
        [*graded[:others], *silent], scenarios, SEVERITY, word_cap=3000, prompt="v0", judge="silent"
    )
    made = []
    for name, make in FIGURES.items():
        with suppress(NotEnoughError):
            draw(make(results))
            made.append(name)
    assert made == ["figure-04-corpus"]  # which is about the scenarios
    for make in TABLES.values():
        with suppress(NotEnoughError):
            cells(make(results))
