"""Scores of briefs, and the rules of an estimate."""

from dataclasses import replace

from flows.schema.settings import IntervalMethod, ScoringSettings
from flows.schema.verdict import BriefScore

SCORING = ScoringSettings(
    name="severity", weights={}, clamped=False, assumed=[], interval_level=0.95, resamples=10_000
)
BOOTSTRAP = replace(SCORING, interval=IntervalMethod.bootstrap)


def scored(scenario_id, seed, score, *, correct=0.5, passed=0.25, wrong=1):
    return BriefScore(
        scenario_id, seed, score, min(max(score, 0.0), 1.0), score, score, correct, passed, wrong,
        n_items=10, n_graded=10, n_refused=0, n_unparsed=0, n_error=0,
    )  # fmt: skip


def unscored(scenario_id, seed, low, high, *, ungraded=10):
    return BriefScore(
        scenario_id, seed, None, None, low, high, None, None, None,
        n_items=10, n_graded=10 - ungraded, n_refused=ungraded, n_unparsed=0, n_error=0,
    )  # fmt: skip
