"""The offline judge on a scenario: beside the expert's report where there is one, else by the items alone."""

from __future__ import annotations

from flows.schema.scenario import Scenario
from flows.stages.offline import ItemGrade, grade_offline
from flows.stages.offline.reference import grade_against_reference


def grade_by_rule(scenario: Scenario, text: str) -> list[ItemGrade]:
    """A grade for every item of a brief, in rubric order."""
    if scenario.reference is None:
        return grade_offline(scenario.items, text)
    return grade_against_reference(scenario.items, text, scenario.reference)
