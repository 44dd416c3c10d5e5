"""What labels say about a judge, worked out by loops, by hand and by simulation."""

from dataclasses import replace
from itertools import product
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flows.pipeline.results.paper import paper_results
from flows.schema.verdict import ExpertLabel
from flows.stages.paper import TABLES, NotEnoughError
from flows.stages.paper.calibration import Parts, alternative_annotator, corrected, error_rates, parts, usable
from tests.support.paper_results import JUDGE, SEVERITY, make_graded, make_labels, make_scenarios

SCENARIOS = make_scenarios()
GAP = np.nan


def panel(seed, n=60, gaps=0.2, wrong=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    labels = np.where(rng.random((n, 4)) < wrong, 1 - truth[:, None], truth[:, None]).astype(float)
    labels[rng.random(labels.shape) < gaps] = GAP
    judge = np.where(rng.random(n) < wrong, 1 - truth, truth).astype(float)
    judge[:3] = GAP
    return pd.DataFrame(labels, columns=list("abcd")), pd.Series(judge)


def by_loops(ratings, verdicts, epsilon):
    """The test as its authors describe it, in plain Python: the t statistic and the step-up procedure."""
    found = {}
    for rater in ratings.columns:
        judge_wins, rater_wins = [], []
        for item, row in ratings.iterrows():
            others = [row[name] for name in ratings.columns if name != rater and row[name] == row[name]]
            if row[rater] != row[rater] or not others or verdicts[item] != verdicts[item]:
                continue
            judge, own = (fmean(other == said for other in others) for said in (verdicts[item], row[rater]))
            judge_wins.append(judge >= own)
            rater_wins.append(own >= judge)
        ahead = [int(b) - int(a) for a, b in zip(judge_wins, rater_wins, strict=True)]
        n, mean = len(ahead), fmean(ahead)
        deviation = (sum((one - mean) ** 2 for one in ahead) / (n - 1)) ** 0.5
        p = stats.t.cdf((mean - epsilon) / (deviation / n**0.5), n - 1)
        found[rater] = (n, fmean(judge_wins), fmean(rater_wins), p)
    ordered = sorted(found, key=lambda rater: found[rater][3])
    m = len(ordered)
    allowed = [0.05 * place / (m * sum(1 / k for k in range(1, m + 1))) for place in range(1, m + 1)]
    fits = [
        place
        for place, (rater, most) in enumerate(zip(ordered, allowed, strict=True), 1)
        if found[rater][3] <= most
    ]
    return {rater: (*found[rater], rater in ordered[: max(fits, default=0)]) for rater in found}


@pytest.mark.parametrize(("seed", "epsilon"), list(product(range(6), (0.1, 0.2))))
def test_the_alternative_annotator_test_by_loops(seed, epsilon):
    ratings, verdicts = panel(seed)
    table = alternative_annotator(ratings, verdicts, epsilon).set_index("rater")
    for rater, (n, judge_wins, rater_wins, p, rejected) in by_loops(ratings, verdicts, epsilon).items():
        row = table.loc[rater]
        assert row["n"] == n
        assert (row["advantage"], row["rater_wins"], row["p"]) == pytest.approx((judge_wins, rater_wins, p))
        assert row["rejected"] == rejected


def test_a_judge_like_the_best_rater_stands_in_and_one_that_guesses_does_not():
    ratings, verdicts = panel(1, n=400, gaps=0)
    assert alternative_annotator(ratings, verdicts)["rejected"].tolist() == [1, 1, 1, 1]
    guessed = pd.Series(np.random.default_rng(0).integers(0, 2, 400).astype(float))
    assert alternative_annotator(ratings, guessed)["rejected"].sum() == 0


def test_few_items_are_not_tested_and_equal_ones_have_a_p():
    ratings, verdicts = panel(2, n=25)
    few = alternative_annotator(ratings, verdicts)
    assert few["p"].isna().all()
    assert few["rejected"].isna().all()
    same = pd.DataFrame(np.ones((40, 3)), columns=list("abc"))
    assert alternative_annotator(same, pd.Series(np.ones(40)))["p"].tolist() == [0, 0, 0]
    # The judge alone differs from all: the raters win every item.
    assert alternative_annotator(same, pd.Series(np.zeros(40)))["p"].tolist() == [1, 1, 1]


def test_error_rates_by_counting():
    labels = pd.Series([1, 1, 1, 1, 0, 0, 0, GAP, 1, 0], dtype=float)
    verdicts = pd.Series([1, 1, 0, 1, 0, 1, 0, 0, GAP, GAP], dtype=float)
    briefs = pd.Series([0, 0, 1, 1, 0, 0, 1, 1, 1, 1])
    found = error_rates(labels, verdicts, briefs)
    assert (found["specificity"], found["n_passed"]) == (3 / 4, 4)
    assert (found["sensitivity"], found["n_failed"]) == (2 / 3, 3)
    # Passed: residuals by brief are 1/2 and -1/2, so the variance is (1/4 + 1/4) / 16 * 2 = 1/16, against
    # 3/16 / 4 of independent items: a design effect of 4/3.
    assert found["effective_passed"] == pytest.approx(3)
    assert usable(found) is None


def test_what_carries_no_information_is_refused():
    ones = pd.Series([1.0, 1, 0, 0])
    briefs = pd.Series([0, 0, 1, 1])
    assert "at most 1" in usable(error_rates(ones, 1 - ones, briefs))
    assert "at most 1" in usable(error_rates(ones, pd.Series([1.0, 0, 1, 0]), briefs))
    assert usable(error_rates(ones, ones * 0 + 1, briefs)) is not None
    assert "none failed by experts" in usable(error_rates(ones * 0 + 1, ones, briefs))


def rates(sensitivity, specificity, n=1e9):
    return {
        "sensitivity": sensitivity, "specificity": specificity, "n_failed": n, "n_passed": n,
        "effective_failed": n, "effective_passed": n,
    }  # fmt: skip


def test_a_prevalence_is_corrected_by_hand():
    # 60% seem to pass. The judge finds 4 of 5 fails and passes 9 of 10: (0.6 + 0.8 - 1) / 0.7 = 4/7.
    gained, possible = pd.DataFrame({"important": [0.6]}), pd.DataFrame({"important": [1.0]})
    own = Parts(gained, possible, pd.Series({"important": False}))
    assert own.score == 0.6
    value, low, _ = corrected(own, {"important": rates(0.8, 0.9)})
    assert value == pytest.approx(4 / 7)
    assert np.isnan(low)  # one scenario
    assert corrected(own, {"important": rates(1, 1)})[0] == pytest.approx(0.6)
    # With wrong moves worth a tenth, of which half seem avoided: 0.4/0.7 - 0.1 + 0.1 * (0.5 + 0.8 - 1)/0.7.
    gained["detrimental"], possible["detrimental"] = 0.05, 0.1
    both = Parts(gained, possible, pd.Series({"important": False, "detrimental": True}))
    assert both.score == pytest.approx(0.55)
    found = corrected(both, dict.fromkeys(("important", "detrimental"), rates(0.8, 0.9)))[0]
    assert found == pytest.approx(0.4 / 0.7 - 0.1 + 0.1 * 0.3 / 0.7)


def simulated(rng, n_labels):
    """One condition with true passes at a rate that varies by scenario, and labels on other briefs."""
    truth, sensitivity, specificity = 0.55, 0.85, 0.9
    easy = np.clip(rng.normal(truth, 0.1, 10), 0, 1)
    true = rng.random((10, 60)) < easy[:, None]
    seen = np.where(true, rng.random(true.shape) < specificity, rng.random(true.shape) > sensitivity)
    gained = pd.DataFrame({"x": seen.mean(axis=1)})
    label = rng.random(n_labels) < truth
    verdict = np.where(label, rng.random(n_labels) < specificity, rng.random(n_labels) > sensitivity)
    known = error_rates(
        pd.Series(label, dtype=float), pd.Series(verdict, dtype=float), pd.Series(np.arange(n_labels) // 15)
    )
    return Parts(gained, gained * 0 + 1, pd.Series({"x": False})), known


def test_the_interval_covers_what_is_true():
    rng = np.random.default_rng(5)
    inside, near = [], []
    for _ in range(400):
        own, known = simulated(rng, 150)
        value, low, high = corrected(own, {"x": known})
        inside.append(low <= 0.55 <= high)
        near.append(value)
    assert 0.92 <= np.mean(inside) <= 0.985
    assert np.mean(near) == pytest.approx(0.55, abs=0.01)
    assert simulated(rng, 10)[0].score > 0  # the raw score stays what it was


def test_fewer_labels_give_a_wider_interval():
    widths = []
    for n in (40, 150, 1000):
        own, known = simulated(np.random.default_rng(1), n)
        _, low, high = corrected(own, {"x": known})
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


def test_an_interval_of_hardly_any_information_is_none():
    own, _ = simulated(np.random.default_rng(1), 100)
    assert np.isnan(corrected(own, {"x": rates(0.55, 0.55, n=20)})[1])


@pytest.fixture(scope="module")
def graded():
    return make_graded(SCENARIOS, n_models=4)


def made(graded, labels, **more):
    return paper_results(
        graded, SCENARIOS, SEVERITY, word_cap=3000, prompt="v0", judge=JUDGE, labels=labels, **more
    )


def test_the_parts_of_a_score_add_up_to_it(graded):
    results = made(graded, [])
    own = results.verdicts[(results.verdicts["judge"] == JUDGE) & results.verdicts["passed"].notna()]
    found = parts(own.assign(**{"class": own["severity"]}), results.brief_codes(own))
    scores = results.board.set_index("condition")["score"]
    assert {name: one.score for name, one in found.items()} == pytest.approx(scores.to_dict())


def test_corrected_scores_come_nearer_to_the_truth(graded):
    """The judge's verdicts are the truth here; a copy of it that overlooks fails is corrected towards it."""
    truth = {entry.condition: entry for entry in graded if entry.judge == JUDGE}
    lenient = [entry for entry in graded if entry.judge != JUDGE]
    rng = np.random.default_rng(4)
    labels = [
        ExpertLabel("ann", entry.condition, v.scenario_id, v.seed, v.item_id, v.passed)
        for entry in truth.values()
        for v in entry.verdicts
        if v.passed is not None and rng.random() < 0.05
    ]
    results = paper_results(lenient, SCENARIOS, SEVERITY, word_cap=3000, prompt="v0", labels=labels)
    table = TABLES["corrected-scores"](results).frame.set_index("condition")
    right = made(list(truth.values()), []).board.set_index("condition")["score"]
    assert (abs(table["corrected"] - right) < abs(table["score"] - right) / 2).all()
    assert ((table["low"] < right) & (right < table["high"])).all()
    errors = TABLES["judge-errors"](results).frame.set_index("class")
    assert errors.loc["important", "sensitivity"] == pytest.approx(0.85, abs=0.05)
    assert errors.loc["important", "specificity"] == 1


def test_labels_that_miss_a_severity_correct_nothing_and_say_so(graded):
    rubric = {(name, item.item_id): item for name, one in SCENARIOS.items() for item in one.items}
    labels = [
        label
        for label in make_labels(graded, SCENARIOS, n_items=300)
        if rubric[label.scenario_id, label.item_id].severity != "detrimental"
    ]
    table = TABLES["corrected-scores"](made(graded, labels)).frame
    assert table["corrected"].isna().all()
    assert (table["why"] == "detrimental: no labels").all()
    assert table["score"].notna().all()


def test_the_table_of_stand_ins_counts_raters(graded):
    table = TABLES["alternative-annotator"](made(graded, make_labels(graded, SCENARIOS))).frame
    whole = table[(table["judge"] == JUDGE) & (table["rater"] == "all")].iloc[0]
    each = table[(table["judge"] == JUDGE) & (table["rater"] != "all")]
    assert list(each["rater"]) == ["rater1", "rater2", "rater3", "rater4"]
    assert whole["winning_rate"] == (each["rejected"] == "yes").mean() == 1
    assert whole["stands_in"] == "yes"
    assert whole["advantage"] == pytest.approx(each["advantage"].mean())


def test_raters_who_guess_are_named_beside_the_answer(graded):
    labels, rng = make_labels(graded, SCENARIOS), np.random.default_rng(1)
    guessed = [replace(label, passed=bool(rng.integers(2))) for label in labels]
    said = "The raters agree hardly more than by chance (Krippendorff's alpha "
    notes = [TABLES["alternative-annotator"](made(graded, own)).notes for own in (labels, guessed)]
    assert [any(note.startswith(said) for note in own) for own in notes] == [False, True]


def test_one_rater_has_no_stand_in(graded):
    labels = make_labels(graded, SCENARIOS, n_raters=1)
    with pytest.raises(NotEnoughError, match="labels of one rater"):
        TABLES["alternative-annotator"](made(graded, labels))
    assert len(TABLES["judge-errors"](made(graded, labels)).frame) == 10


def test_a_majority_of_repeats_gains_over_one(graded):
    """Three noisy repeats of the truth: their majority is nearer to the labels than each of them."""
    rng = np.random.default_rng(8)
    entry = next(entry for entry in graded if entry.judge == JUDGE)
    verdicts, repeats = [], []
    for v in entry.verdicts:
        said = [bool(v.passed) ^ bool(rng.random() < 0.15) for _ in range(3)]
        repeats += [
            (number, type(v)(v.scenario_id, v.seed, v.item_id, v.status, one))
            for number, one in enumerate(said, 1)
        ]
        verdicts.append(type(v)(v.scenario_id, v.seed, v.item_id, v.status, sum(said) > 1))
    labels = make_labels([entry], SCENARIOS, n_raters=1, n_items=600, wrong=0)
    noisy = type(entry)(entry.about, entry.briefs, verdicts, repeats)
    results = paper_results([noisy], SCENARIOS, SEVERITY, word_cap=3000, prompt="v0", labels=labels)
    table = TABLES["table-11-judges-against-experts"](results).frame.set_index("which")
    kappas = table.loc[["repeat 1", "repeat 2", "repeat 3"], "kappa"]
    row = table.loc["verdicts"]
    assert row["gain"] == pytest.approx(row["kappa"] - kappas.mean())
    assert 0 < row["gain_low"] < row["gain"] < row["gain_high"]
    # A majority of three errs on 3 p^2 - 2 p^3 of the items.
    assert row["agreement"] == pytest.approx(1 - 3 * 0.15**2 + 2 * 0.15**3, abs=0.03)
