"""Tables that compare judges and conditions, on generated verdicts with known effects."""

from collections import defaultdict
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from flows.pipeline.results.graded import scored
from flows.pipeline.results.paper import paper_results
from flows.stages.aggregate import mean_difference
from flows.stages.paper import FIGURES, TABLES, draw
from flows.stages.paper.table import slug
from flows.stages.paper.tables.spread import components
from tests.stages.paper.tables_support import SCENARIOS, entries, frame, means
from tests.support.paper_results import JUDGE, LENIENT, SEVERITY, make_labels


def test_judges_agree_as_scikit_learn_says(results, graded):
    row = frame(results, "table-01-judge-agreement").iloc[0]
    pairs = [
        (one.passed, two.passed)
        for name, entry in entries(graded).items()
        for one, two in zip(entry.verdicts, entries(graded, LENIENT)[name].verdicts, strict=True)
        if one.passed is not None
    ]
    first, second = zip(*pairs, strict=True)
    assert row["n"] == len(pairs)
    assert row["agreement"] == pytest.approx(np.mean(np.array(first) == np.array(second)))
    assert row["kappa"] == pytest.approx(cohen_kappa_score(first, second))
    assert row["kappa_low"] < row["kappa"] < row["kappa_high"]
    means = frame(results, "table-12-scores-by-judge")
    columns = [
        f"score_{name}"
        for name in ("gpt_6_1_sol_medium_failed_only_v1", "gemini_4_argon_medium_failed_only_v1")
    ]
    assert row["rank_correlation"] == pytest.approx(stats.spearmanr(*means[columns].to_numpy().T)[0])
    assert row["offset"] == pytest.approx((means[columns[1]] - means[columns[0]]).mean())
    assert row["offset"] > 0  # the second judge turns fails into passes


def test_agreement_by_class_adds_up(results):
    table = frame(results, "judge-agreement-by-class")
    whole = frame(results, "table-01-judge-agreement").iloc[0]
    for _, own in table.groupby("by"):
        assert own["n"].sum() == whole["n"]
        assert (own["agreement"] * own["n"]).sum() == pytest.approx(whole["agreement"] * whole["n"])


def test_repeats_differ_where_the_generator_flips_them(results):
    row = frame(results, "appendix-k-test-retest").iloc[0]
    assert row["n"] == 10 * 3 * 126
    assert row["agreement"] == pytest.approx(0.96, abs=0.01)


def test_scenario_means_and_spread(results, graded):
    table = frame(results, "scenarios").set_index(["condition", "scenario_id"])
    name = results.order[1]
    scores = defaultdict(list)
    for score in scored(entries(graded)[name], SCENARIOS, SEVERITY).scores:
        scores[score.scenario_id].append(score.score)
    for scenario, own in scores.items():
        row = table.loc[name, scenario]
        assert (row["mean"], row["spread"]) == pytest.approx((fmean(own), stdev(own)))
    refused = table[table["n"] < table["n_all"]]
    assert len(refused) == 1


def test_components_of_an_additive_design_are_exact():
    model, scenario = np.array([0.1, 0.4, 0.5]), np.array([0.0, 0.2, -0.1, 0.3])
    judge = np.array([0.0, 0.05])
    cube = (model[:, None, None, None] + scenario[None, :, None, None] + judge) * np.ones((3, 4, 2, 2))
    found = components(cube)
    assert found["model"] == pytest.approx(np.var(model, ddof=1))
    assert found["scenario"] == pytest.approx(np.var(scenario, ddof=1))
    assert found["judge"] == pytest.approx(np.var(judge, ddof=1))
    assert [found[name] for name in ("model x scenario", "seed", "rest")] == pytest.approx([0, 0, 0])


def test_components_are_recovered_on_average():
    rng = np.random.default_rng(11)
    truth = {
        "model": 0.09,
        "scenario": 0.04,
        "model x scenario": 0.02,
        "seed": 0.01,
        "judge": 0.03,
        "rest": 0.005,
    }
    sd = {name: value**0.5 for name, value in truth.items()}
    m, s, k, j = 8, 9, 3, 3
    runs = []
    for _ in range(400):
        cube = (
            rng.normal(0, sd["model"], (m, 1, 1, 1))
            + rng.normal(0, sd["scenario"], (1, s, 1, 1))
            + rng.normal(0, sd["model x scenario"], (m, s, 1, 1))
            + rng.normal(0, sd["seed"], (m, s, k, 1))
            + rng.normal(0, sd["judge"], (1, 1, 1, j))
            + rng.normal(0, sd["rest"], (m, s, k, j))
        )
        runs.append(components(cube))
    for name, value in truth.items():
        assert fmean(run[name] for run in runs) == pytest.approx(value, rel=0.15)


def test_the_variance_table_has_a_share_for_each_source(results):
    table = frame(results, "variance").set_index("source")["share"]
    assert table.sum() == pytest.approx(1)
    assert table["model"] > table["scenario"] > table["rest"]


def test_comparisons_are_paired_and_corrected(results, graded):
    table = frame(results, "comparisons")
    assert len(table) == 14 * 13 / 2
    by_name = entries(graded)
    row = table.iloc[17]
    first, second = (means(by_name[row[which]]) for which in ("first", "second"))
    found = mean_difference(first, second, list(SCENARIOS), SEVERITY)
    assert row["difference"] == pytest.approx(found.difference)
    assert (row["low"], row["high"]) == pytest.approx((found.interval.low, found.interval.high))
    assert table["p_holm"].min() == pytest.approx(91 * 2 / 2**10)


def test_a_family_too_large_for_its_scenarios_is_said_to_be(results):
    notes = TABLES["comparisons"](results).notes
    assert notes[-1] == (
        "With 10 scenarios and 91 pairs, no corrected p can be below 0.1777, "
        "so no pair can be told apart at 0.05."
    )
    groups = frame(results, "groups")
    assert list(groups["best_rank"]) == [1] * 14
    assert list(groups["worst_rank"]) == [14] * 14
    # Against the best alone the family is small enough.
    assert groups["with_leader"].iloc[-1] == "no"
    assert groups["p_leader"].iloc[-1] == pytest.approx(13 * 2 / 2**10)


def test_few_conditions_get_ranks_that_hold(graded):
    chosen = [
        entry for entry in graded if entry.judge == JUDGE and entry.model in ("claude-1", "muse-1", "muse-2")
    ]
    few = paper_results(chosen, SCENARIOS, SEVERITY, word_cap=3000, prompt="v0")
    groups = frame(few, "groups")
    assert list(groups["best_rank"]) == [1, 2, 3]
    assert list(groups["worst_rank"]) == [1, 2, 3]


def on_two_scenarios(entry):
    two = sorted(SCENARIOS)[:2]
    return replace(
        entry,
        about={**entry.about, "scenarios": two},
        briefs=[brief for brief in entry.briefs if brief["scenario_id"] in two],
        verdicts=[verdict for verdict in entry.verdicts if verdict.scenario_id in two],
        repeats=(),
        known={},
    )


def test_a_condition_on_fewer_scenarios_is_ranked_nowhere(graded):
    """Its score rests on other briefs, so that a place among the rest says nothing."""
    models = ("claude-1", "claude-2", "gemini-1", "gpt-1")
    names = {f"{model}-medium-3000-v0" for model in models}
    chosen = [entry for entry in graded if entry.condition in names]
    others = [entry for entry in chosen if entry.model != "gemini-1"]
    partly = [entry if entry in others else on_two_scenarios(entry) for entry in chosen]
    labels = make_labels(others, SCENARIOS)
    settings = {"word_cap": 3000, "prompt": "v0", "judge": JUDGE, "labels": labels}
    found = paper_results(partly, SCENARIOS, SEVERITY, **settings)
    expected = paper_results(others, SCENARIOS, SEVERITY, **settings)
    assert len(expected.order) == 3
    for name, column in (
        ("table-04-main-results", "rank"),
        ("table-12-scores-by-judge", f"rank_{slug(JUDGE)}"),
        ("corrected-scores", "rank_score"),
    ):
        ranks = frame(found, name).set_index("condition")[column]
        assert np.isnan(ranks["gemini-1-medium-3000-v0"])
        assert ranks.dropna().to_dict() == frame(expected, name).set_index("condition")[column].to_dict()
    assert list(frame(found, "table-04-main-results")["model"])[-1] == "gemini-1"
    for name in ("groups", "weights-grid", "appendix-d-weighted-unweighted"):
        assert frame(found, name).equals(frame(expected, name))
    svg = draw(FIGURES["figure-01-scores"](found))["svg"].decode()
    assert ">gemini-1 (2 of 10 scenarios)<" in svg


def test_weights_by_scoring_again(results, graded):
    table = frame(results, "weights-grid")
    assert len(table) == 4 + 4 * 3 * 4
    for at in (0, 1, 20):
        row = table.iloc[at]
        weights = {name: row[f"weight_{name}"] for name in SEVERITY.weights}
        scoring = replace(SEVERITY, name=f"w{at}", weights=weights)
        scores = {
            name: scored(entry, SCENARIOS, scoring).estimate.score
            for name, entry in entries(graded).items()
            if name in results.at_benchmark
        }
        assert row["best_score"] == pytest.approx(max(scores.values()))
        assert row["best"] == results.names[max(scores, key=scores.get)]
        base = [results.board.set_index("condition").loc[name, "score"] for name in scores]
        changes = [abs(new - old) for new, old in zip(scores.values(), base, strict=True)]
        assert row["largest_change"] == pytest.approx(max(changes), abs=1e-12)


def test_refusals_both_ways(results):
    table = frame(results, "refusals").set_index("condition")
    last = table[table["n_refused"] > 0].iloc[0]
    own = results.briefs[
        (results.briefs["judge"] == JUDGE) & (results.briefs["condition"] == results.at_benchmark[-1])
    ]
    zero = own["counted"].fillna(0).groupby(own["scenario_id"], observed=True).mean().mean()
    assert last["zero"] == pytest.approx(zero)
    assert last["unscored"] > last["zero"]


def test_the_note_on_refusals_names_their_table_only_where_there_is_one(results):
    assert "the table refusals" in " ".join(TABLES["table-04-main-results"](results).notes)
    briefs = results.briefs.assign(status="written")
    assert "refus" not in " ".join(TABLES["table-04-main-results"](replace(results, briefs=briefs)).notes)


def test_conditions_that_the_judge_did_not_grade_are_counted(results):
    assert results.judge_note == f"Judge: {JUDGE}, where a table doesn't compare judges."
    other = results.estimates["condition"] == results.order[0]
    estimates = results.estimates[~other | (results.estimates["judge"] != JUDGE)]
    note = replace(results, estimates=estimates).judge_note
    assert note.endswith("Without 1 condition that it did not grade; judge=NAME chooses another.")


def test_self_preference_is_beyond_leniency(results):
    table = frame(results, "self-preference")
    for _, own in table.groupby("judge"):
        assert own["beyond_leniency"].mean() == pytest.approx(0, abs=1e-12)
    same = table[table["same_family"] == "yes"]
    assert (same["judge"].str.split("-").str[0] == same["condition"].str.split("-").str[0]).all()
    assert len(same) == 7  # gpt-1 in four conditions, gpt-2, gemini-1 and gemini-2
