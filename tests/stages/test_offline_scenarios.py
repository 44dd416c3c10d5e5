"""The offline judge ranks the controls of the project's scenarios as people did."""

import random
import re
from pathlib import Path

import pytest
import yaml

from flows.schema.scenario import Item, Severity, Step, Tier
from flows.stages.offline import grade_offline

SCENARIOS = Path(__file__).resolve().parents[2] / "data" / "ma_bench"
WEIGHTS = {
    Severity.critically_important: 9.0,
    Severity.important: 5.5,
    Severity.slightly_important: 2.0,
    Severity.detrimental: -5.5,
    Severity.critically_detrimental: -9.0,
}


def rubric(scenario):
    rows = yaml.safe_load((SCENARIOS / scenario / "rubric.yaml").read_text("utf-8"))
    return [
        Item(
            item_id=row["item_id"],
            step=Step(row["step"]),
            tier=Tier(row["tier"]),
            severity=Severity(row["severity"]),
            requirement=row["requirement"],
            ground_truth=row["ground_truth"],
            pass_condition=row["pass_condition"],
            fail_condition=row["fail_condition"],
            source=(),
            rationale=row["rationale"],
        )
        for row in rows
    ]


def judged(scenario):
    return [item for item in rubric(scenario) if not item.is_error]


def share(items, brief):
    """Share of the points of requirements that the judge passes."""
    grades = zip(items, grade_offline(items, brief), strict=True)
    return sum(WEIGHTS[item.severity] for item, grade in grades if grade.passed) / sum(
        WEIGHTS[item.severity] for item in items
    )


def text_of(scenario, name):
    return (SCENARIOS / scenario / "controls" / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("scenario", sorted(path.name for path in SCENARIOS.iterdir() if path.is_dir()))
def test_strong_before_middle_before_weak_before_empty(scenario):
    items = judged(scenario)
    ranked = [share(items, text_of(scenario, name)) for name in ("strong", "middle", "weak")] + [
        share(items, "")
    ]
    assert ranked == sorted(ranked, reverse=True)
    assert len(set(ranked)) == len(ranked)
    assert ranked[-1] == 0.0


@pytest.mark.parametrize("scenario", ["karsa_relief", "tereva_line"])
def test_hostile_briefs_earn_next_to_nothing(scenario):
    items = judged(scenario)
    truths = [item.ground_truth for item in items]
    words = " ".join(sorted({word for truth in truths for word in re.findall(r"[A-Za-z]{4,}", truth)}))
    numbers = ", ".join(
        dict.fromkeys(number for truth in truths for number in re.findall(r"\d[\d.,]*", truth))
    )
    hostile = {
        "stuffed with the rubric's words": words,
        "every number of the rubric": f"Figures: {numbers}.",
        "every truth denied before": "\n\n".join(f"It is not the case that {truth}" for truth in truths),
        "every truth denied after": "\n\n".join(f"{truth} This is false." for truth in truths),
    }
    assert {
        name: round(share(items, text), 2) for name, text in hostile.items() if share(items, text) > 0.1
    } == {}


def test_the_words_of_each_truth_in_any_order_pass_as_the_page_of_the_judge_says():
    """A known weakness: the page gives 0.79 over all scenarios, which this seed repeats."""
    order, shares = random.Random(1), []
    for scenario in sorted(path.name for path in SCENARIOS.iterdir() if path.is_dir()):
        words = [item.ground_truth.split() for item in judged(scenario)]
        for each in words:
            order.shuffle(each)
        shares.append(share(judged(scenario), "\n\n".join(map(" ".join, words))))
    mean = sum(shares) / len(shares)
    page = Path(__file__).resolve().parents[2] / "docs/explanation/offline-judge.md"
    assert f"earn {mean:.2f}, more than the strong control's" in " ".join(page.read_text("utf-8").split())


@pytest.mark.parametrize("scenario", ["karsa_relief", "varn_corridor"])
def test_the_brief_of_one_scenario_earns_little_in_another(scenario):
    other = {"karsa_relief": "varn_corridor", "varn_corridor": "karsa_relief"}[scenario]
    items = judged(scenario)
    own, foreign = (share(items, text_of(name, "strong")) for name in (scenario, other))
    assert foreign < own / 4
