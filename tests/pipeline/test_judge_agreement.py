"""How far a judge agrees with labelled controls: which verdicts count, and how often."""

from dataclasses import replace

import pytest

from flows.pipeline.results.agreement.judges import (
    controls_agreement,
    judges_agreement,
    measure_place_effect,
    self_agreement,
)
from flows.pipeline.results.graded import Graded
from flows.schema.leaderboard import JudgeNote, Leaderboard
from flows.schema.scenario import Control, Evidence, Item, Scenario, Severity, Step, Tier
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.judge import shown_order
from flows.stages.notes import notes

STRONG, WEAK = "Forty trucks. The bridge holds.", "No trucks."

LABELS = {"strong": {"A": True, "B": True, "W": True}, "weak": {"A": False, "B": False, "W": True}}


def item(name, severity=Severity.important):
    texts = dict.fromkeys(("requirement", "ground_truth", "pass_condition", "fail_condition"), "x")
    source = (Evidence("a", "b"),)
    return Item(name, Step.facts, Tier.stated, severity, source=source, rationale="r", **texts)


SCENARIO = Scenario(
    scenario_id="port",
    title="t",
    assignment="a",
    documents=(),
    items=(item("A"), item("B"), item("W", Severity.detrimental)),
    controls={
        "strong": Control("strong", STRONG, LABELS["strong"]),
        "weak": Control("weak", WEAK, LABELS["weak"]),
        "oracle": Control("oracle", "What the expert wrote.", LABELS["strong"]),
    },
    synthetic=True,
    licence="CC-BY-4.0",
)

SCENARIOS = {"port": SCENARIO}


def verdict(name, seed, passed):
    status = VerdictStatus.unparsed if passed is None else VerdictStatus.graded
    return Verdict("port", seed, name, status, passed)


def graded(condition, *briefs, model="strong", judge="j", digest="d1", **more):
    """One condition; of each brief its text and the verdicts on A, B and W."""
    about = {"condition": {"label": condition, "model": model}, "judge": {"label": judge, "digest": digest}}
    rows = [{"scenario_id": "port", "seed": n, "text": text} for n, (text, _) in enumerate(briefs, 1)]
    verdicts = [
        verdict(name, seed, passed)
        for seed, (_, said) in enumerate(briefs, 1)
        for name, passed in zip("ABW", said, strict=True)
    ]
    return Graded(about, rows, verdicts, **more)


def told(*entries, scenarios=SCENARIOS):
    return [
        (one.labels, one.n, one.n_ungraded, one.accuracy, one.kappa)
        for one in controls_agreement(entries, scenarios)
    ]


# The judge is right on strong's A and W and wrong on its B; of weak right on B and W, and wrong on A.
ON_STRONG, ON_WEAK = (STRONG, (True, False, True)), (WEAK, (True, False, True))

# Labels pass 4 of 6 and so does the judge: both pass 3 and both fail 1. So p_o is 4/6,
# p_e = 4/6 * 4/6 + 2/6 * 2/6 = 20/36, and kappa (24 - 20) / (36 - 20) = 1/4.
BOTH = ("labelled controls", 6, 0, 4 / 6, 1 / 4)


def test_each_item_of_a_control_counts_once_however_often_it_was_handed_in():
    strong, weak = graded("strong-none", ON_STRONG), graded("weak-none", ON_WEAK, model="weak")
    assert told(strong, weak) == [BOTH]
    capped, effort = graded("strong-3000", ON_STRONG), graded("strong-high-none", ON_STRONG)
    assert told(strong, capped, effort, weak) == [BOTH]
    seeds = graded("strong-none", ON_STRONG, (STRONG, (True, True, True)))
    assert told(seeds, weak) == [BOTH]  # the first seed's verdicts


def test_an_item_without_a_verdict_is_counted_apart():
    # A has none; of B and W one is right.
    assert told(graded("s", (STRONG, (None, False, True)))) == [("labelled controls", 2, 1, 1 / 2, None)]
    assert told(graded("s", (STRONG, (None, None, None)))) == [("labelled controls", 0, 3, None, None)]


def test_a_cut_control_is_another_text_and_the_one_beside_it_counts():
    cut = graded("strong-2", ("Forty trucks.", (True, False, True)), ON_WEAK)
    # Only weak, of which the judge is right on two of three: both pass W, both fail B, the judge alone
    # passes A. p_o is 2/3, p_e = 1/3 * 2/3 + 2/3 * 1/3 = 4/9, kappa (6 - 4) / (9 - 4) = 2/5.
    assert told(cut) == [("labelled controls", 3, 0, 2 / 3, 2 / 5)]


def test_verdicts_on_a_text_that_was_the_control_are_not_held_against_its_labels_of_today():
    old, weak = graded("strong-none", ON_STRONG), graded("weak-none", ON_WEAK, model="weak")
    now = Control("strong", "Forty-one trucks.", {"A": True, "B": False, "W": True})
    scenarios = {"port": replace(SCENARIO, controls={**SCENARIO.controls, "strong": now})}
    assert told(old, scenarios=scenarios) == []
    assert told(old, weak, scenarios=scenarios) == [("labelled controls", 3, 0, 2 / 3, 2 / 5)]
    # Labels that were mended while the text stands hold for what was graded: then all three are right.
    mended = replace(SCENARIO.controls["strong"], labels=now.labels)
    scenarios = {"port": replace(SCENARIO, controls={**SCENARIO.controls, "strong": mended})}
    assert told(old, scenarios=scenarios) == [("labelled controls", 3, 0, 1.0, 1.0)]


def test_a_model_that_is_called_like_a_control_is_none():
    assert told(graded("strong-medium", ("My own brief.", (True, True, True)))) == []
    # Who hands a control's text in under another name has handed in the control.
    assert told(graded("mine", ON_WEAK, model="mine")) == [("labelled controls", 3, 0, 2 / 3, 2 / 5)]


def test_an_experts_report_and_what_another_harness_graded_are_left_out():
    assert told(graded("oracle", ("What the expert wrote.", (True, True, True)), model="oracle")) == []
    assert told(graded("strong", ON_STRONG, scores=[])) == []


def test_each_digest_of_a_judges_label_is_a_judge():
    first, second = "a" * 64, "b" * 64
    strong = graded("strong-none", ON_STRONG, digest=second)
    again = graded("strong-3000", (STRONG, (True, True, True)), digest=first)
    weak = graded("weak-none", ON_WEAK, model="weak", digest=second)
    named = [f"labelled controls (judge digest {sign * 16})" for sign in "ab"]
    # The first graded strong alone, and is right on all three; the second both.
    assert told(strong, weak, again) == [(named[0], 3, 0, 1.0, None), (named[1], *BOTH[1:])]
    # One that graded no control is named too: nobody is to take the other's figures for its own.
    other = graded("m", ("A brief.", (True, True, True)), model="m", digest=first)
    assert told(strong, weak, other) == [(named[0], 0, 0, None, None), (named[1], *BOTH[1:])]
    assert told(other, replace(other, about={**other.about, "judge": {"label": "j", "digest": "c"}})) == []


def test_judges_are_compared_with_one_another_and_themselves_by_digest():
    brief = ("A brief.", (True, True, True))
    entries = [
        graded("m", brief, digest="a" * 64),
        graded("n", ("Another.", (True, False, False)), digest="b" * 64),
        graded("m", ("A brief.", (True, True, False)), judge="k", digest="c" * 64),
        graded("n", ("Another.", (True, False, False)), judge="k", digest="c" * 64),
    ]
    found = [(judge, one.labels, one.n, one.accuracy) for judge, one in judges_agreement(entries, SCENARIOS)]
    assert found == [
        (f"j (judge digest {'a' * 16})", "k", 3, 2 / 3),
        (f"j (judge digest {'b' * 16})", "k", 3, 1.0),
    ]

    def asked(condition, text, times, digest):
        entry = graded(condition, (text, (True, True, True)), digest=digest)
        repeats = [(number, one) for number in range(1, times + 1) for one in entry.verdicts]
        return replace(entry, repeats=repeats)

    twice, thrice = asked("m", "One.", 2, "a"), asked("n", "Two.", 3, "b")
    own = self_agreement([twice, graded("o", brief, digest="b")], SCENARIOS)
    assert own is not None
    assert (own.n_repeats, own.n, own.unanimous) == (2, 3, 1.0)
    assert self_agreement([twice, thrice], SCENARIOS) is None  # of two judges, one asked twice, one thrice


RULES = ScoringSettings("severity", {}, clamped=False, assumed=[], interval_level=0.95, resamples=99)


def test_a_place_effect_takes_repeats_in_different_orders():
    places = {number: [one.item_id for one in shown_order(SCENARIO.items, number)] for number in (1, 2, 3)}
    # A judge that passes whatever stands first, and nothing else.
    repeats = [
        (number, verdict(name, 1, passed=place == 0))
        for number, order in places.items()
        for place, name in enumerate(order)
    ]
    entry = graded("m", (STRONG, (True, False, False)), repeats=repeats)
    assert measure_place_effect([entry], SCENARIOS, RULES) is None  # an older file, in one order
    entry.about["items_shuffled"] = True
    found = measure_place_effect([entry], SCENARIOS, RULES)
    values = [
        (order.index(name) / 2, float(order.index(name) == 0), name)
        for order in places.values()
        for name in order
    ]
    centred = [
        (
            place - sum(p for p, _, n in values if n == name) / 3,
            passed - sum(y for _, y, n in values if n == name) / 3,
        )
        for place, passed, name in values
    ]
    slope = sum(x * y for x, y in centred) / sum(x * x for x, _ in centred)
    assert slope < -0.5
    assert (found.change, found.interval, found.n) == (pytest.approx(slope), None, 9)
    judge = JudgeNote("j", is_stand_in=False, agreements=(), place_effect=found)
    (note,) = notes(Leaderboard("b", "severity", (), (judge,), ()))
    assert f"changes by {100 * slope:+.1f} points (9 verdicts)" in note
