"""MissionReport: tasks, models, families and settings, and every missed criterion with its reason."""

import pandas as pd

from flows.common.text import words
from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.table import NAMED, Column, Table, of_kind


def _need_tasks(results: Results) -> None:
    if not len(results.tasks):
        raise NotEnoughError("no report tasks (benchmark=mission_report)")


def _attempts(results: Results) -> pd.DataFrame:
    """Return the attempts with `perfect`: 1 if every requirement is met and no penalty triggered.

    It is NaN if nothing failed, but something has no verdict; and 0 for an attempt without a report.
    """
    _need_tasks(results)
    key = ["condition", *BRIEF]
    grouped = results.own_verdicts.groupby(key, observed=True)["passed"]
    found = grouped.agg(least="min", n="count", n_all="size").reset_index()
    found["perfect"] = found["least"].where((found["least"] == 0) | (found["n"] == found["n_all"]))
    return results.own_briefs.merge(found[[*key, "perfect"]], on=key, how="left")


def by_model(results: Results) -> Table:
    """Mean over tasks, mean of the best attempts, and reports that meet every criterion."""
    own = _attempts(results)
    own["is_unknown"], own["is_missing"] = own["perfect"].isna(), own["status"].isin(["missing", "corrupt"])
    cells = own.groupby(["condition", "scenario_id"], observed=True)["counted"].agg(mean="mean", best="max")
    frame = cells.groupby("condition", observed=True).mean()
    counts = own.groupby("condition", observed=True).agg(
        n_scored=("counted", "count"),
        n=("counted", "size"),
        n_perfect=("perfect", "sum"),
        n_perfect_unknown=("is_unknown", "sum"),
        n_missing=("is_missing", "sum"),
    )
    ends = cells["mean"].groupby("condition", observed=True).apply(results.limits)
    frame = frame.join(counts)
    frame["low"], frame["high"] = zip(*ends.loc[frame.index], strict=True)
    frame = frame.sort_values("mean", ascending=False).reset_index()
    return Table.of(
        "Reports by model",
        (
            *NAMED,
            *of_kind("share", mean="mean", low="low", high="high", best="best of the attempts"),
            *of_kind("count", n_perfect="meet every criterion", n_perfect_unknown="not known"),
            *of_kind("count", n_missing="no readable report", n_scored="scored", n="of"),
        ),
        results.named(frame),
        f"Judge: {results.judge}. {results.interval_note}",
        "Not known: no criterion failed, but some have no verdict.",
        "Mean: over attempts, then tasks. Best: the mean over tasks of each task's best attempt.",
    )


def by_task(results: Results) -> Table:
    """Mean and best of the attempts for each task and model, with the published mean."""
    grouped = _attempts(results).groupby(["scenario_id", "condition"], observed=True)
    frame = grouped.agg(
        mean=("counted", "mean"),
        best=("counted", "max"),
        least=("counted", "min"),
        n_scored=("counted", "count"),
        n=("counted", "size"),
        n_perfect=("perfect", "sum"),
    )
    frame = frame.reset_index().merge(results.tasks, on="scenario_id", how="left")
    return Table.of(
        "Reports by task and model",
        (
            *of_kind("text", scenario_id="task", title="", report_family="family", setting="setting"),
            Column("published", "published mean", "share"),
            *NAMED,
            *of_kind("share", mean="mean", best="best", least="worst"),
            *of_kind("count", n_perfect="meet every criterion", n_scored="scored", n="of"),
        ),
        results.in_order(frame, ["scenario_id", "condition"]),
        "Published mean: over the nine models of the published run.",
    )


def by_family(results: Results) -> Table:
    """Means by report family and by setting: over attempts, then tasks."""
    own = _attempts(results).merge(results.tasks, on="scenario_id", how="left")
    parts: list[pd.DataFrame] = []
    for by in ("report_family", "setting"):
        cells = own.groupby([by, "condition", "scenario_id"], observed=True)["counted"].mean()
        part = cells.groupby([by, "condition"], observed=True).agg(mean="mean", n_tasks="count").reset_index()
        parts.append(part.rename(columns={by: "group"}).assign(by=words(by)))
    return Table(
        "Reports by family and setting",
        (
            *of_kind("text", by="by", group="group"),
            *NAMED,
            Column("mean", "mean", "share"),
            Column("n_tasks", "tasks", "count"),
        ),
        results.named(pd.concat(parts, ignore_index=True)),
    )


def missed(results: Results) -> Table:
    """Each missed criterion and triggered penalty, with the judge's reason."""
    _need_tasks(results)
    frame = results.own_verdicts.query("passed == 0")
    frame = frame.assign(kind=frame["is_error"].map({True: "penalty triggered", False: "missed"}))
    return Table(
        "Missed criteria and triggered penalties",
        (
            Column("scenario_id", "task", "text"),
            *NAMED,
            Column("seed", "attempt", "count"),
            *of_kind("text", item_id="criterion", kind="kind"),
            Column("points", "points"),
            *of_kind("text", requirement="", reason="judge's reason"),
        ),
        results.in_order(frame, ["scenario_id", "condition", "seed", "item_id"]),
    )
