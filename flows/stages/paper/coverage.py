"""Which scenarios conditions cover, which of them may be ranked, and means over scenarios."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from flows.schema.leaderboard import ranked_coverage


def covered(scores: pd.Series) -> dict[str, frozenset[str]]:
    """Return the scenarios of each condition of which every brief has a score.

    `scores` are of briefs, by condition and scenario; NaN for a brief without one.
    """
    known = scores.notna()
    whole = known[known.groupby("condition", observed=True).transform("all")]
    places = whole.index.to_frame(index=False).groupby("condition", observed=True)["scenario_id"]
    return {str(condition): frozenset(map(str, names)) for condition, names in places}


def comparable(scenarios: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the conditions that may be ranked, by the scenarios that each covers, as on the leaderboard."""
    ranking = ranked_coverage(scenarios.values())
    return frozenset(condition for condition, names in scenarios.items() if names == ranking)


def over_scenarios(values: Any) -> Any:
    """Return means by condition: over the seeds of a scenario, then over scenarios.

    The index of a frame or series names the condition and the scenario.
    """
    by_scenario = values.groupby(["condition", "scenario_id"], observed=True).mean()
    return by_scenario.groupby("condition", observed=True).mean()
