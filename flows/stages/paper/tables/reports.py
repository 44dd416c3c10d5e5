"""MissionReport: tasks, models, families and settings, and every missed criterion with its reason."""

from __future__ import annotations

import pandas as pd

from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.table import Column, Table, of_kind


def _attempts(results: Results) -> pd.DataFrame:
    """Return the attempts with `perfect`: 1 if every requirement is met and no penalty triggered.

    It is NaN if nothing failed, but something has no verdict; and 0 for an attempt without a report.
    """
    if not len(results.tasks):
        raise NotEnoughError("no report tasks (benchmark=mission_report)")
    own = results.briefs[results.briefs["judge"] == results.judge].copy()
    own["name"] = own["condition"].map(results.names)
    key = ["condition", *BRIEF]
    verdicts = results.verdicts[results.verdicts["judge"] == results.judge]
    grouped = verdicts.groupby(key, observed=True)["passed"]
    found = grouped.agg(least="min", n="count", n_all="size").reset_index()
    found["perfect"] = found["least"].where((found["least"] == 0) | (found["n"] == found["n_all"]))
    return own.merge(found[[*key, "perfect"]], on=key, how="left")


def by_model(results: Results) -> Table:
    """Mean over tasks, mean of the best attempts, and reports that meet every criterion."""
    own = _attempts(results)
    cells = own.groupby(["condition", "scenario_id"], observed=True)["counted"].agg(["mean", "max"])
    frame = cells.groupby("condition", observed=True).mean().rename(columns={"max": "best"})
    grouped = own.groupby("condition", observed=True)
    frame["n_scored"], frame["n"] = grouped["counted"].count(), grouped.size()
    frame["n_perfect"] = grouped["perfect"].sum()
    frame["n_perfect_unknown"] = own["perfect"].isna().groupby(own["condition"], observed=True).sum()
    frame["n_missing"] = (
        own["status"].isin(["missing", "corrupt"]).groupby(own["condition"], observed=True).sum()
    )
    ends = {name: results.limits(part["mean"]) for name, part in cells.groupby("condition", observed=True)}
    frame["low"] = [ends[name][0] for name in frame.index]
    frame["high"] = [ends[name][1] for name in frame.index]
    frame = frame.sort_values("mean", ascending=False).reset_index()
    frame["name"] = frame["condition"].map(results.names)
    return Table(
        "Reports by model",
        (
            *of_kind("text", condition="", name="model"),
            *of_kind("share", mean="mean", low="low", high="high", best="best of the attempts"),
            *of_kind("count", n_perfect="meet every criterion", n_perfect_unknown="not known"),
            *of_kind("count", n_missing="no readable report", n_scored="scored", n="of"),
        ),
        frame,
        (
            f"Judge: {results.judge}. {results.interval_note}",
            "Not known: no criterion failed, but some have no verdict.",
            "Mean: over attempts, then tasks. Best: the mean over tasks of each task's best attempt.",
        ),
    )


def by_task(results: Results) -> Table:
    """Mean and best of the attempts for each task and model, with the published mean."""
    own = _attempts(results)
    grouped = own.groupby(["scenario_id", "condition"], observed=True)
    frame = grouped.agg(
        mean=("counted", "mean"),
        best=("counted", "max"),
        least=("counted", "min"),
        n_scored=("counted", "count"),
        n=("counted", "size"),
        n_perfect=("perfect", "sum"),
    ).reset_index()
    frame = frame.merge(results.tasks, on="scenario_id", how="left")
    frame["name"] = frame["condition"].map(results.names)
    place = {name: number for number, name in enumerate(results.order)}
    frame["_place"] = frame["condition"].map(place).astype(int)
    frame = frame.sort_values(["scenario_id", "_place"], ignore_index=True)
    return Table(
        "Reports by task and model",
        (
            *of_kind("text", scenario_id="task", title="", report_family="family", setting="setting"),
            Column("published", "published mean", "share"),
            *of_kind("text", condition="", name="model"),
            *of_kind("share", mean="mean", best="best", least="worst"),
            *of_kind("count", n_perfect="meet every criterion", n_scored="scored", n="of"),
        ),
        frame,
        ("Published mean: over the nine models of the published run.",),
    )


def by_family(results: Results) -> Table:
    """Means by report family and by setting: over attempts, then tasks."""
    own = _attempts(results).merge(results.tasks, on="scenario_id", how="left")
    parts: list[pd.DataFrame] = []
    for by in ("report_family", "setting"):
        cells = own.groupby([by, "condition", "scenario_id"], observed=True)["counted"].mean()
        part = cells.groupby([by, "condition"], observed=True).agg(mean="mean", n_tasks="count").reset_index()
        parts.append(part.rename(columns={by: "group"}).assign(by=by.replace("_", " ")))
    frame = pd.concat(parts, ignore_index=True)
    frame["name"] = frame["condition"].map(results.names)
    return Table(
        "Reports by family and setting",
        (
            *of_kind("text", by="by", group="group", condition="", name="model"),
            Column("mean", "mean", "share"),
            Column("n_tasks", "tasks", "count"),
        ),
        frame,
    )


def missed(results: Results) -> Table:
    """Each missed criterion and triggered penalty, with the judge's reason."""
    if not len(results.tasks):
        raise NotEnoughError("no report tasks (benchmark=mission_report)")
    own = results.verdicts[results.verdicts["judge"] == results.judge]
    frame = own[own["passed"] == 0].copy()
    frame["name"] = frame["condition"].map(results.names)
    frame["kind"] = frame["is_error"].map({True: "penalty triggered", False: "missed"})
    place = {name: number for number, name in enumerate(results.order)}
    frame["_place"] = frame["condition"].map(place).astype(int)
    frame = frame.sort_values(["scenario_id", "_place", "seed", "item_id"], ignore_index=True)
    return Table(
        "Missed criteria and triggered penalties",
        (
            *of_kind("text", scenario_id="task", condition="", name="model"),
            Column("seed", "attempt", "count"),
            *of_kind("text", item_id="criterion", kind="kind"),
            Column("points", "points"),
            *of_kind("text", requirement="", reason="judge's reason"),
        ),
        frame,
    )
