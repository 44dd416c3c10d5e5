"""Judges against one another and against themselves (tables 1 and 12, figures 9 and 10)."""

from itertools import combinations

import numpy as np
import pandas as pd

from flows.common.text import words
from flows.stages.paper.coverage import comparable, covered, over_scenarios
from flows.stages.paper.results import BRIEF, NotEnoughError, Results, family
from flows.stages.paper.statistics import Cells, correlation, count_cells
from flows.stages.paper.table import NAMED, Column, Table, of_kind, slug

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
    total = cells.pooled
    agreement, kappa = cells.interval(lambda own: own.agreement), cells.interval(lambda own: own.kappa)
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


def _need_two(results: Results) -> None:
    if len(results.judges) < 2:  # noqa: PLR2004 -- a comparison
        raise NotEnoughError("one judge only (+experiment=judges)")


def judge_agreement(results: Results) -> Table:
    """Agreement of each pair of judges on common items, rank correlation and leniency (table 1)."""
    _need_two(results)
    wide = results.by_judge
    rows: list[dict[str, object]] = []
    for first, second in combinations(results.judges, 2):
        cells = count_cells(wide[first], wide[second], wide["scenario_id"])
        if not len(cells.counts):
            continue
        means = over_scenarios(results.brief_scores[[first, second]].dropna())
        offset = means[second] - means[first]
        both = wide.loc[wide[first].notna() & wide[second].notna(), ["condition", *BRIEF]]
        rows.append(
            {
                "first": first,
                "second": second,
                **agreement_row(cells),
                "n_briefs": len(np.unique(results.brief_codes(both))),
                "rank_correlation": correlation(means[first], means[second]),
                "offset": offset.mean(),
                "offset_spread": offset.std(),
            }
        )
    if not rows:
        raise NotEnoughError("no two judges graded the same briefs")
    return Table.of(
        "Agreement of judges",
        (
            *of_kind("text", first="judge", second="other judge"),
            *_AGREEMENT,
            Column("n_briefs", "briefs", "count"),
            Column("rank_correlation", "Spearman of models"),
            Column("offset", "leniency of the other", "signed"),
            Column("offset_spread", "its spread"),
        ),
        rows,
        _NOTE,
        "Spearman: of the conditions' mean scores on the common briefs. Leniency: mean score under "
        "the other judge minus that under the first; spread: standard deviation over conditions.",
    )


def judge_agreement_by_group(results: Results) -> Table:
    """Agreement of each pair of judges by tier, severity and polarity."""
    _need_two(results)
    wide = results.by_judge
    polarity = pd.Series(
        np.where(wide["is_error"], *map(results.said, ("wrong moves", "requirements"))), dtype="category"
    )
    wide = wide.assign(polarity=polarity)
    rows: list[dict[str, object]] = []
    for first, second in combinations(results.judges, 2):
        for by in ("tier", "severity", "polarity"):
            for group, own in wide.groupby(by, observed=True):
                cells = count_cells(own[first], own[second], own["scenario_id"])
                if len(cells.counts):
                    label = f"{group:g}" if by == "tier" else words(str(group))
                    names = {"first": first, "second": second, "by": by, "group": label}
                    rows.append({**names, **agreement_row(cells)})
    if not rows:
        raise NotEnoughError("no two judges graded the same briefs")
    head = of_kind("text", first="judge", second="other judge", by="by", group="group")
    return Table.of("Agreement of judges by class of item", (*head, *_AGREEMENT), rows, _NOTE)


def _common(results: Results) -> pd.DataFrame:
    """Return the scores by judge of the briefs that all of them scored."""
    _need_two(results)
    common = results.brief_scores.dropna()
    if not len(common):
        raise NotEnoughError("no brief has a score by every judge")
    return common


def scores_by_judge(results: Results) -> Table:
    """Each condition's score under each judge, on the briefs that all of them scored (table 12)."""
    common = _common(results)
    means = over_scenarios(common).sort_values(results.judge, ascending=False)
    frame = pd.DataFrame({"n_briefs": common.groupby("condition", observed=True).size()}).loc[means.index]
    frame = results.named(frame.reset_index())
    by_scenario = common[results.judge].droplevel("seed")
    is_own = by_scenario.index.get_level_values("condition").isin(results.rankable)
    chosen = comparable(covered(by_scenario[is_own]))
    columns: list[Column] = []
    for judge in results.judges:
        frame[f"score_{slug(judge)}"] = means[judge].to_numpy()
        frame[f"rank_{slug(judge)}"] = results.ranked(frame, f"score_{slug(judge)}", chosen)
        columns += [Column(f"score_{slug(judge)}", judge), Column(f"rank_{slug(judge)}", "rank", "count")]
    note = "On the briefs that every judge scored. The first judge is that of the other tables."
    head = (*NAMED, Column("n_briefs", "briefs", "count"))
    return Table.of("Scores under each judge", (*head, *columns), frame, note)


def retest(results: Results) -> Table:
    """Agreement among repeats of the same judge."""
    if not len(results.repeats):
        raise NotEnoughError("no judge was asked more than once (+experiment=test_retest)")
    rows: list[dict[str, object]] = []
    for judge, own in results.repeats.groupby("judge", observed=True):
        wide = own.set_index([*ITEM, "repeat"])["passed"].unstack("repeat").reset_index("scenario_id")
        for first, second in combinations(wide.columns.drop("scenario_id"), 2):
            cells = count_cells(wide[first], wide[second], wide["scenario_id"])
            if len(cells.counts):
                rows.append({"judge": judge, "first": first, "second": second, **agreement_row(cells)})
    head = (Column("judge", "judge", "text"), *of_kind("count", first="repeat", second="other repeat"))
    return Table.of("Repeats of the same judge", (*head, *_AGREEMENT), rows, _NOTE)


def self_preference(results: Results) -> Table:
    """How much more a judge gives a condition than the other judges do, where families match."""
    means = over_scenarios(_common(results))
    models = results.estimates.drop_duplicates("condition").set_index("condition")["model"]
    parts: list[pd.DataFrame] = []
    for judge in results.judges:
        excess = means[judge] - means.drop(columns=judge).mean(axis=1)
        part = pd.DataFrame({"excess": excess, "beyond_leniency": excess - excess.mean()}).reset_index()
        same = part["condition"].map(models).map(family) == family(judge)
        same &= judge not in results.stand_ins
        parts.append(part.assign(judge=judge, same_family=np.where(same, "yes", "no")))
    frame = results.named(pd.concat(parts))
    frame = frame.sort_values(["same_family", "beyond_leniency"], ascending=False)
    notes = [
        (
            "Excess: the judge's score minus the mean of the other judges', on the same briefs. Beyond "
            "leniency: minus the judge's mean excess over all conditions."
        ),
        "A family is the first word of a label (gpt, claude). Same family is a reason to look, no proof.",
    ]
    own = frame[frame["same_family"] == "yes"].groupby("judge")["beyond_leniency"]
    notes += [
        f"{judge}: own family {each.mean():+z.3f} beyond leniency, n {len(each)}." for judge, each in own
    ]
    return Table.of(
        "Judges and writers of the same family",
        (
            *of_kind("text", judge="judge", condition="", name="model", same_family="same family"),
            *of_kind("signed", excess="excess", beyond_leniency="beyond leniency"),
        ),
        frame,
        *notes,
    )
