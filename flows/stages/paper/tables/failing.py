"""Where conditions fail: pass rates by tier and step, failure modes, and where the points went."""

from __future__ import annotations

import numpy as np
import pandas as pd

from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.table import Column, Kind, Table, of_kind, slug
from flows.stages.paper.tables.main import severities, tiers

POOLED = "all"
MODES = ("omission", "partial", "incorrect", "unsupported")
UNSTATED = "unstated"
DETRIMENTAL = ("detrimental", "critically_detrimental")

_OPPORTUNITIES: tuple[tuple[str, str, Kind], ...] = (("", "made", "share"), ("_n", "opportunities", "count"))


def rates(results: Results, verdicts: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the pooled pass rate by keys, with counts and the interval of the scenarios' mean rates.

    The pooled rate weights each verdict alike, the interval each scenario alike.
    """
    grouped = verdicts.groupby(keys, observed=True)["passed"]
    frame = grouped.agg(n="count", n_passed="sum", rate="mean", n_all="size").reset_index()
    frame["n_ungraded"] = frame["n_all"] - frame["n"]
    by_scenario = verdicts.groupby([*keys, "scenario_id"], observed=True)["passed"].mean()
    ends = by_scenario.groupby(keys, observed=True).apply(lambda own: results.limits(own.to_numpy()))
    ends = pd.DataFrame(ends.tolist(), index=ends.index, columns=["low", "high"]).reset_index()
    return frame.merge(ends, on=keys, how="left")


def _by_condition(results: Results, verdicts: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return `rates` by group for each condition, and pooled over the benchmark's conditions."""
    own = rates(results, verdicts, ["condition", by])
    pooled = rates(results, verdicts[verdicts["condition"].isin(results.at_benchmark)], [by])
    pooled["condition"] = POOLED
    frame = pd.concat([pooled, own.astype({"condition": object})], ignore_index=True)
    order = [POOLED, *results.order]
    frame["_place"] = frame["condition"].map({name: place for place, name in enumerate(order)})
    frame["name"] = frame["condition"].map({POOLED: POOLED, **results.names})
    return frame.sort_values(["_place", by], ignore_index=True)


_RATE_COLUMNS = (
    *of_kind("share", rate="passed", low="low", high="high"),
    *of_kind("count", n_passed="passed", n="of", n_ungraded="ungraded"),
)
_RATE_NOTES = (
    (
        "Requirements only, pooled over verdicts. The rate weights verdicts alike. The interval is over the "
        "scenarios' own rates, so it weights scenarios alike."
    ),
    "All: pooled over the conditions at the benchmark's cap and effort.",
)


def tier_rates(results: Results) -> Table:
    """Pass rates of requirements by tier (figure 3)."""
    if not tiers(results):
        raise NotEnoughError("items without tiers")
    frame = _by_condition(results, _requirements(results), "tier")
    head = (Column("condition", "", "text"), Column("name", "model", "text"), Column("tier", "tier", "count"))
    return Table("Requirements passed by tier", (*head, *_RATE_COLUMNS), frame, _RATE_NOTES)


def step_rates(results: Results) -> Table:
    """Pass rates of requirements by step, long form (appendix G)."""
    requirements = _requirements(results)
    if not requirements["step"].notna().any():
        raise NotEnoughError("items without steps")
    frame = _by_condition(results, requirements, "step")
    head = (Column("condition", "", "text"), Column("name", "model", "text"), Column("step", "step", "text"))
    return Table("Requirements passed by mission-analysis step", (*head, *_RATE_COLUMNS), frame, _RATE_NOTES)


def failure_modes(results: Results) -> Table:
    """How failed requirements failed, and the wrong moves made (appendix H)."""
    own = results.verdicts_once
    frames = [_modes(_pooled(results, own)), _modes(own)]
    frame = pd.concat([one.astype({"condition": object}) for one in frames], ignore_index=True)
    place = {name: number for number, name in enumerate([POOLED, *results.order])}
    frame = frame.sort_values("condition", key=lambda names: names.map(place), ignore_index=True)
    frame["name"] = frame["condition"].map({POOLED: POOLED, **results.names})
    is_of_severities = own["severity"].isin(DETRIMENTAL).any()
    classes = DETRIMENTAL if is_of_severities else ("any",)
    return Table(
        "Failure modes",
        (
            *of_kind("text", condition="", name="model"),
            Column("n_failed", "failed requirements", "count"),
            *(Column(f"share_{mode}", mode, "share") for mode in (*MODES, UNSTATED)),
            *(
                Column(
                    f"wrong_{name}{part}",
                    f"{name.replace('_', ' ')} {head}".replace("any", "penalties"),
                    kind,
                )
                for name in classes
                for part, head, kind in _OPPORTUNITIES
            ),
        ),
        frame,
        (
            "Shares of failed requirements by mode; unstated: the judge was not asked for a mode.",
            "Made: share of the opportunities for a wrong move in which the judge flagged it.",
            "All: pooled over the conditions at the benchmark's cap and effort.",
        ),
    )


def _pooled(results: Results, verdicts: pd.DataFrame) -> pd.DataFrame:
    own = verdicts[verdicts["condition"].isin(results.at_benchmark)]
    return own.assign(
        condition=pd.Categorical.from_codes(
            np.zeros(len(own), dtype=np.int8), dtype=pd.CategoricalDtype([POOLED])
        )
    )


def _modes(verdicts: pd.DataFrame) -> pd.DataFrame:
    failed = verdicts.loc[~verdicts["is_error"] & (verdicts["passed"] == 0), ["condition", "mode"]]
    modes = failed["mode"].cat.set_categories([*MODES, UNSTATED]).fillna(UNSTATED)
    counts = failed.assign(mode=modes).groupby(["condition", "mode"], observed=False).size().unstack("mode")
    frame = pd.DataFrame(index=pd.Index(verdicts["condition"].unique().astype(object), name="condition"))
    frame["n_failed"] = counts.sum(axis=1)
    for mode in (*MODES, UNSTATED):
        frame[f"share_{mode}"] = counts[mode] / frame["n_failed"].replace(0, np.nan)
    errors = verdicts.loc[
        verdicts["is_error"] & verdicts["passed"].notna(), ["condition", "severity", "passed"]
    ]
    for name in (*DETRIMENTAL, "any"):
        chosen = errors if name == "any" else errors[errors["severity"] == name]
        avoided = chosen.groupby("condition", observed=True)["passed"]
        frame[f"wrong_{name}"] = 1 - avoided.mean()
        frame[f"wrong_{name}_n"] = avoided.count().reindex(frame.index, fill_value=0)
    return frame.reset_index()


def lost_points(results: Results) -> pd.DataFrame:
    """Return the verdicts that lost points, with `lost` as a share of the brief's positive points.

    The sum of `lost` over a brief is 1 minus its unclamped score. Only briefs with a score.
    """
    own = results.verdicts[["condition", *BRIEF, "step", "tier", "severity", "is_error", "points", "passed"]]
    own = own[(results.verdicts["judge"] == results.judge) & own["passed"].notna()]
    own = own[results.on_scored_briefs(own)]
    brief = results.brief_codes(own)
    total = np.bincount(brief, weights=own["points"].where(~own["is_error"], 0.0))
    lost = (own["passed"] == 0).to_numpy()
    return own[lost].assign(lost=own["points"][lost].abs() / total[brief[lost]])


def _mean_lost(results: Results, lost: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the mean loss by condition (row) and group (column): over seeds, then scenarios."""
    briefs = results.briefs[(results.briefs["judge"] == results.judge) & results.briefs["score"].notna()]
    place = ["condition", "scenario_id"]
    sums = lost.groupby([*place, by], observed=True)["lost"].sum().unstack(by)
    n_briefs = briefs.groupby(place, observed=True).size()
    means = sums.reindex(n_briefs.index).fillna(0).div(n_briefs, axis=0)
    return means.groupby("condition", observed=True).mean()


def _grouped(lost: pd.DataFrame) -> pd.DataFrame:
    """Add the groups: wrong moves are one of their own in tiers and steps."""
    lost = lost.copy()
    for name in ("condition", "scenario_id", "severity", "step"):
        lost[name] = lost[name].astype(object)
    tier = lost["tier"].map(lambda tier: "none" if pd.isna(tier) else f"{int(tier)}")
    lost["tier"] = tier.where(~lost["is_error"], "wrong moves")
    lost["step"] = lost["step"].where(lost["step"].notna(), "none").where(~lost["is_error"], "wrong moves")
    lost["severity"] = lost["severity"].where(
        lost["severity"].notna(), np.where(lost["is_error"], "wrong moves", "none")
    )
    return lost


def missing_credit(results: Results) -> Table:
    """Share of the missing credit by tier, step and severity, over the benchmark's conditions."""
    lost = _grouped(lost_points(results))
    lost = lost[lost["condition"].isin(results.at_benchmark)]
    if not len(lost):
        raise NotEnoughError("no scored brief lost a point")
    parts: list[pd.DataFrame] = []
    for by in ("tier", "step", "severity"):
        means = _mean_lost(results, lost, by)
        means = means[means.index.isin(results.at_benchmark)].mean()
        part = pd.DataFrame({"by": by, "group": means.index, "lost": means.to_numpy()})
        part["share"] = part["lost"] / part["lost"].sum()
        parts.append(part.sort_values("lost", ascending=False) if by != "tier" else part)
    return Table(
        "Where the points went",
        (
            *of_kind("text", by="by", group="group"),
            Column("lost", "lost, of a score of 1"),
            Column("share", "share of the missing credit", "share"),
        ),
        pd.concat(parts, ignore_index=True),
        (
            (
                "Lost: points of failed requirements and of wrong moves made, divided by the points of all "
                "requirements; mean over seeds, scenarios and conditions. Within tier, step or severity the "
                "rows sum to 1 minus the mean unclamped score."
            ),
        ),
    )


def missing_credit_by_model(results: Results) -> Table:
    """Share of the missing credit by tier and severity, for each condition."""
    lost = _grouped(lost_points(results))
    if not len(lost):
        raise NotEnoughError("no scored brief lost a point")
    columns: list[Column] = []
    parts: list[pd.DataFrame] = []
    names = {"tier": [*map(str, tiers(results)), "wrong moves"], "severity": severities(results)}
    for by, groups in names.items():
        means = _mean_lost(results, lost, by)
        total = means.sum(axis=1)
        if by == "tier":
            parts.append(total.rename("lost").to_frame())
        shares = means.reindex(columns=groups, fill_value=0.0).div(total.replace(0, np.nan), axis=0)
        for group in groups:
            name = f"{by}_{slug(group)}"
            head = f"tier {group}" if group.isdigit() else group.replace("_", " ")
            columns.append(Column(name, head, "share"))
        parts.append(shares.set_axis([f"{by}_{slug(group)}" for group in groups], axis=1))
    frame = pd.concat(parts, axis=1).reset_index()
    place = {name: number for number, name in enumerate(results.order)}
    frame = frame.sort_values("condition", key=lambda own: own.map(place), ignore_index=True)
    frame["name"] = frame["condition"].map(results.names)
    head = (
        *of_kind("text", condition="", name="model"),
        Column("lost", "lost, of a score of 1"),
    )
    return Table("Where each condition's points went", (*head, *columns), frame)


def _requirements(results: Results) -> pd.DataFrame:
    own = results.verdicts_once
    return own[~own["is_error"]]
