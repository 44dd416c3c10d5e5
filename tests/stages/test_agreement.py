"""Agreement of verdicts with labels, against tables worked by hand."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.stages.agreement import (
    LabelledVerdict,
    compare_verdicts,
    measure_agreement,
    measure_self_agreement,
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
    assert ("tier=3", 0, None, None) in result.groups


def test_groups_by_tier_severity_and_polarity():
    pairs = (
        table(2, 0, 1, 1, tier=Tier.inferred, severity=Severity.detrimental)
        + table(1, 1, 0, 2, tier=Tier.stated, severity=Severity.critically_important)
        + table(1, 0, 0, 0, tier=Tier.stated, severity=Severity.important)
    )
    groups = {name: rest for name, *rest in measure_agreement("x", pairs).groups}
    assert list(groups) == [
        "tier=1",
        "tier=3",
        "severity=critically_important",
        "severity=important",
        "severity=detrimental",
        "polarity=positive",
        "polarity=negative",
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
    of = item()
    pairs = [(of, True, True)] * 3 + [(of, True, False)] + [(of, False, False)] * 2
    missing = [(of, None, True), (of, None, False), (of, False, None), (of, None, None)]
    found = compare_verdicts("judge-b", pairs + missing)
    # n = 6, p_o = 5/6; passed 4/6 and 3/6; p_e = 1/3 + 1/6 = 1/2; kappa = (1/3) / (1/2) = 2/3.
    assert (found.labels, found.n, found.n_ungraded) == ("judge-b", 6, 4)
    assert found.accuracy == pytest.approx(5 / 6)
    assert found.kappa == pytest.approx(2 / 3)
    turned = compare_verdicts("judge-a", [(of, second, first) for of, first, second in pairs + missing])
    assert (turned.n, turned.accuracy, turned.kappa) == (found.n, found.accuracy, found.kappa)


def test_a_judge_against_itself():
    of = item()
    asked = [
        (of, [True, True, True]),
        (of, [True, False, True]),
        (of, [False, False, False]),
        (of, [True, None, True]),
    ]
    found = measure_self_agreement(asked)
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
    assert measure_self_agreement([(item(), [True])]) is None
    nothing = measure_self_agreement([(item(), [None, True])])
    assert (nothing.n, nothing.n_ungraded, nothing.unanimous) == (0, 1, None)
    with pytest.raises(ValueError, match=r"items with \[1, 2\] repeats"):
        measure_self_agreement([(item(), [True]), (item(), [True, True])])
