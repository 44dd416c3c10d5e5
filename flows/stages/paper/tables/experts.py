"""Judges against experts' labels, and the panel with and without them (tables 2 and 11)."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.statistics import FEWEST_CLUSTERS, Cells, count_cells, panel_agreement, percentiles
from flows.stages.paper.table import Column, Table, of_kind
from flows.stages.paper.tables.judges import ITEM, agreement_row

_HALF = 0.5
_TEXTS = ["condition", "scenario_id", "item_id", "judge", "severity"]


def labelled(results: Results) -> pd.DataFrame:
    """Return the labelled items with one column per rater (`rater NAME`), the majority, and one per judge.

    The majority is NaN where the panel is split evenly. `severity` and `is_error` are the item's.
    """
    if not len(results.labels):
        raise NotEnoughError("no experts' labels (--labels FILE)")
    wide = results.labels.set_index([*ITEM, "rater"])["passed"].astype(float).unstack("rater")
    wide = wide.rename(columns=lambda name: f"rater {name}")
    share = wide.mean(axis=1)
    wide["majority"] = (share > _HALF).astype(float).where(share != _HALF)
    verdicts = results.verdicts[results.verdicts["condition"].isin(set(results.labels["condition"]))]
    own = verdicts[[*ITEM, "judge", "passed", "severity", "is_error"]].astype(dict.fromkeys(_TEXTS, object))
    own = own.merge(wide.index.to_frame(index=False), on=ITEM)
    facts = own.drop_duplicates(ITEM).set_index(ITEM)[["severity", "is_error"]]
    judges = own.set_index([*ITEM, "judge"])["passed"].unstack("judge")
    return wide.join(facts).join(judges).reset_index()


def raters(frame: pd.DataFrame) -> list[str]:
    """Columns of the raters."""
    return [column for column in frame.columns if str(column).startswith("rater ")]


def experts(results: Results) -> Table:
    """Each judge against the majority, and the panel's agreement with and without it (table 2)."""
    wide = labelled(results)
    panel = raters(wide)

    def of_panel(ratings: pd.DataFrame) -> dict[str, float]:
        names = ("panel_kappa", "panel_ac1", "panel_alpha")
        return dict(zip(names, panel_agreement(ratings.to_numpy(float)), strict=True))

    rows = [{"who": f"panel of {len(panel)}", "n": len(wide), **of_panel(wide[panel])}]
    for judge in results.judges:
        if judge in wide:
            cells = count_cells(wide["majority"], wide[judge], wide["scenario_id"])
            if len(cells.counts):
                joined = of_panel(wide.loc[wide[judge].notna(), [*panel, judge]])
                rows.append({"who": judge, **agreement_row(cells), **joined})
    ties = int(wide["majority"].isna().sum())
    return Table.of(
        "Agreement with experts",
        (
            Column("who", "judge", "text"),
            Column("n", "items", "count"),
            *of_kind("share", agreement="agreement with the majority", agreement_low="low"),
            Column("agreement_high", "high", "share"),
            *of_kind("number", kappa="kappa", kappa_low="low", kappa_high="high", ac1="AC1"),
            *of_kind("number", panel_kappa="Fleiss kappa of the panel", panel_ac1="panel's AC1"),
            Column("panel_alpha", "panel's alpha"),
        ),
        rows,
        "First row: the experts alone. Below: each judge against their majority, and the panel's "
        "agreement with the judge as one more rater.",
        f"Items on which the panel is split evenly have no majority: {ties}.",
        "Fleiss' kappa and AC1 are over the items that every rater labelled, alpha over all.",
    )


def candidate_judges(results: Results) -> Table:
    """Each judge, each of its repeats and what their majority gains, against the experts (table 11)."""
    wide = labelled(results)
    keys = wide.set_index(ITEM).index
    rows: list[dict[str, object]] = []
    for judge in results.judges:
        if judge not in wide:
            continue
        own = results.repeats[results.repeats["judge"] == judge].astype({"condition": object})
        runs = own.set_index([*ITEM, "repeat"])["passed"].unstack("repeat").reindex(keys)
        repeats = {f"repeat {number}": run.reset_index(drop=True) for number, run in runs.items()}
        for which, verdicts in {"verdicts": wide[judge], **repeats}.items():
            cells = count_cells(wide["majority"], verdicts, wide["scenario_id"])
            if len(cells.counts):
                gain = _gain(wide, verdicts, list(repeats.values())) if which == "verdicts" else {}
                rows.append({"judge": judge, "which": which, **_against(cells), **gain})
    if not rows:
        raise NotEnoughError("no judge graded a labelled item")
    return Table.of(
        "Judges against the experts' majority",
        (
            *of_kind("text", judge="judge", which="verdicts"),
            Column("n", "items", "count"),
            Column("agreement", "agreement", "share"),
            *of_kind("number", kappa="kappa", kappa_low="low", kappa_high="high", ac1="AC1"),
            *of_kind("share", sensitivity="failed found", specificity="passed found"),
            *of_kind("signed", gain="kappa gained by the majority", gain_low="low", gain_high="high"),
        ),
        rows,
        "Failed found: share of the items failed by the majority that the judge fails too "
        "(sensitivity); passed found: the same of passed items (specificity).",
        "Verdicts: the judge's own, or the majority of its repeats; the repeats follow.",
        "Gained: kappa of the majority less the mean kappa of the repeats, on the items that all of "
        "them graded. Intervals: 95%, percentile bootstrap over scenarios, from six on.",
    )


def _against(cells: Cells) -> dict[str, float]:
    """Return the agreement with the experts' majority."""
    a, b, c, d = cells.pooled.each
    return {
        **agreement_row(cells),
        "sensitivity": float(d / (c + d)) if c + d else np.nan,
        "specificity": float(a / (a + b)) if a + b else np.nan,
    }


def _gain(wide: pd.DataFrame, majority: pd.Series, repeats: list[pd.Series]) -> dict[str, float]:
    """Return what the majority of repeats adds to the mean kappa of one, with its interval; paired."""
    if len(repeats) < 2:  # noqa: PLR2004 -- a majority takes several
        return {}
    known = pd.concat([wide["majority"], majority, *repeats], axis=1).notna().all(axis=1)
    label, clusters = wide.loc[known, "majority"], wide.loc[known, "scenario_id"]
    first, *others = (count_cells(label, one[known], clusters) for one in (majority, *repeats))

    def gain(view: Callable[[Cells], Cells]) -> np.ndarray:
        return np.asarray(view(first).kappa - np.mean([view(one).kappa for one in others], axis=0))

    # Equal seeds: each draw takes the same scenarios for the majority and the repeats.
    ends = (np.nan, np.nan)
    if len(first.counts) >= FEWEST_CLUSTERS:
        ends = percentiles(gain(lambda cells: cells.resampled))
    return {"gain": float(gain(lambda cells: cells.pooled)), "gain_low": ends[0], "gain_high": ends[1]}
