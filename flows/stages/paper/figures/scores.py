"""Scores with intervals and under each judge, the corpus, effort, the word cap, and scores by scenario."""

from typing import Any

import altair as alt
import pandas as pd

from flows.common.text import words
from flows.stages.paper.figures.figure import (
    BLUE,
    GREY,
    ORANGE,
    PALETTE,
    ROW,
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
from flows.stages.paper.table import slug
from flows.stages.paper.tables.ablations import cap as cap_table
from flows.stages.paper.tables.ablations import effort as effort_table
from flows.stages.paper.tables.judges import scores_by_judge
from flows.stages.paper.tables.main import severities
from flows.stages.paper.tables.spread import scenarios as scenario_table

_SEVERITIES = ["#08519c", "#6baed6", "#c6dbef", "#fcae91", "#cb181d"]
_SIDE = 260


def scores(results: Results) -> Figure:
    """Weighted score of the benchmark's conditions, with intervals (figure 1)."""
    frame = rows(results.board[results.board["at_benchmark"] & results.board["score"].notna()])
    if not len(frame):
        raise NotEnoughError("no condition has a score")
    most = int(frame["n_scenarios"].max())
    fewer = [
        results.said(f" ({n} of {most} scenarios)") if n < most else ""
        for n in frame["n_scenarios"].astype(int)
    ]
    frame = frame.assign(name=frame["condition"].map(results.names) + fewer)
    frame = frame[["name", "score", "low", "high", "method"]]
    base = alt.Chart(frame).encode(y=lines_of(list(frame["name"])))
    low = min(0.0, frame["low"].min(), frame["score"].min())
    scale = alt.Scale(domain=[round(low - 0.05, 1) if low < 0 else 0, 1], clamp=True)
    bars = base.mark_bar(color=BLUE, height={"band": 0.7}).encode(
        x=alt.X("score:Q", title=f"weighted score ({_whiskers(results)})", scale=scale),
        tooltip=["name:N", "score:Q", "low:Q", "high:Q"],
    )
    whiskers = base.mark_rule(color="black", strokeWidth=1.2).encode(x="low:Q", x2="high:Q")
    text = base.mark_text(align="left", dx=4, color=GREY, fontSize=10).encode(
        x=alt.value(WIDTH), text=alt.Text("score:Q", format=".3f")
    )
    chart = (bars + whiskers + text).properties(width=WIDTH, height=ROW)
    return Figure(f"Scores, judge {results.judge}", chart)


def _whiskers(results: Results) -> str:
    methods = sorted(set(results.board["method"].dropna()))
    return results.said(f"whiskers: {'; '.join(methods)}") if methods else "no interval"


def corpus(results: Results) -> Figure:
    """Share of the items of each scenario by severity (figure 4)."""
    items = results.verdicts.drop_duplicates(["scenario_id", "item_id"])
    names = severities(results)
    if not names:
        raise NotEnoughError("items without severities")
    counts = items.groupby(["scenario_id", "severity"], observed=True).size().rename("n").reset_index()
    whole = counts.groupby("severity", observed=True)["n"].sum().reset_index().assign(scenario_id="all")
    frame = rows(pd.concat([counts.astype({"scenario_id": object}), whole], ignore_index=True))
    frame["place"] = frame["severity"].map(names.index)
    frame["severity"] = frame["severity"].map(words)
    axis = alt.Axis(format="%", tickCount=5)
    bars = alt.Chart(frame).mark_bar()
    bars = bars.encode(
        y=lines_of(["all", *sorted(set(frame["scenario_id"]) - {"all"})], "scenario_id"),
        x=alt.X("n:Q", stack="normalize", title="share of items", axis=axis),
        color=alt.Color(
            "severity:N",
            sort=[words(name) for name in names],
            scale=alt.Scale(range=_SEVERITIES[: len(names)]),
            legend=below(columns=3),
        ),
        order=alt.Order("place:Q"),
        tooltip=["scenario_id:N", "severity:N", "n:Q"],
    )
    return Figure("Items by severity", bars.properties(width=WIDTH, height=ROW))


def effort(results: Results) -> Figure:
    """Change of the score by reasoning effort (figure 7)."""
    frame = rows(effort_table(results).frame)
    cap_shown = (", " + frame["word_cap"] + " words") if frame["word_cap"].nunique() > 1 else ""
    frame["label"] = frame["model"] + ": " + frame["effort"] + " against " + frame["against"] + cap_shown
    frame["zero"] = 0
    base = alt.Chart(frame).encode(y=lines_of(list(frame["label"]), "label"))
    scale, axis = alt.Scale(padding=12), alt.Axis(tickCount=6)
    title = f"change of the weighted score ({_whiskers(results)})"
    chart = alt.layer(
        base.mark_rule(color=BLUE, strokeWidth=1.5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(
            x=alt.X(
                "difference:Q",
                title=title,
                scale=scale,
                axis=axis,
            ),
            tooltip=["model:N", "label:N", "difference:Q", "low:Q", "high:Q", "p:Q"],
        ),
        alt.Chart(frame.head(1)).mark_rule(color=GREY, strokeDash=[3, 3]).encode(x="zero:Q"),
    )
    return Figure("Change of the score by reasoning effort", chart.properties(width=WIDTH, height=ROW))


def cap(results: Results) -> Figure:
    """Score with the benchmark's cap and without one (figure 8)."""
    frame = rows(cap_table(results).frame)
    frame["name"] = frame["model"] + (
        " (" + frame["effort"] + ")" if frame["model"].duplicated().any() else ""
    )
    names = {"capped": f"cap of {results.word_cap:,} words", "uncapped": "no cap"}
    long = frame.melt(["name"], list(names), "which", "score")
    long["which"] = long["which"].map(names)
    y = lines_of(list(frame["name"]))
    scale, axis = alt.Scale(zero=False, padding=12), alt.Axis(tickCount=6)
    colours = alt.Scale(domain=list(names.values()), range=[BLUE, ORANGE])
    chart = dots(
        long,
        span(frame, y, "capped", "uncapped", GREY),
        y=y,
        x=alt.X("score:Q", title="weighted score", scale=scale, axis=axis),
        color=alt.Color("which:N", scale=colours, legend=below()),
        tooltip=["name:N", "which:N", "score:Q"],
    )
    return Figure("Scores with and without the word cap", chart)


def scenarios(results: Results) -> Figure:
    """Mean score of each condition on each scenario, as a heat map."""
    frame = rows(scenario_table(results).frame)
    frame = frame[frame["condition"].isin(results.at_benchmark)]
    if not frame["mean"].notna().any():
        raise NotEnoughError("no condition has a score")
    frame = frame[frame["mean"].notna()]
    cells = alt.Chart(frame).encode(
        y=lines_of([results.names[name] for name in results.at_benchmark]),
        x=alt.X("scenario_id:N", title=None, axis=alt.Axis(labelAngle=-40)),
        tooltip=["name:N", "scenario_id:N", "mean:Q", "spread:Q", "n:Q"],
    )
    color = alt.Color("mean:Q", title="weighted score", scale=alt.Scale(scheme="blues"))
    low, high = float(frame["mean"].min()), float(frame["mean"].max())
    chart = heat_map(cells, "mean", ".2f", color, dark=low + 0.75 * (high - low))
    return Figure(results.said("Mean score by scenario"), chart)


def _long(results: Results) -> tuple[pd.DataFrame, list[str]]:
    """Return condition, judge and score, and the names of the conditions, best first."""
    frame = rows(scores_by_judge(results).frame)
    frame = frame[frame["condition"].isin(results.at_benchmark)]
    if not len(frame):
        raise NotEnoughError("no brief of the benchmark's conditions has a score by every judge")
    columns = {f"score_{slug(judge)}": judge for judge in results.judges}
    long = frame.melt(["name"], list(columns), "judge", "score")
    return long.assign(judge=long["judge"].map(columns)), list(frame["name"])


def judges(results: Results) -> Figure:
    """Score under each other judge against that under the judge of the tables (figure 9)."""
    long, names = _long(results)
    own = long[long["judge"] == results.judge].set_index("name")["score"]
    low, high = float(long["score"].min()), float(long["score"].max())
    margin = max(0.02, (high - low) * 0.06)
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)

    def panel(judge: str, color: str) -> Any:
        data = long[long["judge"] == judge]
        diagonal = alt.Chart(pd.DataFrame({"own": [low, high], "score": [low, high]}))
        line = diagonal.mark_line(color=GREY, strokeDash=[3, 3]).encode(
            x=alt.X("own:Q", scale=scale), y=alt.Y("score:Q", scale=scale)
        )
        points = alt.Chart(data.assign(own=data["name"].map(own)))
        points = points.mark_point(filled=True, size=60, opacity=0.9, color=color).encode(
            x=alt.X("own:Q", title=["weighted score,", results.judge], scale=scale),
            y=alt.Y("score:Q", title=["weighted score,", judge], scale=scale),
            tooltip=["name:N", "own:Q", "score:Q"],
        )
        return (line + points).properties(width=_SIDE, height=_SIDE)

    panels = [panel(judge, PALETTE[n % len(PALETTE)]) for n, judge in enumerate(results.judges[1:])]
    return Figure(f"{len(names)} conditions under two judges", alt.concat(*panels, columns=2))


def by_judge(results: Results) -> Figure:
    """Score of each condition under each judge (figure 10)."""
    long, names = _long(results)
    y, title = lines_of(names), results.said("weighted score, on the briefs that every judge scored")
    chart = dots(
        long,
        span(long, y, "min(score)", "max(score)"),
        y=y,
        x=alt.X("score:Q", title=title, scale=alt.Scale(zero=False)),
        color=alt.Color(
            "judge:N", scale=alt.Scale(domain=results.judges, range=PALETTE), legend=below(columns=1)
        ),
        shape=alt.Shape("judge:N", scale=alt.Scale(domain=results.judges), legend=below(columns=1)),
        tooltip=["name:N", "judge:N", "score:Q"],
    )
    return Figure("Scores under each judge", chart)
