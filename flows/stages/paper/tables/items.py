"""Items: how hard they are, how well they separate, and which deserve another look."""

import numpy as np
import pandas as pd

from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.table import Column, Table, of_kind

_FEWEST_BRIEFS = 3


def items(results: Results) -> Table:
    """Difficulty, discrimination and disagreement of judges for every item, the odd ones first."""
    own = results.verdicts_once
    if not own["passed"].notna().any():
        raise NotEnoughError("no graded item")
    key = ["scenario_id", "item_id"]
    facts = own.drop_duplicates(key)[[*key, "step", "tier", "severity", "is_error", "points", "requirement"]]
    counts = own.groupby(key, observed=True)["passed"].agg(n="count", rate="mean").reset_index()
    frame = facts.merge(counts, on=key).merge(_discrimination(results, own), on=key, how="left")
    frame = frame.merge(_disagreement(results), on=key, how="left")
    frame["kind"] = np.where(frame["is_error"], *map(results.said, ("wrong move", "requirement")))
    frame["look"] = [
        results.said(_look(*values))
        for values in frame[["rate", "discrimination", "disagreement", "n"]].to_numpy(float)
    ]
    frame["_plain"] = frame["look"] == ""
    frame["look"] = frame["look"].replace("", None)
    frame = frame.sort_values(["_plain", *key], ignore_index=True)
    return Table.of(
        "Items",
        (
            *of_kind("text", scenario_id="scenario", item_id="item", kind="kind"),
            Column("step", "step", "name"),
            Column("tier", "tier", "count"),
            Column("severity", "severity", "name"),
            Column("points", "points"),
            Column("n", "briefs", "count"),
            Column("rate", "passed", "share"),
            Column("discrimination", "item-rest correlation", "signed"),
            Column("disagreement", "judges disagree", "share"),
            *of_kind("text", look="worth another look", requirement="requirement"),
        ),
        frame,
        "Item-rest correlation: of the item's pass with the share passed of the brief's other items, "
        "over briefs of all conditions; a dash if the item never varies. For a wrong move, a pass "
        "means that it was not made.",
        "Judges disagree: share of the briefs that several judges graded on which they differ.",
    )


def _look(rate: float, discrimination: float, disagreement: float, n: float) -> str:
    found: list[str] = []
    if rate == 0:
        found.append("nobody passes")
    if rate == 1:
        found.append("everybody passes")
    if n and discrimination < -2 / np.sqrt(n):  # beyond what chance gives in 19 of 20 items
        found.append("better briefs fail it more")
    if disagreement >= 0.3:  # noqa: PLR2004 -- a third, twice what the paper's judges differ on
        found.append("judges disagree")
    return ", ".join(found)


def _discrimination(results: Results, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Corrected item-total correlation (Nunnally 1978), the rest as a share so that gaps don't count."""
    parts: list[pd.DataFrame] = []
    for scenario, own in verdicts.groupby("scenario_id", observed=True):
        brief, _ = pd.factorize(results.brief_codes(own))
        item, names = pd.factorize(own["item_id"])
        wide = pd.Series(own["passed"].to_numpy(), [brief, item]).unstack()
        rest = wide.rsub(wide.sum(axis=1), axis=0).div(wide.count(axis=1) - 1, axis=0)
        values = [_correlation(wide[at].to_numpy(), rest[at].to_numpy()) for at in wide]
        parts.append(
            pd.DataFrame({"scenario_id": scenario, "item_id": names.astype(object), "discrimination": values})
        )
    return pd.concat(parts, ignore_index=True)


def _correlation(item: np.ndarray, rest: np.ndarray) -> float:
    known = ~np.isnan(item) & ~np.isnan(rest)
    item, rest = item[known], rest[known]
    if len(item) < _FEWEST_BRIEFS or np.ptp(item) == 0 or np.ptp(rest) < 1e-12:  # noqa: PLR2004 -- rounding
        return np.nan
    return float(np.corrcoef(item, rest)[0, 1])


def _disagreement(results: Results) -> pd.DataFrame:
    """Return the share of briefs on which judges differ, of those that several graded."""
    wide = results.by_judge
    passed = wide[results.judges].to_numpy()
    n = (~np.isnan(passed)).sum(axis=1)
    several = wide.loc[n > 1, ["scenario_id", "item_id"]]
    total = np.nansum(passed, axis=1)
    several = several.assign(disagreement=((total > 0) & (total < n))[n > 1])
    return several.groupby(["scenario_id", "item_id"], observed=True)["disagreement"].mean().reset_index()
