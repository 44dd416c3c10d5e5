"""From the scores of briefs to a condition's estimate, its interval, and what lies beneath it.

Seeds are averaged within a scenario, then scenarios are averaged; intervals resample scenarios, for
they are what a condition was sampled on (MA-Bench, 5.1 and figure 1).
"""

from flows.stages.aggregate.breakdown import UNSTATED, Count, Grouping, breakdown, breakdowns
from flows.stages.aggregate.estimate import Difference, aggregate, paired_difference
from flows.stages.aggregate.interval import bootstrap, most_unlike

AGGREGATE_VERSION = "1"
"""Raised when the same scores would give another estimate."""

__all__ = [
    "AGGREGATE_VERSION",
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
