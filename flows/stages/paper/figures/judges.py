"""Scores under each judge."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from flows.stages.paper.figures.figure import GREY, PALETTE, ROW, WIDTH, Figure, rows
from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.table import slug
from flows.stages.paper.tables.judges import scores_by_judge

_SIDE = 260


def _long(results: Results) -> tuple[pd.DataFrame, list[str]]:
    """Return condition, judge and score, and the names of the conditions, best first."""
    frame = rows(scores_by_judge(results).frame)
    frame = frame[frame["condition"].isin(results.at_benchmark)]
    if not len(frame):
        raise NotEnoughError("no brief of the benchmark's conditions has a score by every judge")
    columns = {f"score_{slug(judge)}": judge for judge in results.judges}
    long = frame.melt(["name"], list(columns), "judge", "score")
    long["judge"] = long["judge"].map(columns)
    return long, list(frame["name"])


def judges(results: Results) -> Figure:
    """Score under each other judge against that under the judge of the tables (figure 9)."""
    long, names = _long(results)
    own = long[long["judge"] == results.judge].set_index("name")["score"]
    others = long[long["judge"] != results.judge].assign(own=lambda rows_: rows_["name"].map(own))
    low, high = float(long["score"].min()), float(long["score"].max())
    margin = max(0.02, (high - low) * 0.06)
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    panels: list[Any] = []
    for number, judge in enumerate(results.judges[1:]):
        data = others[others["judge"] == judge]
        ends = pd.DataFrame({"own": [low, high], "score": [low, high]})
        line = (
            alt.Chart(ends)
            .mark_line(color=GREY, strokeDash=[3, 3])
            .encode(x=alt.X("own:Q", scale=scale), y=alt.Y("score:Q", scale=scale))
        )
        points = (
            alt.Chart(data)
            .mark_point(filled=True, size=60, opacity=0.9, color=PALETTE[number % len(PALETTE)])
            .encode(
                x=alt.X("own:Q", title=results.judge, scale=scale),
                y=alt.Y("score:Q", title=judge, scale=scale),
                tooltip=["name:N", "own:Q", "score:Q"],
            )
        )
        panels.append((line + points).properties(width=_SIDE, height=_SIDE))
    return Figure(f"Scores of {len(names)} conditions under two judges each", alt.concat(*panels, columns=2))


def by_judge(results: Results) -> Figure:
    """Score of each condition under each judge (figure 10)."""
    long, names = _long(results)
    y = alt.Y("name:N", sort=names, title=None)
    lines = alt.Chart(long).mark_rule(color="#bbbbbb").encode(y=y, x="min(score):Q", x2="max(score):Q")
    legend = alt.Legend(title=None, orient="bottom", labelLimit=400, columns=1)
    points = (
        alt.Chart(long)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            y=y,
            x=alt.X(
                "score:Q",
                title="weighted score, on the briefs that every judge scored",
                scale=alt.Scale(zero=False),
            ),
            color=alt.Color("judge:N", scale=alt.Scale(domain=results.judges, range=PALETTE), legend=legend),
            shape=alt.Shape("judge:N", scale=alt.Scale(domain=results.judges), legend=legend),
            tooltip=["name:N", "judge:N", "score:Q"],
        )
    )
    return Figure("Scores under each judge", (lines + points).properties(width=WIDTH, height=alt.Step(ROW)))
