"""Pass rates by tier and step, failure modes, and where the points went."""

import altair as alt
import pandas as pd

from flows.common.text import words
from flows.stages.paper.figures.figure import (
    BLUE,
    PALETTE,
    ROW,
    SHARES,
    WIDTH,
    Figure,
    below,
    dots,
    heat_map,
    lines_of,
    rows,
    span,
)
from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.tables.failing import MODES, POOLED, UNSTATED, failure_modes, step_rates, tier_rates
from flows.stages.paper.tables.failing import missing_credit as credit_table


def tiers(results: Results) -> Figure:
    """Pass rates of requirements by tier, pooled and by condition (figure 3)."""
    frame, y = _shown(results, tier_rates(results).frame), _conditions(results)
    frame = frame[frame["rate"].notna()]
    if frame.empty:
        raise NotEnoughError("no requirement was graded")
    frame["tier"] = [f"tier {tier:g}" for tier in frame["tier"]]
    chart = dots(
        frame,
        span(frame, y, "min(rate)", "max(rate)"),
        y=y,
        x=alt.X("rate:Q", title="requirements passed", axis=alt.Axis(format="%"), scale=SHARES),
        color=alt.Color("tier:N", scale=alt.Scale(range=PALETTE), legend=below()),
        shape=alt.Shape("tier:N", legend=below()),
        tooltip=["name:N", "tier:N", "rate:Q", "low:Q", "high:Q", "n:Q"],
    )
    return Figure("Requirements passed by tier", chart)


def steps(results: Results) -> Figure:
    """Pass rates of requirements by step and condition, as a heat map (appendix G)."""
    frame = _shown(results, step_rates(results).frame)
    frame["step"] = frame["step"].map(words)
    if not frame["rate"].notna().any():
        raise NotEnoughError("no requirement was graded")
    pooled = frame[frame["name"] == POOLED].sort_values("rate", ascending=False)
    base = alt.Chart(frame[frame["rate"].notna()]).encode(
        y=_conditions(results),
        x=alt.X("step:N", sort=list(pooled["step"]), title=None, axis=alt.Axis(labelAngle=-40)),
        tooltip=["name:N", "step:N", "rate:Q", "n:Q"],
    )
    scale = alt.Scale(scheme="blues", domain=[0, 1])
    color = alt.Color("rate:Q", title="passed", scale=scale, legend=alt.Legend(format="%"))
    chart = heat_map(base, "rate", ".0%", color, dark=0.75)
    return Figure("Requirements passed by mission-analysis step", chart)


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
    long["place"] = long["mode"].map(names.index)
    axis = alt.Axis(format="%", tickCount=5)
    bars = alt.Chart(long).mark_bar()
    bars = bars.encode(
        y=_conditions(results),
        x=alt.X("share:Q", title=results.said("share of failed requirements"), axis=axis, scale=SHARES),
        color=alt.Color("mode:N", sort=shown, scale=alt.Scale(range=PALETTE), legend=below()),
        order=alt.Order("place:Q"),
        tooltip=["name:N", "mode:N", "share:Q", "n_failed:Q"],
    )
    return Figure(results.said("How failed requirements failed"), bars.properties(width=WIDTH, height=ROW))


def missing_credit(results: Results) -> Figure:
    """Share of the missing credit by tier, step and severity."""
    frame = rows(credit_table(results).frame)
    frame["group"] = [
        f"tier {group}" if by == "tier" and group.isdigit() else words(group)
        for by, group in zip(frame["by"], frame["group"], strict=True)
    ]
    scale = alt.Scale(domain=[0, max(0.1, 1.04 * float(frame["share"].max()))])

    def panel(by: str, own: pd.DataFrame) -> alt.Chart:
        title = "share of the missing credit" if by == frame["by"].iloc[-1] else None
        bars = alt.Chart(own).mark_bar(color=BLUE, height={"band": 0.7})
        bars = bars.encode(
            y=lines_of(list(own["group"]), "group"),
            x=alt.X("share:Q", title=title, axis=alt.Axis(format="%"), scale=scale),
            tooltip=["by:N", "group:N", "lost:Q", "share:Q"],
        )
        head = alt.Title(f"by {by}", fontSize=12, anchor="start", frame="group")
        return bars.properties(width=WIDTH, height=ROW, title=head)

    panels = [panel(str(by), own) for by, own in frame.groupby("by", sort=False)]
    return Figure("Where the points went", alt.vconcat(*panels, spacing=14))


def _shown(results: Results, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the benchmark's conditions and the pooled ones."""
    return rows(frame[frame["condition"].isin([POOLED, *results.at_benchmark])])


def _conditions(results: Results) -> alt.Y:
    return lines_of([POOLED, *(results.names[name] for name in results.at_benchmark)])
