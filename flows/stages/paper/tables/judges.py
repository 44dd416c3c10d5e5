"""Judges against one another and against themselves (tables 1 and 12, figures 9 and 10)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from flows.stages.paper.results import BRIEF, NotEnoughError, Results, family
from flows.stages.paper.statistics import Cells, cluster_interval, count_cells, pooled, rank_correlation
from flows.stages.paper.table import Column, Table, of_kind, slug

ITEM = ["condition", *BRIEF, "item_id"]
_AGREEMENT = (
    Column("n", "items", "count"),
    *of_kind("share", agreement="agreement", agreement_low="low", agreement_high="high"),
    *of_kind("number", kappa="kappa", kappa_low="low", kappa_high="high", ac1="AC1", alpha="alpha"),
)
_NOTE = (
    "Kappa: Cohen; AC1: Gwet, which a skew of passes and fails hardly moves; alpha: Krippendorff. Intervals: "
    "95%, percentile bootstrap over scenarios, from six on."
)


def agreement_row(cells: Cells) -> dict[str, float]:
    """Return the agreement of two raters with intervals over scenarios."""
    total = pooled(cells)
    agreement, kappa = (
        cluster_interval(cells, lambda own: own.agreement),
        cluster_interval(cells, lambda own: own.kappa),
    )
    return {
        "n": float(total.n),
        "agreement": float(total.agreement),
        "agreement_low": agreement[0],
        "agreement_high": agreement[1],
        "kappa": float(total.kappa),
        "kappa_low": kappa[0],
        "kappa_high": kappa[1],
        "ac1": float(total.ac1),
        "alpha": float(total.alpha),
    }


def side_by_side(results: Results) -> pd.DataFrame:
    """Return the verdicts with one column per judge; copies of the same text are left out."""
    if len(results.judges) < 2:  # noqa: PLR2004 -- agreement takes two
        raise NotEnoughError("one judge only (+experiment=judges)")
    return results.by_judge


def _common_means(results: Results, first: str, second: str) -> pd.DataFrame:
    """Return each condition's mean under two judges, over the briefs that both scored."""
    wide = results.briefs.pivot_table(
        index=["condition", *BRIEF], columns="judge", values="counted", aggfunc="first", observed=True
    )
    if not {first, second} <= set(wide.columns):
        return pd.DataFrame(columns=[first, second])
    both = wide[[first, second]].dropna()
    means = both.groupby(["condition", "scenario_id"], observed=True).mean()
    return means.groupby("condition", observed=True).mean()


def judge_agreement(results: Results) -> Table:
    """Agreement of each pair of judges on common items, rank correlation and leniency (table 1)."""
    wide = side_by_side(results)
    rows: list[dict[str, object]] = []
    for first, second in combinations(results.judges, 2):
        cells = count_cells(wide[first], wide[second], wide["scenario_id"])
        if not len(cells.both_passed):
            continue
        means = _common_means(results, first, second)
        both = wide.loc[wide[first].notna() & wide[second].notna(), ["condition", *BRIEF]]
        rows.append(
            {
                "first": first,
                "second": second,
                **agreement_row(cells),
                "n_briefs": len(np.unique(results.brief_codes(both))),
                "rank_correlation": rank_correlation(means[first], means[second]),
                "offset": (means[second] - means[first]).mean() if len(means) else np.nan,
                "offset_spread": (means[second] - means[first]).std(),
            }
        )
    if not rows:
        raise NotEnoughError("no two judges graded the same briefs")
    return Table(
        "Agreement of judges",
        (
            *of_kind("text", first="judge", second="other judge"),
            *_AGREEMENT,
            Column("n_briefs", "briefs", "count"),
            Column("rank_correlation", "Spearman of models"),
            Column("offset", "leniency of the other", "signed"),
            Column("offset_spread", "its spread"),
        ),
        pd.DataFrame(rows),
        (
            _NOTE,
            (
                "Spearman: of the conditions' mean scores on the common briefs. Leniency: mean score under "
                "the other judge minus that under the first; spread: standard deviation over conditions."
            ),
        ),
    )


def judge_agreement_by_group(results: Results) -> Table:
    """Agreement of each pair of judges by tier, severity and polarity."""
    wide = side_by_side(results)
    polarity = pd.Series(np.where(wide["is_error"], "wrong moves", "requirements"), dtype="category")
    wide = wide.assign(polarity=polarity)
    rows: list[dict[str, object]] = []
    for first, second in combinations(results.judges, 2):
        for by in ("tier", "severity", "polarity"):
            for group, own in wide.groupby(by, observed=True):
                cells = count_cells(own[first], own[second], own["scenario_id"])
                if len(cells.both_passed):
                    label = f"{group:g}" if by == "tier" else str(group).replace("_", " ")
                    names = {"first": first, "second": second, "by": by, "group": label}
                    rows.append({**names, **agreement_row(cells)})
    if not rows:
        raise NotEnoughError("no two judges graded the same briefs")
    head = (*of_kind("text", first="judge", second="other judge", by="by", group="group"),)
    return Table("Agreement of judges by class of item", (*head, *_AGREEMENT), pd.DataFrame(rows), (_NOTE,))


def scores_by_judge(results: Results) -> Table:
    """Each condition's score under each judge, on the briefs that all of them scored (table 12)."""
    if len(results.judges) < 2:  # noqa: PLR2004 -- a comparison
        raise NotEnoughError("one judge only (+experiment=judges)")
    wide = results.briefs.pivot_table(
        index=["condition", *BRIEF], columns="judge", values="counted", aggfunc="first", observed=True
    )
    common = wide.reindex(columns=results.judges).dropna()
    if not len(common):
        raise NotEnoughError("no brief has a score by every judge")
    means = (
        common.groupby(["condition", "scenario_id"], observed=True).mean().groupby("condition", observed=True)
    )
    frame = means.mean()
    n_briefs = common.groupby("condition", observed=True).size()
    columns: list[Column] = []
    for judge in results.judges:
        frame[f"rank {judge}"] = frame[judge].rank(ascending=False, method="min")
        columns += [Column(f"score_{slug(judge)}", judge), Column(f"rank_{slug(judge)}", "rank", "count")]
    frame = frame.sort_values(results.judge, ascending=False)
    frame["n_briefs"] = n_briefs
    frame = frame.rename(
        columns={
            **{judge: f"score_{slug(judge)}" for judge in results.judges},
            **{f"rank {judge}": f"rank_{slug(judge)}" for judge in results.judges},
        }
    ).reset_index()
    frame["name"] = frame["condition"].map(results.names)
    head = (
        *of_kind("text", condition="", name="model"),
        Column("n_briefs", "briefs", "count"),
    )
    return Table(
        "Scores under each judge",
        (*head, *columns),
        frame,
        ("On the briefs that every judge scored. The first judge is that of the other tables.",),
    )


def retest(results: Results) -> Table:
    """Agreement among repeats of the same judge."""
    if not len(results.repeats):
        raise NotEnoughError("no judge was asked more than once (+experiment=test_retest)")
    rows: list[dict[str, object]] = []
    for judge, own in results.repeats.groupby("judge", observed=True):
        wide = own.set_index([*ITEM, "repeat"])["passed"].unstack("repeat").reset_index()
        numbers = [column for column in wide.columns if isinstance(column, int | np.integer)]
        for first, second in combinations(numbers, 2):
            cells = count_cells(wide[first], wide[second], wide["scenario_id"])
            if len(cells.both_passed):
                rows.append({"judge": judge, "first": first, "second": second, **agreement_row(cells)})
    head = (
        Column("judge", "judge", "text"),
        *of_kind("count", first="repeat", second="other repeat"),
    )
    return Table("Repeats of the same judge", (*head, *_AGREEMENT), pd.DataFrame(rows), (_NOTE,))


def self_preference(results: Results) -> Table:
    """How much more a judge gives a condition than the other judges do, where families match."""
    if len(results.judges) < 2:  # noqa: PLR2004 -- a comparison
        raise NotEnoughError("one judge only (+experiment=judges)")
    wide = results.briefs.pivot_table(
        index=["condition", "model", *BRIEF],
        columns="judge",
        values="counted",
        aggfunc="first",
        observed=True,
    )
    common = wide.reindex(columns=results.judges).dropna()
    if not len(common):
        raise NotEnoughError("no brief has a score by every judge")
    means = common.groupby(["condition", "model", "scenario_id"], observed=True).mean()
    means = means.groupby(["condition", "model"], observed=True).mean()
    rows: list[dict[str, object]] = []
    for judge in results.judges:
        excess = means[judge] - means.drop(columns=judge).mean(axis=1)
        for (condition, model), value in zip(means.index, excess, strict=True):
            same = family(str(model)) == family(judge) and judge not in results.stand_ins
            rows.append(
                {
                    "judge": judge,
                    "condition": condition,
                    "name": results.names[condition],
                    "same_family": "yes" if same else "no",
                    "excess": value,
                    "beyond_leniency": value - excess.mean(),
                }
            )
    frame = pd.DataFrame(rows).sort_values(["same_family", "beyond_leniency"], ascending=False)
    notes = [
        (
            "Excess: the judge's score minus the mean of the other judges', on the same briefs. Beyond "
            "leniency: minus the judge's mean excess over all conditions."
        ),
        "A family is the first word of a label (gpt, claude). Same family is a reason to look, no proof.",
    ]
    for judge, own in frame.groupby("judge", observed=True):
        same = own.loc[own["same_family"] == "yes", "beyond_leniency"]
        if len(same):
            notes.append(f"{judge}: own family {same.mean():+.3f} beyond leniency, n {len(same)}.")
    return Table(
        "Judges and writers of the same family",
        (
            *of_kind("text", judge="judge", condition="", name="model", same_family="same family"),
            *of_kind("signed", excess="excess", beyond_leniency="beyond leniency"),
        ),
        frame,
        notes,
    )
