"""Paired comparisons of conditions, and the ranks that they support."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.statistics import holm
from flows.stages.paper.table import Column, Table, of_kind
from flows.stages.paper.tables.ablations import paired

_LEVEL = 0.05


def comparisons(results: Results) -> Table:
    """Every pair of the benchmark's conditions on their shared scenarios, corrected over all pairs."""
    frame = _pairs(results)
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
    frame["p_holm"] = holm(frame["p"])
    frame["first_name"] = frame["first"].map(results.names)
    frame["second_name"] = frame["second"].map(results.names)
    return frame


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
    better = clear["first"].where(clear["difference"] > 0, clear["second"])
    worse = clear["second"].where(clear["difference"] > 0, clear["first"])
    rows = results.board[results.board["at_benchmark"] & results.board["score"].notna()].reset_index(
        drop=True
    )
    leader = rows.loc[0, "condition"]
    against = pairs[pairs["first"] == leader].copy()
    against["p_leader"] = holm(against["p"])
    against = against.set_index("second")
    frame = pd.DataFrame(
        {
            "condition": rows["condition"],
            "name": rows["condition"].map(results.names),
            "score": rows["score"],
            "rank": rows["score"].rank(ascending=False, method="min"),
            "best_rank": [1 + int((worse == name).sum()) for name in rows["condition"]],
            "worst_rank": [len(rows) - int((better == name).sum()) for name in rows["condition"]],
            "behind": -rows["condition"].map(against["difference"]),
            "p_leader": rows["condition"].map(against["p_leader"]),
        }
    )
    with_leader = frame["p_leader"].isna() | (frame["p_leader"] >= _LEVEL)
    frame["with_leader"] = with_leader.map({True: "yes", False: "no"})
    return Table(
        "Groups that can't be told apart",
        (
            *of_kind("text", condition="", name="model"),
            Column("score", "score"),
            *of_kind("count", rank="rank", best_rank="best rank", worst_rank="worst rank"),
            Column("behind", "against the best", "signed"),
            Column("p_leader", "p, Holm", "p"),
            Column("with_leader", "may be the best", "text"),
        ),
        frame,
        (
            (
                f"Best and worst rank: after every pair that the sign-flip test with Holm's correction over "
                f"all pairs tells apart at {_LEVEL:g}."
            ),
            (
                "p: against the condition with the highest score, with Holm's correction over these "
                "comparisons alone. The highest score was chosen by the same data; its lead is not tested."
            ),
            _smallest(pairs),
        ),
    )
