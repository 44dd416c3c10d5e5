"""Leaderboard and breakdowns as SVG text, drawn directly: no plotting library, no fonts, equal bytes.

No figure mixes judges. Nothing is told by colour alone: values stand beside points and in cells,
segments carry patterns and counts. What a picture shows is also in its `<desc>`.
"""

from flows.stages.figure.modes import ModeRow, mode_figure
from flows.stages.figure.rates import Rate, RateRow, rate_figure
from flows.stages.figure.score import score_figure

__all__ = ["ModeRow", "Rate", "RateRow", "mode_figure", "rate_figure", "score_figure"]
