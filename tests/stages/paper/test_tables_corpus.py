"""Tables of the corpus, of length, cap and effort, and of experts, by counting on generated verdicts."""

import re
from collections import Counter, defaultdict
from dataclasses import replace

import pandas as pd
import pytest
from scipy import stats

from flows.pipeline.results.paper import paper_results
from flows.schema.verdict import Interval
from flows.stages.aggregate import mean_difference
from flows.stages.paper import TABLES, render
from flows.stages.paper.table import slug
from tests.stages.paper.tables_support import SCENARIOS, entries, frame, means
from tests.support.paper_results import JUDGE, LENIENT, SEVERITY


def test_corpus_by_counting(results):
    table = frame(results, "table-03-corpus").set_index("scenario_id")
    severities = Counter(item.severity for one in SCENARIOS.values() for item in one.items)
    tiers = Counter(item.tier for one in SCENARIOS.values() for item in one.items)
    assert table.loc["all", "n_items"] == 1260
    assert table["n_characters"].isna().all()  # no packet is stored
    assert {name: table.loc["all", f"severity_{name}"] for name in severities} == severities
    assert {tier: table.loc["all", f"tier_{tier}"] for tier in tiers} == tiers


def test_the_corpus_counts_documents_and_characters(graded):
    scenarios = {name: replace(one, documents=("a", "b")) for name, one in SCENARIOS.items()}
    sizes = {name: 1000 + place for place, name in enumerate(scenarios)}
    arguments = {"word_cap": 3000, "prompt": "v0"}
    whole = paper_results(graded[:1], scenarios, SEVERITY, characters=sizes, **arguments)
    table = frame(whole, "table-03-corpus").set_index("scenario_id")
    assert (table.loc["all", "n_documents"], table.loc["all", "n_characters"]) == (20, 10_045)
    del sizes["scenario_03"]
    part = frame(
        paper_results(graded[:1], scenarios, SEVERITY, characters=sizes, **arguments), "table-03-corpus"
    )
    unknown = part.set_index("scenario_id")["n_characters"].isna()
    assert list(unknown[unknown].index) == ["scenario_03", "all"]


def test_the_cap_is_a_paired_difference(results, graded):
    table = frame(results, "table-10-word-cap")
    by_name = entries(graded)
    for row in table.itertuples():
        first, second = (means(by_name[f"{row.model}-medium-{cap}-v0"]) for cap in ("none", 3000))
        found = mean_difference(first, second, list(SCENARIOS), SEVERITY)
        assert row.difference == pytest.approx(found.difference)
        assert (row.low, row.high) == pytest.approx((found.interval.low, found.interval.high))
        assert row.low > 0  # the generator's effect is 0.5 logits
        assert row.p == pytest.approx(2 / 2**10)
    assert len(table) == 2


def test_effort_has_no_effect_here(results):
    table = frame(results, "figure-07-effort")
    assert (
        list(zip(table["effort"], table["against"], strict=True))
        == [
            ("low", "medium"),
            ("high", "medium"),
        ]
        * 2
    )
    assert (table["difference"].abs() < 0.05).all()


def test_length_correlates_over_models_and_not_within(results):
    table = frame(results, "appendix-j-length").set_index(["over", "correlation"])["value"]
    own = results.briefs[
        (results.briefs["judge"] == JUDGE)
        & results.briefs["condition"].isin(results.at_benchmark)
        & results.briefs["counted"].notna()
    ]
    means = own.groupby("condition", observed=True)[["words_raw", "counted"]].mean()
    over = "conditions, mean length and mean score"
    assert table[over, "Spearman"] == pytest.approx(stats.spearmanr(means["words_raw"], means["counted"])[0])
    assert table[over, "Pearson"] > 0.8
    assert abs(table["briefs, within condition and scenario", "Pearson"]) < 0.15


def test_experts_and_the_judge_as_one_more(results):
    table = frame(results, "table-02-experts").set_index("who")
    # Raters differ from the judge's verdict on 15% of items each, independently: a majority of four that is
    # not split is wrong on about 1.4% of items.
    assert table.loc[JUDGE, "agreement"] > 0.96
    assert table.loc[JUDGE, "panel_kappa"] > table.loc["panel of 4", "panel_kappa"]
    wide = results.labels.pivot_table(
        index=["scenario_id", "seed", "item_id"], columns="rater", values="passed"
    )
    majority = wide.mean(axis=1)
    assert table.loc[JUDGE, "n"] == (majority != 0.5).sum()
    again = frame(results, "table-11-judges-against-experts").set_index(["judge", "which"])
    assert again.loc[(JUDGE, "verdicts"), "agreement"] == table.loc[JUDGE, "agreement"]
    assert again.loc[(JUDGE, "repeat 2"), "agreement"] < table.loc[JUDGE, "agreement"]
    assert again.loc[(LENIENT, "verdicts"), "sensitivity"] < again.loc[(JUDGE, "verdicts"), "sensitivity"]


def test_kappa_of_each_repeat_by_counting(results):
    own = results.labels
    votes = defaultdict(list)
    for condition, scenario, seed, item, passed in zip(
        own["condition"], own["scenario_id"], own["seed"], own["item_id"], own["passed"], strict=True
    ):
        votes[condition, scenario, seed, item].append(bool(passed))
    majority = {key: sum(said) * 2 > len(said) for key, said in votes.items() if sum(said) * 2 != len(said)}
    table = frame(results, "table-11-judges-against-experts").set_index(["judge", "which"])
    for number in (1, 2):
        rows = results.repeats[results.repeats["repeat"] == number]
        verdicts = {
            (row.condition, row.scenario_id, row.seed, row.item_id): bool(row.passed)
            for row in rows.itertuples()
        }
        n = Counter((majority[key], verdicts[key]) for key in majority)
        total = n.total()
        agreed = (n[True, True] + n[False, False]) / total
        expert, judge = (n[True, True] + n[True, False]) / total, (n[True, True] + n[False, True]) / total
        chance = expert * judge + (1 - expert) * (1 - judge)
        row = table.loc[JUDGE, f"repeat {number}"]
        assert row["n"] == total
        assert row["agreement"] == pytest.approx(agreed)
        assert row["kappa"] == pytest.approx((agreed - chance) / (1 - chance))
        assert row["sensitivity"] == pytest.approx(n[False, False] / (n[False, False] + n[False, True]))


def test_only_the_benchmarks_conditions_are_ranked(results):
    ranks = {
        "table-12-scores-by-judge": f"rank_{slug(JUDGE)}",
        "corrected-scores": "rank_score",
    }
    first = frame(results, "table-04-main-results").set_index("condition")["rank"]
    for name, column in ranks.items():
        table = frame(results, name).set_index("condition")
        table.index = table.index.astype(object)
        assert table[column].dropna().to_dict() == first.dropna().reindex(table.index).dropna().to_dict()


def test_a_refusal_alone_takes_no_rank_from_the_table_of_refusals(results):
    table = frame(results, "refusals").set_index("condition")
    others = frame(results, "table-04-main-results").set_index("condition")["rank"].dropna()
    ranks = table["rank_unscored"].dropna()
    assert {*ranks.index} == {*others.index, *table.index[table["n_refused"] > 0]}
    assert table["rank_zero"].notna().sum() == 14


def test_the_interval_of_a_rate_ends_at_0_and_1(results):
    wide = replace(results, interval=lambda values: Interval(-0.5, 1.5, "wide"))
    for name in ("figure-03-tiers", "appendix-g-steps"):
        table = frame(wide, name)
        assert set(table["low"]) == {0.0}
        assert set(table["high"]) == {1.0}


def test_tables_of_report_tasks_speak_of_them(results):
    row = dict.fromkeys(results.tasks.columns) | {"scenario_id": "scenario_01"}
    reports = replace(results, tasks=pd.DataFrame([row]))
    text = render(TABLES["items"](reports))["md"].decode()
    assert "| task | item | kind |" in text
    assert "| penalty |" in text
    assert "| attempts |" in text
    assert "share of the reports that several judges graded" in text
    made = [make(reports) for name, make in TABLES.items() if "reports-" not in name]
    ours = [text for one in made for text in (one.title, *one.notes, *(each.head for each in one.columns))]
    assert not [text for text in ours if re.search(r"\b(?:briefs?|wrong moves?|scenarios?)\b", text)]
    assert reports.said("Scenarios, and a Wrong move") == "Tasks, and a Penalty"
