"""A figure as a Vega-Lite chart, the parts that figures share, and the files that it is drawn to."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

BLUE, ORANGE, GREY = "#2166ac", "#d6604d", "#666666"
PALETTE = ["#2166ac", "#f4a582", "#5aae61", "#b2182b", "#9970ab", "#666666", "#e6ab02", "#1b9e77"]
"""Told apart in print and by most colour-blind readers."""
WIDTH = 420
ROW = alt.Step(18)
"""Width of a plot, and height of a row of it, in pixels."""
SHARES = alt.Scale(domain=[0, 1])
FIGURE_ENDINGS = ("svg", "png", "vl.json")
"""Of the files that a figure is drawn to."""

_SCALE = 2  # pixels of the PNG per pixel of the figure


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        title: what it shows, one line.
        chart: the chart; the interactive one is drawn from the same.
    """

    title: str
    chart: Any

    @property
    def specification(self) -> dict[str, Any]:
        """The chart in Vega-Lite, with its data."""
        title = alt.Title(self.title, anchor="start", fontSize=14)
        fonts: dict[str, Any] = {"labelFontSize": 11, "titleFontSize": 11}
        chart = self.chart.properties(title=title).configure(
            background="white",
            padding=10,
            view=alt.ViewConfig(strokeWidth=0),
            axis=alt.AxisConfig(labelLimit=260, labelFlush=False, gridColor="#e5e5e5", **fonts),
            legend=alt.LegendConfig(labelLimit=400, **fonts),
        )
        with alt.data_transformers.enable(consolidate_datasets=True):
            return chart.to_dict()


def draw(figure: Figure) -> Mapping[str, bytes]:
    """Return a figure as SVG, PNG and Vega-Lite, by the ending of the file. No browser or network is used."""
    import vl_convert

    specification = figure.specification
    version = "v" + alt.SCHEMA_VERSION.removeprefix("v").rsplit(".", 1)[0].replace(".", "_")
    return {
        "svg": _renumbered(vl_convert.vegalite_to_svg(specification, vl_version=version)).encode(),
        "png": vl_convert.vegalite_to_png(specification, vl_version=version, scale=_SCALE),
        "vl.json": (json.dumps(specification, indent=1, sort_keys=True) + "\n").encode(),
    }


def _renumbered(svg: str) -> str:
    """Return the picture with ids by their order in it: the library counts on from the pictures before it."""
    for place, old in enumerate(dict.fromkeys(re.findall(r'\bid="(\w+)"', svg))):
        svg = svg.replace(f'id="{old}"', f'id="part{place}"').replace(f"url(#{old})", f"url(#part{place})")
    return svg


def rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with plain texts and numbers; NaN become null in the chart."""
    return frame.astype(dict.fromkeys(frame.select_dtypes(["category", "string"]).columns, object))


def lines_of(order: Sequence[str], field: str = "name") -> alt.Y:
    """Return the axis that has a line for each name."""
    return alt.Y(f"{field}:N", sort=order, title=None)


def heat_map(cells: alt.Chart, field: str, form: str, color: alt.Color, dark: float) -> Any:
    """Return cells with colours, and the value in each: white where it is above `dark`."""
    ink = alt.condition(f"datum.{field} > {dark}", alt.value("white"), alt.value("black"))
    numbers = cells.mark_text(fontSize=9).encode(text=alt.Text(f"{field}:Q", format=form), color=ink)
    return alt.layer(cells.mark_rect().encode(color=color), numbers).properties(
        width=alt.Step(38), height=ROW
    )


def below(**more: Any) -> alt.Legend:
    """Return a legend below the plot."""
    return alt.Legend(title=None, orient="bottom", **more)


def dots(frame: pd.DataFrame, span: Any, **channels: Any) -> alt.LayerChart:
    """Return large points on each line, over the rule that spans them."""
    points = alt.Chart(frame).mark_point(filled=True, size=70, opacity=1).encode(**channels)
    return (span + points).properties(width=WIDTH, height=ROW)


def span(frame: pd.DataFrame, y: alt.Y, low: str, high: str, color: str = "#bbbbbb") -> alt.Chart:
    """Return a rule from the low to the high end of each line."""
    return alt.Chart(frame).mark_rule(color=color).encode(y=y, x=f"{low}:Q", x2=f"{high}:Q")
