"""Pass rates by tier and step, failure modes, and where the points went."""

from __future__ import annotations

import altair as alt
import pandas as pd

from flows.stages.paper.figures.figure import BLUE, PALETTE, ROW, WIDTH, Figure, rows
from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.tables.failing import MODES, POOLED, UNSTATED, failure_modes, step_rates, tier_rates
from flows.stages.paper.tables.failing import missing_credit as credit_table


def tiers(results: Results) -> Figure:
    """Pass rates of requirements by tier, pooled and by condition (figure 3)."""
    frame = _shown(results, tier_rates(results).frame)
    frame["tier"] = [f"tier {tier:g}" for tier in frame["tier"]]
    order = _order(results)
    y = alt.Y("name:N", sort=order, title=None)
    lines = alt.Chart(frame).mark_rule(color="#bbbbbb").encode(y=y, x="min(rate):Q", x2="max(rate):Q")
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            y=y,
            x=alt.X(
                "rate:Q",
                title="requirements passed",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "tier:N",
                scale=alt.Scale(range=PALETTE),
                legend=alt.Legend(title=None, orient="bottom", labelLimit=400),
            ),
            shape=alt.Shape("tier:N", legend=alt.Legend(title=None, orient="bottom", labelLimit=400)),
            tooltip=["name:N", "tier:N", "rate:Q", "low:Q", "high:Q", "n:Q"],
        )
    )
    return Figure(
        "Requirements passed by tier", (lines + points).properties(width=WIDTH, height=alt.Step(ROW))
    )


def steps(results: Results) -> Figure:
    """Pass rates of requirements by step and condition, as a heat map (appendix G)."""
    frame = _shown(results, step_rates(results).frame)
    frame["step"] = frame["step"].str.replace("_", " ")
    if not frame["rate"].notna().any():
        raise NotEnoughError("no requirement was graded")
    pooled = frame[frame["name"] == POOLED].sort_values("rate", ascending=False)
    base = alt.Chart(frame[frame["rate"].notna()]).encode(
        y=alt.Y("name:N", sort=_order(results), title=None),
        x=alt.X("step:N", sort=list(pooled["step"]), title=None, axis=alt.Axis(labelAngle=-40)),
    )
    colours = base.mark_rect().encode(
        color=alt.Color(
            "rate:Q",
            title="passed",
            scale=alt.Scale(scheme="blues", domain=[0, 1]),
            legend=alt.Legend(format="%"),
        ),
        tooltip=["name:N", "step:N", "rate:Q", "n:Q"],
    )
    text = base.mark_text(fontSize=9).encode(
        text=alt.Text("rate:Q", format=".0%"),
        color=alt.condition("datum.rate > 0.6", alt.value("white"), alt.value("black")),
    )
    return Figure(
        "Requirements passed by mission-analysis step",
        (colours + text).properties(width=alt.Step(38), height=alt.Step(ROW)),
    )


def modes(results: Results) -> Figure:
    """How failed requirements failed, by condition (appendix H)."""
    frame = _shown(results, failure_modes(results).frame)
    names = [*MODES, UNSTATED]
    long = frame.melt(["name", "n_failed"], [f"share_{name}" for name in names], "mode", "share")
    long["mode"] = long["mode"].str.removeprefix("share_")
    shown = [name for name in names if long.loc[long["mode"] == name, "share"].sum() > 0]
    long = long[long["mode"].isin(shown) & long["share"].notna()]
    if not len(long):
        raise NotEnoughError("no requirement failed")
    long["place"] = long["mode"].map({name: at for at, name in enumerate(names)})
    chart = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            y=alt.Y("name:N", sort=_order(results), title=None),
            x=alt.X(
                "share:Q",
                title="share of failed requirements",
                axis=alt.Axis(format="%", tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "mode:N",
                sort=shown,
                scale=alt.Scale(range=PALETTE),
                legend=alt.Legend(title=None, orient="bottom", labelLimit=400),
            ),
            order=alt.Order("place:Q"),
            tooltip=["name:N", "mode:N", "share:Q", "n_failed:Q"],
        )
        .properties(width=WIDTH, height=alt.Step(ROW))
    )
    return Figure("How failed requirements failed", chart)


def missing_credit(results: Results) -> Figure:
    """Share of the missing credit by tier, step and severity."""
    frame = rows(credit_table(results).frame)
    frame["group"] = [
        f"tier {group}" if by == "tier" and group.isdigit() else group.replace("_", " ")
        for by, group in zip(frame["by"], frame["group"], strict=True)
    ]
    charts = [
        alt.Chart(frame[frame["by"] == by])
        .mark_bar(color=BLUE, height={"band": 0.7})
        .encode(
            y=alt.Y("group:N", sort=list(frame.loc[frame["by"] == by, "group"]), title=None),
            x=alt.X(
                "share:Q",
                title="share of the missing credit" if by == "severity" else None,
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, max(0.1, 1.04 * float(frame["share"].max()))]),
            ),
            tooltip=["by:N", "group:N", "lost:Q", "share:Q"],
        )
        .properties(
            width=WIDTH,
            height=alt.Step(ROW),
            title=alt.Title(f"by {by}", fontSize=12, anchor="start", frame="group"),
        )
        for by in ("tier", "step", "severity")
        if (frame["by"] == by).any()
    ]
    return Figure("Where the points went", alt.vconcat(*charts, spacing=14))


def _shown(results: Results, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the benchmark's conditions and the pooled ones."""
    return rows(frame[frame["condition"].isin([POOLED, *results.at_benchmark])])


def _order(results: Results) -> list[str]:
    return [POOLED, *(results.names[name] for name in results.at_benchmark)]
