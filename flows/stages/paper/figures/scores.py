"""Scores with intervals, the corpus, effort, the word cap, and scores by scenario."""

from __future__ import annotations

import altair as alt
import pandas as pd

from flows.stages.paper.figures.figure import BLUE, GREY, ORANGE, ROW, WIDTH, Figure, rows
from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.tables.ablations import cap as cap_table
from flows.stages.paper.tables.ablations import effort as effort_table
from flows.stages.paper.tables.main import severities
from flows.stages.paper.tables.spread import scenarios as scenario_table


def scores(results: Results) -> Figure:
    """Weighted score of the benchmark's conditions, with intervals (figure 1)."""
    frame = rows(results.board[results.board["at_benchmark"] & results.board["score"].notna()])
    if not len(frame):
        raise NotEnoughError("no condition has a score")
    frame = frame.assign(name=frame["condition"].map(results.names))[
        ["name", "score", "low", "high", "method"]
    ]
    order = list(frame["name"])
    base = alt.Chart(frame).encode(y=alt.Y("name:N", sort=order, title=None))
    low = min(0.0, frame["low"].min(), frame["score"].min())
    scale = alt.Scale(domain=[round(low - 0.05, 1) if low < 0 else 0, 1], clamp=True)
    bars = base.mark_bar(color=BLUE, height={"band": 0.7}).encode(
        x=alt.X("score:Q", title=f"weighted score ({_interval_name(results)})", scale=scale),
        tooltip=["name:N", "score:Q", "low:Q", "high:Q"],
    )
    whiskers = base.mark_rule(color="black", strokeWidth=1.2).encode(x="low:Q", x2="high:Q")
    text = base.mark_text(align="left", dx=4, color=GREY, fontSize=10).encode(
        x=alt.value(WIDTH), text=alt.Text("score:Q", format=".3f")
    )
    chart = (bars + whiskers + text).properties(width=WIDTH, height=alt.Step(ROW))
    return Figure(f"Scores, judge {results.judge}", chart)


def _interval_name(results: Results) -> str:
    methods = sorted(set(results.board["method"].dropna()))
    return "whiskers: " + "; ".join(methods) if methods else "no interval"


def corpus(results: Results) -> Figure:
    """Share of the items of each scenario by severity (figure 4)."""
    items = results.verdicts.drop_duplicates(["scenario_id", "item_id"])
    names = severities(results)
    if not names:
        raise NotEnoughError("items without severities")
    counts = items.groupby(["scenario_id", "severity"], observed=True).size().rename("n").reset_index()
    whole = counts.groupby("severity", observed=True)["n"].sum().reset_index().assign(scenario_id="all")
    frame = rows(pd.concat([counts.astype({"scenario_id": object}), whole], ignore_index=True))
    frame["place"] = frame["severity"].map({name: at for at, name in enumerate(names)})
    frame["severity"] = frame["severity"].str.replace("_", " ")
    order = ["all", *sorted(set(frame["scenario_id"]) - {"all"})]
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            y=alt.Y("scenario_id:N", sort=order, title=None),
            x=alt.X("n:Q", stack="normalize", title="share of items", axis=alt.Axis(format="%", tickCount=5)),
            color=alt.Color(
                "severity:N",
                sort=[name.replace("_", " ") for name in names],
                scale=alt.Scale(range=["#08519c", "#6baed6", "#c6dbef", "#fcae91", "#cb181d"][: len(names)]),
                legend=alt.Legend(orient="bottom", title=None, columns=3),
            ),
            order=alt.Order("place:Q"),
            tooltip=["scenario_id:N", "severity:N", "n:Q"],
        )
        .properties(width=WIDTH, height=alt.Step(ROW))
    )
    return Figure("Items by severity", chart)


def effort(results: Results) -> Figure:
    """Change of the score by reasoning effort (figure 7)."""
    frame = rows(effort_table(results).frame)
    cap_shown = (", " + frame["word_cap"] + " words") if frame["word_cap"].nunique() > 1 else ""
    frame["label"] = frame["model"] + ": " + frame["effort"] + " against " + frame["against"] + cap_shown
    frame["zero"] = 0
    base = alt.Chart(frame).encode(y=alt.Y("label:N", sort=list(frame["label"]), title=None))
    chart = alt.layer(
        base.mark_rule(color=BLUE, strokeWidth=1.5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(
            x=alt.X(
                "difference:Q",
                title="change of the score, with interval",
                scale=alt.Scale(padding=12),
                axis=alt.Axis(tickCount=6),
            ),
            tooltip=["model:N", "label:N", "difference:Q", "low:Q", "high:Q", "p:Q"],
        ),
        alt.Chart(frame.head(1)).mark_rule(color=GREY, strokeDash=[3, 3]).encode(x="zero:Q"),
    ).properties(width=WIDTH, height=alt.Step(ROW))
    return Figure("Change of the score by reasoning effort", chart)


def cap(results: Results) -> Figure:
    """Score with the benchmark's cap and without one (figure 8)."""
    frame = rows(cap_table(results).frame)
    frame["name"] = frame["model"] + (
        " (" + frame["effort"] + ")" if frame["model"].duplicated().any() else ""
    )
    order = list(frame["name"])
    with_cap, without = f"cap of {results.word_cap:,} words", "no cap"
    long = frame.melt(["name"], ["capped", "uncapped"], "which", "score")
    long["which"] = long["which"].map({"capped": with_cap, "uncapped": without})
    y = alt.Y("name:N", sort=order, title=None)
    lines = alt.Chart(frame).mark_rule(color=GREY).encode(y=y, x="capped:Q", x2="uncapped:Q")
    points = (
        alt.Chart(long)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            y=y,
            x=alt.X(
                "score:Q",
                title="weighted score",
                scale=alt.Scale(zero=False, padding=12),
                axis=alt.Axis(tickCount=6),
            ),
            color=alt.Color(
                "which:N",
                scale=alt.Scale(domain=[with_cap, without], range=[BLUE, ORANGE]),
                legend=alt.Legend(title=None, orient="bottom", labelLimit=400),
            ),
            tooltip=["name:N", "which:N", "score:Q"],
        )
    )
    return Figure(
        "Scores with and without the word cap", (lines + points).properties(width=WIDTH, height=alt.Step(ROW))
    )


def scenarios(results: Results) -> Figure:
    """Mean score of each condition on each scenario, as a heat map."""
    frame = rows(scenario_table(results).frame)
    frame = frame[frame["condition"].isin(results.at_benchmark)]
    if not frame["mean"].notna().any():
        raise NotEnoughError("no condition has a score")
    order = [results.names[name] for name in results.at_benchmark]
    chart = (
        alt.Chart(frame[frame["mean"].notna()])
        .mark_rect()
        .encode(
            y=alt.Y("name:N", sort=order, title=None),
            x=alt.X("scenario_id:N", title=None, axis=alt.Axis(labelAngle=-40)),
            color=alt.Color("mean:Q", title="score", scale=alt.Scale(scheme="blues")),
            tooltip=["name:N", "scenario_id:N", "mean:Q", "spread:Q", "n:Q"],
        )
        .properties(width=alt.Step(36), height=alt.Step(ROW))
    )
    return Figure("Mean score by scenario", chart)
