"""Every table on generated verdicts with known effects, its numbers worked out another way."""

import time
from collections import Counter, defaultdict
from dataclasses import replace
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flows.pipeline.results.graded import scored
from flows.pipeline.results.paper import paper_results
from flows.stages.paper import FIGURES, TABLES, NotEnoughError, render
from tests.stages.paper.tables_support import SCENARIOS, entries, frame, items
from tests.support.paper_results import JUDGE, LENIENT, SEVERITY


def test_all_tables_of_75_thousand_verdicts_take_seconds_and_change_nothing(results):
    assert (results.verdicts["judge"] == JUDGE).sum() == 20 * 10 * 3 * 126
    before = pd.util.hash_pandas_object(results.verdicts).sum(), results.briefs.copy()
    start = time.perf_counter()
    missing = set()
    for name, make in TABLES.items():
        try:
            render(make(results))
        except NotEnoughError:
            missing.add(name)
    assert time.perf_counter() - start < 120  # some 8 s here; guards against a quadratic table
    assert missing == {"reports-by-model", "reports-by-task", "reports-by-family", "reports-missed-criteria"}
    assert pd.util.hash_pandas_object(results.verdicts).sum() == before[0]
    pd.testing.assert_frame_equal(results.briefs, before[1])


def test_every_table_and_figure_says_what_it_shows():
    assert all(make.__doc__ for make in (*TABLES.values(), *FIGURES.values()))


def test_main_results_are_the_leaderboards(results, graded):
    table = frame(results, "table-04-main-results").set_index("condition")
    for name, entry in entries(graded).items():
        estimate = scored(entry, SCENARIOS, SEVERITY).estimate
        row = table.loc[name]
        assert (row["score"], row["low"], row["high"]) == (
            estimate.score, estimate.interval.low, estimate.interval.high,
        )  # fmt: skip
        assert row["wrong"] == estimate.wrong
        other = scored(entries(graded, LENIENT)[name], SCENARIOS, SEVERITY).estimate
        assert row["score_gemini_4_argon_medium_failed_only_v1"] == other.score
    ranked = table[table["rank"].notna()]
    assert len(ranked) == 13  # the last of 14 models refused a brief
    assert list(ranked["rank"]) == sorted(ranked["rank"])
    assert set(table.loc[table["rank"].isna(), "effort"]) == {"low", "high", "medium"}


def test_tier_rates_by_counting(results, graded):
    table = frame(results, "figure-03-tiers").set_index(["condition", "tier"])
    rubric = items()
    counts = defaultdict(Counter)
    for name, entry in entries(graded).items():
        for v in entry.verdicts:
            item = rubric[v.scenario_id, v.item_id]
            if not item.is_error:
                where = [name] + (["all"] if name in results.at_benchmark else [])
                for one in where:
                    counts[one, item.tier][v.passed] += 1
    for key, count in counts.items():
        row = table.loc[key]
        n = count[True] + count[False]
        assert (row["n_passed"], row["n"], row["n_ungraded"]) == (count[True], n, count[None])
        assert row["rate"] == pytest.approx(count[True] / n)
        assert row["low"] < row["rate"] + 0.05
    rates = table["rate"].unstack()  # noqa: PD010
    assert (rates[1] > rates[2]).all()
    assert (rates[2] > rates[3]).all()


def test_step_rates_pool_to_the_share_passed(results):
    table = frame(results, "appendix-g-steps")
    whole = frame(results, "figure-03-tiers")
    for name in ("all", results.order[0]):
        by_step, by_tier = (one[one["condition"] == name] for one in (table, whole))
        assert by_step["n"].sum() == by_tier["n"].sum()
        assert by_step["n_passed"].sum() == by_tier["n_passed"].sum()


def test_failure_modes_by_counting(results, graded):
    table = frame(results, "appendix-h-failure-modes").set_index("condition")
    rubric = items()
    name = results.order[3]
    failed = Counter()
    made = defaultdict(list)
    for v in entries(graded)[name].verdicts:
        item = rubric[v.scenario_id, v.item_id]
        if item.is_error and v.passed is not None:
            made[item.severity].append(not v.passed)
        elif v.passed is False:
            failed[v.mode.value] += 1
    row = table.loc[name]
    assert row["n_failed"] == failed.total()
    for mode in ("omission", "partial", "incorrect", "unsupported"):
        assert row[f"share_{mode}"] == pytest.approx(failed[mode] / failed.total())
    for severity, flags in made.items():
        assert row[f"wrong_{severity}"] == pytest.approx(fmean(flags))
        assert row[f"wrong_{severity}_n"] == len(flags)
    assert table.loc["all", "share_omission"] == pytest.approx(0.6, abs=0.02)
    assert table.loc["all", "share_unstated"] == 0


@pytest.mark.parametrize("by", ["tier", "step", "severity"])
def test_missing_credit_is_what_scores_lack(results, by):
    table = frame(results, "missing-credit")
    own = table[table["by"] == by]
    scores = results.board.set_index("condition").loc[results.at_benchmark, "score"]
    assert own["lost"].sum() == pytest.approx(1 - scores.mean())
    assert own["share"].sum() == pytest.approx(1)


def test_missing_credit_needs_items_of_classes_and_leaves_out_those_that_no_item_has(results):
    bare = results.verdicts.assign(tier=np.nan, step=None)
    assert set(frame(replace(results, verdicts=bare), "missing-credit")["by"]) == {"severity"}
    for name in ("missing-credit", "missing-credit-by-model"):
        with pytest.raises(NotEnoughError, match="without tiers, steps and severities"):
            frame(replace(results, verdicts=bare.assign(severity=None)), name)


def test_missing_credit_of_each_condition(results):
    table = frame(results, "missing-credit-by-model").set_index("condition")
    scores = results.board.set_index("condition")["score"]
    assert (table["lost"] - (1 - scores)).abs().max() < 1e-9
    assert table.filter(like="severity_").sum(axis=1).to_numpy() == pytest.approx(np.ones(len(table)))


def test_a_condition_that_lost_nothing_keeps_its_place(results):
    verdicts, perfect = results.verdicts, results.order[0]
    passed = verdicts["passed"].mask(verdicts["condition"] == perfect, 1.0)
    table = frame(replace(results, verdicts=verdicts.assign(passed=passed)), "missing-credit-by-model")
    assert list(table["condition"]) == results.order
    assert table["lost"][0] == 0


def test_generation_by_counting(results, graded):
    table = frame(results, "table-05-generation").set_index("condition")
    for name, entry in entries(graded).items():
        words = [brief["words_raw"] for brief in entry.briefs if brief["words_raw"] is not None]
        row = table.loc[name]
        assert (row["mean"], row["least"], row["most"]) == (
            pytest.approx(fmean(words)),
            min(words),
            max(words),
        )
        assert row["n_cut"] == sum(brief["cut"] for brief in entry.briefs)
        assert row["n_refused"] == sum(brief["status"] == "refused" for brief in entry.briefs)
    assert table["n_refused"].sum() == 1


def test_item_rest_correlation_by_loops(results, graded):
    table = frame(results, "items").set_index(["scenario_id", "item_id"])
    scenario = "scenario_04"
    briefs = defaultdict(dict)
    for name, entry in entries(graded).items():
        for v in entry.verdicts:
            if v.scenario_id == scenario:
                briefs[name, v.seed][v.item_id] = v.passed
    for item in ("I-000", "I-017", "I-125"):
        pairs = [
            (own[item], fmean(value for other, value in own.items() if other != item))
            for own in briefs.values()
        ]
        row = table.loc[scenario, item]
        assert row["discrimination"] == pytest.approx(stats.pearsonr(*zip(*pairs, strict=True)).statistic)
        assert row["rate"] == pytest.approx(fmean(own[item] for own in briefs.values()))
        assert row["n"] == 60


def test_one_judge_and_one_condition_make_what_they_can(graded):
    alone = paper_results(graded[:1], SCENARIOS, SEVERITY, word_cap=3000, prompt="v0")
    made, missing = set(), {}
    for name, make in {**TABLES, **FIGURES}.items():
        try:
            make(alone)
            made.add(name)
        except NotEnoughError as error:
            missing[name] = str(error)
    assert {"table-04-main-results", "figure-03-tiers", "missing-credit", "scenarios", "items"} <= made
    assert missing["table-12-scores-by-judge"] == "one judge only (+experiment=judges)"
    assert missing["comparisons"] == "a comparison takes two conditions"
    assert missing["table-10-word-cap"].endswith("(+experiment=cap)")


def test_the_judge_of_the_tables_is_the_busiest_or_the_chosen(graded):
    few = [entry for entry in graded if entry.judge == JUDGE or entry.condition == graded[0].condition]
    arguments = {"word_cap": 3000, "prompt": "v0"}
    assert paper_results(few, SCENARIOS, SEVERITY, **arguments).judge == JUDGE
    assert paper_results(few, SCENARIOS, SEVERITY, judge=LENIENT, **arguments).judge == LENIENT
