"""The figures of a paper: each a Vega-Lite chart, made from the rows of its table."""

from collections.abc import Callable, Mapping

from flows.stages.paper.figures import failing, scores
from flows.stages.paper.figures.figure import Figure
from flows.stages.paper.results import Results

FIGURES: Mapping[str, Callable[[Results], Figure]] = {
    "figure-01-scores": scores.scores,
    "figure-03-tiers": failing.tiers,
    "figure-04-corpus": scores.corpus,
    "figure-07-effort": scores.effort,
    "figure-08-word-cap": scores.cap,
    "figure-09-judges": scores.judges,
    "figure-10-scores-by-judge": scores.by_judge,
    "appendix-g-steps": failing.steps,
    "appendix-h-failure-modes": failing.modes,
    "missing-credit": failing.missing_credit,
    "scenarios": scores.scenarios,
}
"""By the name of their files, as `TABLES`."""
