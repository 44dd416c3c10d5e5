"""Agreement of verdicts with labels, against tables worked by hand."""

import random
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.stages.agreement import (
    LabelledVerdict,
    Repeated,
    compare_verdicts,
    measure_agreement,
    measure_self_agreement,
    window_overlap,
)


def item(tier=Tier.stated, severity=Severity.important):
    return Item(
        item_id="x",
        step=Step.facts,
        tier=tier,
        severity=severity,
        requirement="r",
        ground_truth="g",
        pass_condition="p",
        fail_condition="f",
        source=(Evidence("d.md", "q"),),
        rationale="w",
    )


def table(both_passed, only_label, only_verdict, both_failed, **of_item):
    of = item(**of_item)
    return (
        [LabelledVerdict(of, label=True, verdict=True)] * both_passed
        + [LabelledVerdict(of, label=True, verdict=False)] * only_label
        + [LabelledVerdict(of, label=False, verdict=True)] * only_verdict
        + [LabelledVerdict(of, label=False, verdict=False)] * both_failed
    )


def test_a_worked_table():
    # n = 50; p_o = 35/50 = 0.7; labels pass 25/50, verdicts pass 30/50;
    # p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4.
    result = measure_agreement("controls", table(20, 5, 10, 15))
    assert (result.labels, result.n, result.n_ungraded) == ("controls", 50, 0)
    assert result.accuracy == 0.7
    assert result.kappa == pytest.approx(0.4, abs=1e-15)


def test_a_second_worked_table_with_unlike_margins():
    # n = 10; p_o = 6/10; labels pass 4/10, verdicts pass 6/10;
    # p_e = 0.24 + 0.24 = 0.48; kappa = 0.12 / 0.52 = 3/13.
    result = measure_agreement("x", table(3, 1, 3, 3))
    assert result.accuracy == 0.6
    assert result.kappa == pytest.approx(3 / 13, abs=1e-15)


def test_full_agreement_is_one_and_full_disagreement_of_even_margins_is_minus_one():
    assert measure_agreement("x", table(3, 0, 0, 2)).kappa == 1.0
    assert measure_agreement("x", table(0, 2, 2, 0)).kappa == -1.0


@pytest.mark.parametrize("cells", [(4, 0, 3, 0), (4, 3, 0, 0), (0, 0, 2, 5), (5, 0, 0, 0), (0, 0, 0, 5)])
def test_a_side_that_never_varies_has_an_accuracy_and_no_kappa(cells):
    result = measure_agreement("x", table(*cells))
    assert result.accuracy == (cells[0] + cells[3]) / sum(cells)
    assert result.kappa is None


def test_nothing_compared_is_null_and_not_zero():
    result = measure_agreement("x", [])
    assert (result.n, result.n_ungraded, result.accuracy, result.kappa, result.groups) == (
        0,
        0,
        None,
        None,
        (),
    )


def test_an_item_without_a_verdict_is_counted_apart():
    missing = LabelledVerdict(item(tier=Tier.inferred), label=True, verdict=None)
    result = measure_agreement("x", [*table(20, 5, 10, 15), missing, missing])
    assert (result.n, result.n_ungraded, result.accuracy) == (50, 2, 0.7)
    assert ("tier=3", 0, None, None) in [
        (group.labels, group.n, group.accuracy, group.kappa) for group in result.groups
    ]


def test_groups_by_tier_severity_and_polarity():
    pairs = (
        table(2, 0, 1, 1, tier=Tier.inferred, severity=Severity.detrimental)
        + table(1, 1, 0, 2, tier=Tier.stated, severity=Severity.critically_important)
        + table(1, 0, 0, 0, tier=Tier.stated, severity=Severity.important)
    )
    groups = {
        group.labels: [group.n, group.accuracy, group.kappa] for group in measure_agreement("x", pairs).groups
    }
    assert list(groups) == [
        "polarity=positive",
        "polarity=negative",
        "tier=1",
        "tier=3",
        "severity=critically_important",
        "severity=important",
        "severity=detrimental",
    ]
    # tier 1: cells 2, 1, 0, 2: p_o = 0.8, p_e = 0.6 * 0.4 + 0.4 * 0.6 = 0.48, kappa = 0.32 / 0.52.
    assert groups["tier=1"] == [5, 0.8, pytest.approx(8 / 13)]
    assert groups["polarity=positive"] == groups["tier=1"]
    # 2, 0, 1, 1: p_o = 0.75, p_e = 0.5 * 0.75 + 0.5 * 0.25 = 0.5, kappa = 0.5.
    assert groups["polarity=negative"] == groups["tier=3"] == [4, 0.75, 0.5]
    assert groups["severity=important"] == [1, 1.0, None]


def test_the_order_of_pairs_does_not_matter():
    pairs = [
        LabelledVerdict(item(), label=True, verdict=True),
        LabelledVerdict(item(tier=Tier.synthesis), label=False, verdict=True),
        LabelledVerdict(item(), label=False, verdict=None),
        LabelledVerdict(item(severity=Severity.detrimental), label=False, verdict=False),
    ]
    results = {measure_agreement("x", order) for order in permutations(pairs)}
    assert len(results) == 1
    assert results.pop().n_ungraded == 1


@given(st.tuples(*[st.integers(0, 40)] * 4).filter(any))
def test_the_closed_form_is_the_definition(cells):
    a, b, c, d = cells
    n = a + b + c + d
    chance = ((a + b) * (a + c) + (c + d) * (b + d)) / n**2
    result = measure_agreement("x", table(*cells))
    if result.kappa is None:
        assert 0 in (a + b, c + d, a + c, b + d)
    else:
        assert result.kappa == pytest.approx(((a + d) / n - chance) / (1 - chance), abs=1e-9)
        assert -1 <= result.kappa <= 1


def test_two_judges_are_compared_where_both_have_a_verdict():
    both = [(True, True)] * 3 + [(True, False)] + [(False, False)] * 2
    missing = [(None, True), (None, False), (False, None), (None, None)]
    asked = [Repeated(item(), verdicts) for verdicts in both + missing]
    found = compare_verdicts("judge-b", asked)
    # n = 6, p_o = 5/6; passed 4/6 and 3/6; p_e = 1/3 + 1/6 = 1/2; kappa = (1/3) / (1/2) = 2/3.
    assert (found.labels, found.n, found.n_ungraded) == ("judge-b", 6, 4)
    assert found.accuracy == pytest.approx(5 / 6)
    assert found.kappa == pytest.approx(2 / 3)
    assert (found.baselines, found.groups) == ((), ())  # neither side is labels
    turned = compare_verdicts("judge-a", asked, (1, 0))
    assert (turned.n, turned.accuracy, turned.kappa) == (found.n, found.accuracy, found.kappa)


def test_a_judge_against_itself():
    times = [[True, True, True], [True, False, True], [False, False, False], [True, None, True]]
    found = measure_self_agreement([Repeated(item(), verdicts) for verdicts in times])
    assert (found.n_repeats, found.n, found.n_ungraded) == (3, 3, 1)
    assert found.unanimous == pytest.approx(2 / 3)
    assert [pair.labels for pair in found.pairs] == [
        "repeat 1 against repeat 2", "repeat 1 against repeat 3", "repeat 2 against repeat 3",
    ]  # fmt: skip
    assert [(pair.n, pair.n_ungraded) for pair in found.pairs] == [(3, 1), (4, 0), (3, 1)]
    # Repeats 1 and 2: n 3, p_o 2/3, passed 2/3 and 1/3; p_e = 2/9 + 2/9; kappa = (2/9) / (5/9) = 0.4.
    assert [pair.kappa for pair in found.pairs] == pytest.approx([0.4, 1, 0.4])


def test_self_agreement_needs_repeats_and_of_every_item_as_many():
    assert measure_self_agreement([]) is None
    assert measure_self_agreement([Repeated(item(), [True])]) is None
    nothing = measure_self_agreement([Repeated(item(), [None, True])])
    assert (nothing.n, nothing.n_ungraded, nothing.unanimous) == (0, 1, None)
    with pytest.raises(ValueError, match=r"items with \[1, 2\] repeats"):
        measure_self_agreement([Repeated(item(), [True]), Repeated(item(), [True, True])])


def placed(cells, scenario="s", brief="b", overlap=None):
    return [replace(pair, scenario=scenario, brief=brief, overlap=overlap) for pair in table(*cells)]


def test_the_kappa_within_briefs_ignores_which_brief_it_is():
    # Strong: all but one pass by either side, by chance; weak the other way round.
    strong, weak = placed((8, 1, 1, 0), brief="strong"), placed((0, 1, 1, 8), brief="weak")
    result = measure_agreement("x", strong + weak)
    # Pooled 8, 2, 2, 8: kappa 0.6. Of each brief p_o = 0.8 and p_e = 0.81 + 0.01 = 0.82: both -1/9.
    assert result.kappa == pytest.approx(0.6)
    assert result.within == pytest.approx(-1 / 9)
    assert dict(result.baselines) == {"which brief": pytest.approx(0.8)}  # 9, 1, 1, 9


def test_briefs_count_within_by_their_size_and_room_above_chance():
    first, second = placed((4, 1, 0, 5), brief="1"), placed((10, 0, 10, 20), brief="2")
    # n(p_o - p_e): 10(0.9 - 0.5) = 4 and 40(0.75 - 0.5) = 10; n(1 - p_e): 5 and 20.
    assert measure_agreement("x", first + second).within == pytest.approx(14 / 25)


def test_margins_are_those_of_the_jackknife_over_scenarios():
    cells = [(30, 5, 5, 20), (20, 10, 5, 25), (25, 5, 10, 20)]
    pairs = [pair for n, each in enumerate(cells) for pair in placed(each, scenario=str(n))]
    result = measure_agreement("x", pairs)
    # Without each scenario in turn the accuracy is 90/120, 95/120, 95/120: mean 280/360, deviations -10/360,
    # 5/360, 5/360. The error is sqrt(2/3 * 150) / 360; t(2) at 97.5% is 4.302653 (tables).
    assert result.accuracy_margin == pytest.approx(4.302653 * 10 / 360, rel=1e-6)
    assert result.kappa_margin is not None
    assert result.within_margin is not None
    two = [pair for pair in pairs if pair.scenario != "2"]
    assert measure_agreement("x", two).kappa_margin is None  # too few scenarios


def test_a_margin_covers_the_kappa_of_all_scenarios_in_nineteen_of_twenty_draws():
    draw = random.Random(3)

    def scenario(name, n):
        hit, right = draw.gauss(0.82, 0.04), draw.gauss(0.82, 0.05)
        found = [0, 0, 0, 0]
        for _ in range(n):
            label = draw.random() < 0.5
            passed = draw.random() < (hit if label else 1 - right)
            found[2 * (not label) + (not passed)] += 1
        a, b, c, d = found
        return placed((a, b, c, d), scenario=name)

    truth = measure_agreement("x", [pair for n in range(400) for pair in scenario(str(n), 100)]).kappa
    draws = 300
    covered = 0
    for _ in range(draws):
        found = measure_agreement("x", [pair for n in range(5) for pair in scenario(str(n), 60)])
        covered += abs(found.kappa - truth) <= found.kappa_margin
    assert 0.90 <= covered / draws <= 0.985  # 95%, within four standard errors of 300 draws at most


def test_a_figure_at_or_below_a_baseline_says_which():
    # The judge passes what the labels fail; the overlap ranks as the labels do.
    good, bad = placed((3, 0, 0, 0), overlap=0.9), placed((0, 0, 0, 3), overlap=0.1)
    right = measure_agreement("x", good + bad)
    assert dict(right.baselines) == {"which brief": 0.0, "BM25": 1.0}
    assert right.no_better_than == ("BM25", 1.0)  # as good is no better
    half = measure_agreement("x", [*placed((2, 1, 1, 2), overlap=0.5)])
    assert half.kappa == pytest.approx(1 / 3)
    wrong = measure_agreement("x", placed((0, 3, 3, 0), overlap=0.5))
    assert wrong.kappa == -1.0
    assert wrong.no_better_than is not None
    assert measure_agreement("x", [replace(pair, verdict=None) for pair in good]).no_better_than is None


def test_bm25_fails_as_many_wrong_moves_as_the_labels_those_most_like_the_brief():
    of = item(severity=Severity.detrimental)
    pairs = [
        LabelledVerdict(of, label=label, verdict=True, overlap=overlap)
        for label, overlap in ((False, 0.9), (True, 0.2), (True, 0.1))
    ]
    assert dict(measure_agreement("x", pairs).baselines)["BM25"] == 1.0


def test_the_overlap_is_that_of_the_closest_three_sentences():
    asked = replace(item(), requirement="the ferry sank", ground_truth="")
    other = replace(item(), requirement="mayors resign", ground_truth="")
    # One window, of average length: each word counts idf * 2.5 / (1 + 1.5), of at most idf * 2.5.
    assert window_overlap([asked, other], "The ferry sank.") == [pytest.approx(0.4), 0.0]
    apart = "The ferry left. It rained. It snowed. It sank."
    assert window_overlap([asked], apart)[0] < window_overlap([asked], "The ferry left. It sank.")[0]
    assert window_overlap([asked], "") == [0.0]
