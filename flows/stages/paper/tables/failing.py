"""Where conditions fail: pass rates by tier and step, failure modes, and where the points went."""

import numpy as np
import pandas as pd

from flows.common.text import words
from flows.stages.paper.results import BRIEF, POOLED, NotEnoughError, Results
from flows.stages.paper.table import NAMED, Column, Table, of_kind, slug
from flows.stages.paper.tables.main import severities, tiers

MODES = ("omission", "partial", "incorrect", "unsupported")
UNSTATED = "unstated"
DETRIMENTAL = ("detrimental", "critically_detrimental")


def rates(results: Results, verdicts: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the pooled pass rate by keys, with counts and the interval of the scenarios' mean rates.

    The pooled rate weights each verdict alike, the interval each scenario alike.
    """
    grouped = verdicts.groupby(keys, observed=True)["passed"]
    frame = grouped.agg(n="count", n_passed="sum", rate="mean", n_all="size").reset_index()
    frame["n_ungraded"] = frame["n_all"] - frame["n"]
    by_scenario = verdicts.groupby([*keys, "scenario_id"], observed=True)["passed"].mean()
    ends = by_scenario.groupby(keys, observed=True).apply(lambda own: results.limits(own.to_numpy()))
    ends = pd.DataFrame(ends.tolist(), index=ends.index, columns=["low", "high"])
    ends = ends.clip(0, 1).reset_index()  # t knows no limits of a share
    return frame.merge(ends, on=keys, how="left")


def _rate_table(results: Results, title: str, verdicts: pd.DataFrame, by: Column) -> Table:
    """Return `rates` by a class of items for each condition, and pooled over the benchmark's conditions."""
    pooled = rates(results, verdicts[verdicts["condition"].isin(results.at_benchmark)], [by.name])
    own = rates(results, verdicts, ["condition", by.name]).astype({"condition": object})
    frame = pd.concat([pooled.assign(condition=POOLED), own], ignore_index=True)
    return Table.of(
        title,
        (
            *NAMED,
            by,
            *of_kind("share", rate="passed", low="low", high="high"),
            *of_kind("count", n_passed="passed", n="of", n_ungraded="ungraded"),
        ),
        results.in_order(frame, ["condition", by.name]),
        "Requirements only, pooled over verdicts. The rate weights verdicts alike. The interval is "
        "over the scenarios' own rates, so it weights scenarios alike; it ends at 0 and 100%.",
        "All: pooled over the conditions at the benchmark's cap and effort.",
    )


def _requirements(results: Results) -> pd.DataFrame:
    own = results.verdicts_once
    return own[~own["is_error"]]


def tier_rates(results: Results) -> Table:
    """Pass rates of requirements by tier (figure 3)."""
    if not tiers(results):
        raise NotEnoughError("items without tiers")
    by = Column("tier", "tier", "count")
    return _rate_table(results, "Requirements passed by tier", _requirements(results), by)


def step_rates(results: Results) -> Table:
    """Pass rates of requirements by step, long form (appendix G)."""
    own = _requirements(results)
    if not own["step"].notna().any():
        raise NotEnoughError("items without steps")
    by = Column("step", "step", "name")
    return _rate_table(results, "Requirements passed by mission-analysis step", own, by)


def failure_modes(results: Results) -> Table:
    """How failed requirements failed, and the wrong moves made (appendix H)."""
    own = results.verdicts_once
    at_benchmark = own[own["condition"].isin(results.at_benchmark)]
    pooled = at_benchmark.assign(condition=pd.Categorical([POOLED]).take(np.zeros(len(at_benchmark), int)))
    frame = pd.concat([_modes(pooled), _modes(own)], ignore_index=True)
    classes = DETRIMENTAL if own["severity"].isin(DETRIMENTAL).any() else ("any",)
    columns = [Column(f"share_{mode}", mode, "share") for mode in (*MODES, UNSTATED)]
    for name in classes:
        head = "penalties" if name == "any" else words(name)
        columns.append(Column(f"wrong_{name}", f"{head} made", "share"))
        columns.append(Column(f"wrong_{name}_n", f"{head} opportunities", "count"))
    return Table.of(
        "Failure modes",
        (*NAMED, Column("n_failed", "failed requirements", "count"), *columns),
        results.in_order(frame, ["condition"]),
        "Shares of failed requirements by mode; unstated: the judge was not asked for a mode.",
        "Made: share of the opportunities for a wrong move in which the judge flagged it.",
        "All: pooled over the conditions at the benchmark's cap and effort.",
    )


def _modes(verdicts: pd.DataFrame) -> pd.DataFrame:
    failed = verdicts.loc[~verdicts["is_error"] & (verdicts["passed"] == 0), ["condition", "mode"]]
    modes = failed["mode"].cat.set_categories([*MODES, UNSTATED]).fillna(UNSTATED)
    counts = failed.assign(mode=modes).groupby(["condition", "mode"], observed=False).size().unstack("mode")
    frame = pd.DataFrame(index=pd.Index(verdicts["condition"].unique().astype(object), name="condition"))
    frame["n_failed"] = counts.sum(axis=1)
    for mode in (*MODES, UNSTATED):
        frame[f"share_{mode}"] = counts[mode] / frame["n_failed"].replace(0, np.nan)
    errors = verdicts[verdicts["is_error"] & verdicts["passed"].notna()]
    for name in (*DETRIMENTAL, "any"):
        chosen = errors if name == "any" else errors[errors["severity"] == name]
        avoided = chosen.groupby("condition", observed=True)["passed"]
        frame[f"wrong_{name}"] = 1 - avoided.mean()
        frame[f"wrong_{name}_n"] = avoided.count().reindex(frame.index, fill_value=0)
    return frame.reset_index()


def _lost(results: Results) -> pd.DataFrame:
    """Return the verdicts that lost points, with `lost` as a share of the brief's positive points.

    The sum of `lost` over a brief is 1 minus its unclamped score. Only briefs with a score. Wrong moves are
    a group of their own in tiers and steps.
    """
    own = results.own_verdicts[
        ["condition", *BRIEF, "step", "tier", "severity", "is_error", "points", "passed"]
    ]
    own = own[own["passed"].notna()]
    own = own[results.on_scored_briefs(own)]
    brief = results.brief_codes(own)
    total = np.bincount(brief, weights=own["points"].where(~own["is_error"], 0.0))
    failed = (own["passed"] == 0).to_numpy()
    if not failed.any():
        raise NotEnoughError("no scored brief lost a point")
    if not own[["step", "tier", "severity"]].notna().any(axis=None):
        raise NotEnoughError("items without tiers, steps and severities")
    lost = own[failed].astype(dict.fromkeys(("condition", "scenario_id", "severity", "step"), object))
    lost["lost"] = lost["points"].abs() / total[brief[failed]]
    lost["tier"] = lost["tier"].map(lambda tier: "none" if pd.isna(tier) else f"{int(tier)}")
    is_error = lost["is_error"]
    lost["tier"] = lost["tier"].where(~is_error, "wrong moves")
    lost["step"] = lost["step"].where(lost["step"].notna(), "none").where(~is_error, "wrong moves")
    none = np.where(is_error, "wrong moves", "none")
    lost["severity"] = lost["severity"].where(lost["severity"].notna(), none)
    return lost


def _mean_lost(results: Results, lost: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the mean loss by condition (row) and group (column): over seeds, then scenarios."""
    place = ["condition", "scenario_id"]
    sums = lost.groupby([*place, by], observed=True)["lost"].sum().unstack(by)
    briefs = results.own_briefs
    n_briefs = briefs[briefs["score"].notna()].groupby(place, observed=True).size()
    means = sums.reindex(n_briefs.index).fillna(0).div(n_briefs, axis=0)
    return means.groupby("condition", observed=True).mean()


def missing_credit(results: Results) -> Table:
    """Share of the missing credit by tier, step and severity, over the benchmark's conditions."""
    lost = _lost(results)
    lost = lost[lost["condition"].isin(results.at_benchmark)]
    if not len(lost):
        raise NotEnoughError("no scored brief lost a point")
    parts: list[pd.DataFrame] = []
    for by in ("tier", "step", "severity"):
        if set(lost[by]) <= {"none", "wrong moves"}:
            continue
        means = _mean_lost(results, lost, by)
        means = means[means.index.isin(results.at_benchmark)].mean()
        part = pd.DataFrame({"by": by, "group": means.index, "lost": means.to_numpy()})
        part["share"] = part["lost"] / part["lost"].sum()
        parts.append(part.sort_values("lost", ascending=False) if by != "tier" else part)
    return Table.of(
        "Where the points went",
        (
            *of_kind("name", by="by", group="group"),
            Column("lost", "lost, of a score of 1"),
            Column("share", "share of the missing credit", "share"),
        ),
        pd.concat(parts, ignore_index=True),
        "Lost: points of failed requirements and of wrong moves made, divided by the points of all "
        "requirements; mean over seeds, scenarios and conditions. Within tier, step or severity the "
        "rows sum to 1 minus the mean unclamped score.",
    )


def missing_credit_by_model(results: Results) -> Table:
    """Share of the missing credit by tier and severity, for each condition."""
    lost = _lost(results)
    columns = [*NAMED, Column("lost", "lost, of a score of 1")]
    frame = pd.DataFrame({"lost": _mean_lost(results, lost, "tier").sum(axis=1)})
    groups = {"tier": [*map(str, tiers(results)), "wrong moves"], "severity": severities(results)}
    for by, names in groups.items():
        means = _mean_lost(results, lost, by)
        shares = means.reindex(columns=names, fill_value=0.0).div(
            means.sum(axis=1).replace(0, np.nan), axis=0
        )
        for name in names:
            frame[f"{by}_{slug(name)}"] = shares[name]
            head = f"tier {name}" if name.isdigit() else words(name)
            columns.append(Column(f"{by}_{slug(name)}", head, "share"))
    frame = results.in_order(frame.reset_index(), ["condition"])
    return Table("Where each condition's points went", columns, frame)
