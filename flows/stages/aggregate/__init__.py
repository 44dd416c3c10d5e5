"""Aggregate brief scores into a condition's estimate, interval and breakdowns.

Seeds are averaged within a scenario, then scenarios are averaged. Intervals are over scenarios, the unit of
sampling (MA-Bench, 5.1 and figure 1).
"""

from flows.stages.aggregate.breakdown import UNCLASSED, UNSTATED, Grouping, breakdowns
from flows.stages.aggregate.estimate import (
    Difference,
    aggregate,
    covered_whole,
    mean_difference,
    ranked,
    scenario_means,
)
from flows.stages.aggregate.interval import FEWEST_SCENARIOS, interval_over, most_unlike

AGGREGATE_VERSION = "2"
"""Increment when the same scores give another estimate."""

__all__ = [
    "AGGREGATE_VERSION",
    "FEWEST_SCENARIOS",
    "UNCLASSED",
    "UNSTATED",
    "Difference",
    "Grouping",
    "aggregate",
    "breakdowns",
    "covered_whole",
    "interval_over",
    "mean_difference",
    "most_unlike",
    "ranked",
    "scenario_means",
]
