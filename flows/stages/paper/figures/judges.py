"""Scores under each judge."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from flows.stages.paper.figures.figure import GREY, PALETTE, Figure, below, dots, lines_of, rows, span
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
            x=alt.X("own:Q", title=results.judge, scale=scale),
            y=alt.Y("score:Q", title=judge, scale=scale),
            tooltip=["name:N", "own:Q", "score:Q"],
        )
        return (line + points).properties(width=_SIDE, height=_SIDE)

    panels = [panel(judge, PALETTE[n % len(PALETTE)]) for n, judge in enumerate(results.judges[1:])]
    return Figure(f"Scores of {len(names)} conditions under two judges each", alt.concat(*panels, columns=2))


def by_judge(results: Results) -> Figure:
    """Score of each condition under each judge (figure 10)."""
    long, names = _long(results)
    y, title = lines_of(names), "weighted score, on the briefs that every judge scored"
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
