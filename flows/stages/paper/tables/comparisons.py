"""Whether ranks hold: paired comparisons of conditions, and scores under a grid of severity weights."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from flows.common.text import plural, words
from flows.stages.paper.coverage import over_scenarios
from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.statistics import correlation, holm
from flows.stages.paper.table import NAMED, Column, Table, of_kind
from flows.stages.paper.tables.ablations import paired

_LEVEL = 0.05
GRID = {
    "important": (4.0, 5.5, 7.0, 9.0),
    "slightly_important": (1.0, 2.0, 3.5),
    "detrimental": (-4.0, -5.5, -7.0, -9.0),
}
"""Weights tried for MA-Bench's severities without a published weight."""


def comparisons(results: Results) -> Table:
    """Every pair of the benchmark's conditions on their shared scenarios, corrected over all pairs."""
    frame = _pairs(results, results.at_benchmark)
    for name in ("first", "second"):
        frame[f"{name}_name"] = frame[name].map(results.names)
    return Table.of(
        "Paired comparisons",
        (
            *of_kind("text", first="", second="", first_name="model", second_name="other model"),
            *of_kind("signed", difference="difference", low="low", high="high"),
            Column("n_scenarios", "scenarios", "count"),
            *of_kind("p", p="p", p_holm="p, Holm"),
        ),
        frame,
        "Difference: mean over shared scenarios of the model's score minus the other's. p: two-sided "
        "sign-flip test over scenarios, exact up to 15; Holm: over all pairs of the table.",
        _smallest(frame),
    )


def _pairs(results: Results, conditions: Sequence[str]) -> pd.DataFrame:
    means = results.scenario_means()
    names = [name for name in conditions if name in means.index]
    if len(names) < 2:  # noqa: PLR2004 -- a pair
        raise NotEnoughError("a comparison takes two conditions")
    frame = pd.DataFrame(
        [
            {"first": first, "second": second, **paired(results, means, second, first)}
            for first, second in combinations(names, 2)
        ]
    )
    return frame.assign(p_holm=holm(frame["p"]))


def _smallest(frame: pd.DataFrame) -> str:
    """Say how small a corrected p could get: with few scenarios and many pairs, never below the level."""
    n = int(frame["n_scenarios"].max())
    if n < 2:  # noqa: PLR2004 -- no test
        return "No two conditions share two scenarios."
    least = min(1.0, len(frame) * 2 / 2**n)
    text = f"With {n} scenarios and {plural(len(frame), 'pair')}, no corrected p can be below {least:.4f}"
    return f"{text}, so no pair can be told apart at {_LEVEL:g}." if least > _LEVEL else f"{text}."


def groups(results: Results) -> Table:
    """For each condition the ranks that it may have, and whether it can be told from the best."""
    chosen = results.on_same_scenarios
    pairs = _pairs(results, chosen)
    clear = pairs[(pairs["p_holm"] < _LEVEL) & pairs["difference"].notna()]
    ahead = clear["difference"] > 0
    better = clear["first"].where(ahead, clear["second"]).value_counts()
    worse = clear["second"].where(ahead, clear["first"]).value_counts()
    board = results.board[results.board["condition"].isin(chosen) & results.board["score"].notna()]
    board = board.sort_values("score", ascending=False, kind="stable")
    frame = results.named(board[["condition", "score"]].reset_index(drop=True))
    names = frame["condition"].astype(object)
    against = pairs[pairs["first"] == names[0]].set_index("second")
    frame["rank"] = frame["score"].rank(ascending=False, method="min")
    frame["best_rank"] = 1 + names.map(worse).fillna(0)
    frame["worst_rank"] = len(frame) - names.map(better).fillna(0)
    frame["behind"] = -names.map(against["difference"])
    frame["p_leader"] = names.map(pd.Series(holm(against["p"]), against.index))
    frame["with_leader"] = (frame["p_leader"] < _LEVEL).map({True: "no", False: "yes"})
    return Table.of(
        "Groups that can't be told apart",
        (
            *NAMED,
            Column("score", "score"),
            *of_kind("count", rank="rank", best_rank="best rank", worst_rank="worst rank"),
            Column("behind", "against the best", "signed"),
            Column("p_leader", "p, Holm", "p"),
            Column("with_leader", "may be the best", "text"),
        ),
        frame,
        "Of the benchmark's conditions those with a score on the same scenarios.",
        "Best and worst rank: after every pair that the sign-flip test with Holm's correction over "
        f"all pairs tells apart at {_LEVEL:g}.",
        "p: against the condition with the highest score, with Holm's correction over these "
        "comparisons alone. The highest score was chosen by the same data; its lead is not tested.",
        _smallest(pairs),
    )


def weights_grid(results: Results) -> Table:
    """Rank stability and largest changes of the benchmark's conditions, for each set of severity weights."""
    own = results.verdicts_once
    own = own[own["condition"].isin(results.on_same_scenarios) & own["passed"].notna()]
    if own.empty:
        raise NotEnoughError("no verdict by this judge")
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
    return Table.of(
        "Severity weights",
        (
            Column("weights", "weights", "text"),
            *(
                Column(
                    f"weight_{name}",
                    f"{words(name)}{' (assumed)' if name in results.assumed else ''}",
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
        "Of the benchmark's conditions those with a score on the same scenarios.",
        "First row: the weights of the other tables. Grid: every combination of values for the "
        "assumed weights. Scores are unclamped.",
        *([] if np.isnan(steady) else [f"Lowest rank correlation in the grid: {steady:.3f}."]),
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
    possible = pd.Series(counts["size"].to_numpy(float) @ np.maximum(points, 0), counts.index)
    return over_scenarios(gained / possible.where(possible > 0))
