"""Draw the leaderboard and breakdowns as SVG, without a plotting library or fonts, reproducibly.

No figure mixes judges. Nothing is shown by colour alone: values are printed next to points and in
cells, segments have patterns and counts. Each figure is also described in its `<desc>`.
"""

from flows.stages.figure.modes import ModeRow, mode_figure
from flows.stages.figure.rates import Rate, RateRow, rate_figure
from flows.stages.figure.score import score_figure

__all__ = ["ModeRow", "Rate", "RateRow", "mode_figure", "rate_figure", "score_figure"]
