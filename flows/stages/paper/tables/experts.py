"""Judges against experts' labels, and the panel with and without them (tables 2 and 11)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.statistics import count_cells, panel_agreement, pooled
from flows.stages.paper.table import Column, Table
from flows.stages.paper.tables.judges import ITEM, agreement_row

_HALF = 0.5


def labelled(results: Results) -> pd.DataFrame:
    """Return the labelled items with one column per rater (`rater NAME`), the majority, and one per judge.

    The majority is NaN where the panel is split evenly.
    """
    if not len(results.labels):
        raise NotEnoughError("no experts' labels (--labels FILE)")
    wide = results.labels.set_index([*ITEM, "rater"])["passed"].astype(float).unstack("rater")
    wide = wide.rename(columns=lambda name: f"rater {name}")
    share = wide.mean(axis=1)
    wide["majority"] = (share > _HALF).astype(float).where(share != _HALF)
    verdicts = results.verdicts[[*ITEM, "judge", "passed"]]
    keys = verdicts.set_index(ITEM).index
    own = verdicts[keys.isin(wide.index)]
    judges = own.set_index([*ITEM, "judge"])["passed"].unstack("judge")
    return wide.join(judges).reset_index()


def raters(frame: pd.DataFrame) -> list[str]:
    """Columns of the raters."""
    return [column for column in frame.columns if str(column).startswith("rater ")]


def experts(results: Results) -> Table:
    """Each judge against the majority, and the panel's agreement with and without it (table 2)."""
    wide = labelled(results)
    panel = raters(wide)
    alone = panel_agreement(wide[panel].to_numpy(float))
    rows: list[dict[str, object]] = [
        {"who": f"panel of {len(panel)}", "n": len(wide), **_panel(alone)},
    ]
    for judge in results.judges:
        if judge not in wide:
            continue
        cells = count_cells(wide["majority"], wide[judge], wide["scenario_id"])
        if not len(cells.both_passed):
            continue
        joined = panel_agreement(wide.loc[wide[judge].notna(), [*panel, judge]].to_numpy(float))
        rows.append({"who": judge, **agreement_row(cells), **_panel(joined)})
    ties = int(wide["majority"].isna().sum())
    return Table(
        "Agreement with experts",
        (
            Column("who", "judge", "text"),
            Column("n", "items", "count"),
            Column("agreement", "agreement with the majority", "share"),
            Column("agreement_low", "low", "share"),
            Column("agreement_high", "high", "share"),
            Column("kappa", "kappa"),
            Column("kappa_low", "low"),
            Column("kappa_high", "high"),
            Column("ac1", "AC1"),
            Column("panel_kappa", "Fleiss kappa of the panel"),
            Column("panel_ac1", "panel's AC1"),
            Column("panel_alpha", "panel's alpha"),
        ),
        pd.DataFrame(rows).reindex(
            columns=[
                "who",
                "n",
                "agreement",
                "agreement_low",
                "agreement_high",
                "kappa",
                "kappa_low",
                "kappa_high",
                "ac1",
                "panel_kappa",
                "panel_ac1",
                "panel_alpha",
            ]
        ),
        (
            (
                "First row: the experts alone. Below: each judge against their majority, and the panel's "
                "agreement with the judge as one more rater."
            ),
            f"Items on which the panel is split evenly have no majority: {ties}.",
            "Fleiss' kappa and AC1 are over the items that every rater labelled, alpha over all.",
        ),
    )


def _panel(values: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("panel_kappa", "panel_ac1", "panel_alpha"), values, strict=True))


def candidate_judges(results: Results) -> Table:
    """Each judge, each of its repeats and their majority against the experts' majority (table 11)."""
    wide = labelled(results)
    rows: list[dict[str, object]] = []
    candidates = [(judge, "verdicts", wide[judge]) for judge in results.judges if judge in wide]
    if len(results.repeats):
        keys = wide.set_index(ITEM).index
        for judge, own in results.repeats.groupby("judge", observed=True):
            runs = own.set_index([*ITEM, "repeat"])["passed"].unstack("repeat").reindex(keys)
            candidates += [
                (str(judge), f"repeat {number}", runs[number].reset_index(drop=True))
                for number in runs.columns
            ]
    for judge, which, verdicts in candidates:
        cells = count_cells(wide["majority"], verdicts, wide["scenario_id"])
        if not len(cells.both_passed):
            continue
        total = pooled(cells)
        failed, passed = total.only_second + total.both_failed, total.both_passed + total.only_first
        rows.append(
            {
                "judge": judge,
                "which": which,
                **agreement_row(cells),
                "sensitivity": float(total.both_failed / failed) if failed else np.nan,
                "specificity": float(total.both_passed / passed) if passed else np.nan,
            }
        )
    if not rows:
        raise NotEnoughError("no judge graded a labelled item")
    return Table(
        "Judges against the experts' majority",
        (
            Column("judge", "judge", "text"),
            Column("which", "verdicts", "text"),
            Column("n", "items", "count"),
            Column("agreement", "agreement", "share"),
            Column("kappa", "kappa"),
            Column("kappa_low", "low"),
            Column("kappa_high", "high"),
            Column("ac1", "AC1"),
            Column("sensitivity", "failed found", "share"),
            Column("specificity", "passed found", "share"),
        ),
        pd.DataFrame(rows),
        (
            (
                "Failed found: share of the items failed by the majority that the judge fails too "
                "(sensitivity); passed found: the same of passed items (specificity)."
            ),
            "Verdicts: the judge's own, or the majority of its repeats; the repeats follow.",
        ),
    )
