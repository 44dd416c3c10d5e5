"""The offline judge ranks the controls of the project's scenarios as people did."""

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


def points(items, brief):
    grades = zip(items, grade_offline(items, brief), strict=True)
    return sum(WEIGHTS[item.severity] for item, grade in grades if grade.passed != item.severity.is_error)


@pytest.mark.parametrize("scenario", ["karsa_relief", "varn_corridor"])
def test_strong_before_half_of_strong_before_weak_before_empty(scenario):
    items = rubric(scenario)
    strong, weak = (
        (SCENARIOS / scenario / "controls" / f"{name}.md").read_text("utf-8") for name in ("strong", "weak")
    )
    # Every other line that is no heading is taken out: half of the facts go, from all sections alike.
    facts = [line for line in strong.splitlines() if line.strip() and not line.startswith("#")]
    half = "\n".join(line for line in strong.splitlines() if line not in facts[::2])
    ranked = [points(items, brief) for brief in (strong, half, weak, "")]
    assert ranked == sorted(ranked, reverse=True)
    assert len(set(ranked)) == len(ranked)
    assert ranked[-1] == 0.0


@pytest.mark.parametrize("scenario", ["karsa_relief", "varn_corridor"])
def test_an_empty_brief_fails_every_requirement_and_makes_no_wrong_move(scenario):
    items = rubric(scenario)
    for item, grade in zip(items, grade_offline(items, " \n\u200b"), strict=True):
        assert grade.passed == item.severity.is_error


@pytest.mark.parametrize("scenario", ["karsa_relief", "varn_corridor"])
def test_the_brief_of_one_scenario_earns_little_in_another(scenario):
    other = {"karsa_relief": "varn_corridor", "varn_corridor": "karsa_relief"}[scenario]
    items = rubric(scenario)
    own, foreign = (
        points(items, (SCENARIOS / name / "controls" / "strong.md").read_text("utf-8"))
        for name in (scenario, other)
    )
    assert foreign < own / 4
