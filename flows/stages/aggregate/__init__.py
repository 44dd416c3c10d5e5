"""Aggregate brief scores into a condition's estimate, interval and breakdowns.

Seeds are averaged within a scenario, then scenarios are averaged. Intervals resample scenarios, the
unit of sampling (MA-Bench, 5.1 and figure 1).
"""

from flows.stages.aggregate.breakdown import UNCLASSED, UNSTATED, Count, Grouping, breakdown, breakdowns
from flows.stages.aggregate.estimate import Difference, aggregate, paired_difference
from flows.stages.aggregate.interval import bootstrap, most_unlike

AGGREGATE_VERSION = "1"
"""Increment when the same scores give another estimate."""

__all__ = [
    "AGGREGATE_VERSION",
    "UNCLASSED",
    "UNSTATED",
    "Count",
    "Difference",
    "Grouping",
    "aggregate",
    "bootstrap",
    "breakdown",
    "breakdowns",
    "most_unlike",
    "paired_difference",
]
