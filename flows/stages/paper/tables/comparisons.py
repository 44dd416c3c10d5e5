"""Paired comparisons of conditions, and the ranks that they support."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.statistics import holm
from flows.stages.paper.table import NAMED, Column, Table, of_kind
from flows.stages.paper.tables.ablations import paired

_LEVEL = 0.05


def comparisons(results: Results) -> Table:
    """Every pair of the benchmark's conditions on their shared scenarios, corrected over all pairs."""
    frame = _pairs(results)
    for name in ("first", "second"):
        frame[f"{name}_name"] = frame[name].map(results.names)
    return Table(
        "Paired comparisons",
        (
            *of_kind("text", first="", second="", first_name="model", second_name="other model"),
            *of_kind("signed", difference="difference", low="low", high="high"),
            Column("n_scenarios", "scenarios", "count"),
            *of_kind("p", p="p", p_holm="p, Holm"),
        ),
        frame,
        (
            (
                "Difference: mean over shared scenarios of the model's score minus the other's. p: two-sided "
                "sign-flip test over scenarios, exact up to 15; Holm: over all pairs of the table."
            ),
            _smallest(frame),
        ),
    )


def _pairs(results: Results) -> pd.DataFrame:
    means = results.scenario_means()
    names = [name for name in results.at_benchmark if name in means.index]
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
    text = f"With {n} scenarios and {len(frame)} pairs, no corrected p can be below {least:.4f}"
    return f"{text}, so no pair can be told apart at {_LEVEL:g}." if least > _LEVEL else f"{text}."


def groups(results: Results) -> Table:
    """For each condition the ranks that it may have, and whether it can be told from the best."""
    pairs = _pairs(results)
    clear = pairs[(pairs["p_holm"] < _LEVEL) & pairs["difference"].notna()]
    ahead = clear["difference"] > 0
    better = clear["first"].where(ahead, clear["second"]).value_counts()
    worse = clear["second"].where(ahead, clear["first"]).value_counts()
    board = results.board[results.board["at_benchmark"] & results.board["score"].notna()]
    frame = results.named(board[["condition", "score"]].reset_index(drop=True))
    names = frame["condition"].astype(object)
    against = pairs[pairs["first"] == names[0]].set_index("second")
    frame["rank"] = frame["score"].rank(ascending=False, method="min")
    frame["best_rank"] = 1 + names.map(worse).fillna(0)
    frame["worst_rank"] = len(frame) - names.map(better).fillna(0)
    frame["behind"] = -names.map(against["difference"])
    frame["p_leader"] = names.map(pd.Series(holm(against["p"]), against.index))
    frame["with_leader"] = (frame["p_leader"] < _LEVEL).map({True: "no", False: "yes"})
    return Table(
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
        (
            (
                "Best and worst rank: after every pair that the sign-flip test with Holm's correction over "
                f"all pairs tells apart at {_LEVEL:g}."
            ),
            (
                "p: against the condition with the highest score, with Holm's correction over these "
                "comparisons alone. The highest score was chosen by the same data; its lead is not tested."
            ),
            _smallest(pairs),
        ),
    )
