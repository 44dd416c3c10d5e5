"""Scenarios with known effects, and tables read back."""

from flows.pipeline.results.graded import scored
from flows.stages.aggregate import scenario_means
from flows.stages.paper import TABLES
from tests.support.paper_results import JUDGE, SEVERITY, make_scenarios

SCENARIOS = make_scenarios()


def frame(results, name):
    return TABLES[name](results).frame


def entries(graded, judge=JUDGE):
    return {entry.condition: entry for entry in graded if entry.judge == judge}


def means(entry):
    return scenario_means(scored(entry, SCENARIOS, SEVERITY).scores, lambda score: score.score)


def items():
    return {(name, item.item_id): item for name, one in SCENARIOS.items() for item in one.items}
