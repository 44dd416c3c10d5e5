"""Scores under a grid of severity weights: do the assumed ones decide the ranking?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from flows.stages.paper.results import BRIEF, NotEnoughError, Results, over_scenarios
from flows.stages.paper.statistics import correlation
from flows.stages.paper.table import Column, Table, of_kind

GRID = {
    "important": (4.0, 5.5, 7.0, 9.0),
    "slightly_important": (1.0, 2.0, 3.5),
    "detrimental": (-4.0, -5.5, -7.0, -9.0),
}
"""Weights tried for MA-Bench's severities without a published weight."""


def weights_grid(results: Results) -> Table:
    """Rank stability and largest changes of the benchmark's conditions, for each set of severity weights."""
    own = results.verdicts_once
    own = own[own["condition"].isin(results.at_benchmark) & own["passed"].notna()]
    present = set(own["severity"].dropna().unique())
    if not results.weights or not present:
        raise NotEnoughError("items have points of their own")
    counts = _counts(results, own)
    if counts.empty:
        raise NotEnoughError("no brief has a score")
    base = _score(counts, results.weights)
    order = base.rank(ascending=False, method="min")
    rows: list[dict[str, object]] = []
    for name, weights in _sets(results, present):
        scores = _score(counts, weights)
        ranks = scores.rank(ascending=False, method="min")
        moved = (ranks - order).abs()
        rows.append(
            {
                "weights": name,
                **{f"weight_{severity}": weights[severity] for severity in results.weights},
                "rank_correlation": correlation(base, scores),
                "largest_move": moved.max(),
                "n_moved": (moved > 0).sum(),
                "largest_change": (scores - base).abs().max(),
                "best": results.names[str(scores.idxmax())] if scores.notna().any() else None,
                "best_score": scores.max(),
            }
        )
    frame = pd.DataFrame(rows)
    varied = frame[frame["weights"] == "grid"]
    steady = varied["rank_correlation"].min()
    return Table(
        "Severity weights",
        (
            Column("weights", "weights", "text"),
            *(
                Column(
                    f"weight_{name}",
                    f"{name.replace('_', ' ')}{' (assumed)' if name in results.assumed else ''}",
                )
                for name in results.weights
            ),
            Column("rank_correlation", "Spearman with the first"),
            *of_kind("count", n_moved="conditions moved", largest_move="largest move, places"),
            Column("largest_change", "largest change of a score"),
            Column("best", "best", "text"),
            Column("best_score", "its score"),
        ),
        frame,
        (
            (
                "First row: the weights of the other tables. Grid: every combination of values for the "
                "assumed weights. Scores are unclamped."
            ),
            *([] if np.isnan(steady) else [f"Lowest rank correlation in the grid: {steady:.3f}."]),
        ),
    )


def _sets(results: Results, present: set[str]) -> list[tuple[str, Mapping[str, float]]]:
    """Return named sets of weights; only the assumed ones that items have are varied."""
    weights = dict(results.weights)
    varied = {name: GRID[name] for name in results.assumed if name in GRID and name in present}
    found: list[tuple[str, Mapping[str, float]]] = [
        ("used", weights),
        ("equal", {name: float(np.sign(value)) for name, value in weights.items()}),
        ("no wrong moves", {name: max(value, 0.0) for name, value in weights.items()}),
        ("wrong moves doubled", {name: value * (2 if value < 0 else 1) for name, value in weights.items()}),
    ]
    if varied:
        found += [
            ("grid", {**weights, **dict(zip(varied, values, strict=True))})
            for values in product(*varied.values())
        ]
    return found


def _counts(results: Results, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count, by brief and severity, the graded items and those that count (met, or made)."""
    graded = verdicts[verdicts["passed"].notna()]
    graded = graded[results.on_scored_briefs(graded)]
    counted = np.where(graded["is_error"], 1 - graded["passed"], graded["passed"])
    key = ["condition", *BRIEF, "severity"]
    table = graded[key].assign(counted=counted).groupby(key, observed=True)["counted"]
    return pd.DataFrame(table.agg(["size", "sum"]).unstack("severity").fillna(0))


def _score(counts: pd.DataFrame, weights: Mapping[str, float]) -> pd.Series:
    """Return the score by condition: over seeds, then scenarios."""
    names = list(counts["sum"].columns)
    points = np.array([weights[name] for name in names])
    gained = counts["sum"].to_numpy(float) @ points
    possible = counts["size"].to_numpy(float) @ np.maximum(points, 0)
    shares = np.divide(gained, possible, out=np.full(len(gained), np.nan), where=possible > 0)
    return over_scenarios(pd.Series(shares, counts.index))
