"""What experts' labels say about judges: stand-ins for raters, error rates, and corrected scores."""

from typing import Any

import numpy as np
import pandas as pd

from flows.common.text import number, plural, words
from flows.stages.paper.calibration import (
    EPSILON,
    FEWEST_ITEMS,
    FEWEST_RATERS,
    FEWEST_SCENARIOS,
    alternative_annotator,
    corrected,
    error_rates,
    parts,
    usable,
)
from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.statistics import panel_agreement
from flows.stages.paper.table import NAMED, Column, Table, of_kind
from flows.stages.paper.tables.experts import labelled, raters

_HALF = 0.5
_SLIGHT = 0.2
"""Up to here agreement is slight: J. R. Landis and G. G. Koch, Biometrics 33 (1977)."""


def alternative_annotators(results: Results) -> Table:
    """Whether a judge may stand in for an expert: the alternative annotator test."""
    wide = labelled(results)
    panel = raters(wide)
    if len(panel) < 2:  # noqa: PLR2004 -- the test leaves one out
        raise NotEnoughError("labels of one rater (the test leaves each of several out in turn)")
    rows: list[Any] = []
    for judge in results.judges:
        if judge not in wide or not wide[judge].notna().any():
            continue
        found = alternative_annotator(wide[panel], wide[judge])
        tested = found[found["p"].notna()]
        rate = tested["rejected"].mean()
        passes = None if not len(tested) else "yes" if rate >= _HALF else "no"
        whole = {"rater": "all", "n": found["n"].sum(), "winning_rate": rate, "stands_in": passes}
        found["rater"] = found["rater"].str.removeprefix("rater ")
        found["rejected"] = found["rejected"].map({1.0: "yes", 0.0: "no"})
        means = tested[["advantage", "rater_wins"]].mean()
        rows += [{"judge": judge, **row} for row in ({**whole, **means}, *found.to_dict("records"))]
    if not rows:
        raise NotEnoughError("no judge graded a labelled item")
    alpha = panel_agreement(wide[panel].to_numpy(float))[2]
    unlike = (
        f"The raters agree hardly more than by chance (Krippendorff's alpha {number(alpha, 2)}): that a "
        "judge may stand in for one of them then says nothing of its verdicts."
    )
    few = f"The authors ask for {FEWEST_RATERS} raters; here are {len(panel)}."
    return Table.of(
        "May a judge stand in for an expert?",
        (
            *of_kind("text", judge="judge", rater="rater left out"),
            Column("n", "items", "count"),
            *of_kind("share", advantage="judge wins or ties", rater_wins="rater wins or ties"),
            Column("p", "p", "p"),
            Column("rejected", "judge as good", "text"),
            Column("winning_rate", "winning rate", "share"),
            Column("stands_in", "may stand in", "text"),
        ),
        rows,
        "Alternative annotator test (Calderon, Reichart and Dror 2025): each rater is left out in "
        "turn, and judge and rater are compared by how many others agree with them on each item. "
        f"Judge as good: not worse by {EPSILON:g} or more, the cost of experts that the authors "
        "propose; one-sided t test, corrected by Benjamini and Yekutieli at 0.05.",
        "Winning rate: share of the raters for whom that holds. From half on, the judge may stand in.",
        f"A rater with fewer than {FEWEST_ITEMS} shared items is not tested. Items count as independent.",
        *([] if len(panel) >= FEWEST_RATERS else [few]),
        *([unlike] if alpha <= _SLIGHT else []),
    )


def _classed(results: Results, frame: pd.DataFrame) -> pd.DataFrame:
    """Add the class of each item, by which judges are calibrated: its severity, else its polarity."""
    polarity = np.where(frame["is_error"], "penalty", "requirement")
    classes = frame["severity"] if results.weights else pd.Series(polarity, frame.index, dtype="category")
    return frame.assign(**{"class": classes})


def _rates(results: Results, judge: str) -> dict[str, dict[str, float]]:
    """Return the judge's error rates against the majority of raters, by class."""
    wide = labelled(results)
    if judge not in wide:
        return {}
    wide = _classed(results, wide)
    brief = wide.groupby(["condition", *BRIEF], observed=True).ngroup()
    found = {
        str(name): error_rates(own["majority"], own[judge], brief[own.index])
        for name, own in wide.groupby("class", observed=True)
    }
    return {name: found[name] for name in (*results.weights, "requirement", "penalty") if name in found}


def judge_errors(results: Results) -> Table:
    """Each judge's error rates by severity, against the experts' majority."""
    rows = [
        {
            "judge": judge,
            "class": words(name),
            **rates,
            "informed": rates["sensitivity"] + rates["specificity"] - 1,
            "why": usable(rates),
        }
        for judge in results.judges
        for name, rates in _rates(results, judge).items()
    ]
    if not rows:
        raise NotEnoughError("no judge graded a labelled item")
    return Table.of(
        "Judges' errors by severity",
        (
            Column("judge", "judge", "text"),
            Column("class", "severity", "text"),
            Column("n_failed", "failed by experts", "count"),
            Column("sensitivity", "of these found", "share"),
            Column("n_passed", "passed by experts", "count"),
            Column("specificity", "of these passed", "share"),
            Column("informed", "sum less 1", "signed"),
            Column("why", "why it can't correct", "text"),
        ),
        rows,
        "Against the majority of the raters. Found: sensitivity of 'failed'; passed: specificity.",
        "Sum less 1: sensitivity + specificity - 1. At 0 the verdicts say nothing about the labels.",
    )


def corrected_scores(results: Results) -> Table:
    """Scores corrected for the judge's errors on labelled items, beside the raw ones."""
    rates = _rates(results, results.judge)
    n = int(sum(one["n_failed"] + one["n_passed"] for one in rates.values()))
    if not n:
        raise NotEnoughError("the judge of the tables graded no labelled item")
    graded = results.own_verdicts.dropna(subset="passed")
    graded = _classed(results, graded[results.on_scored_briefs(graded)])
    found = parts(graded, results.brief_codes(graded))
    rows: list[dict[str, object]] = []
    for condition in filter(found.__contains__, results.order):
        own = found[condition]
        faults = {
            name: usable(rates[name]) if name in rates else "no labels"
            for name in map(str, own.possible.columns)
        }
        why = "; ".join(f"{words(name)}: {fault}" for name, fault in faults.items() if fault)
        value, low, high = (np.nan,) * 3 if why else corrected(own, rates)
        numbers = {"score": own.score, "corrected": value, "low": low, "high": high}
        more = {"change": value - own.score, "n_scenarios": len(own.gained), "why": why or None}
        rows.append({"condition": condition, **numbers, **more})
    frame = results.named(pd.DataFrame(rows))
    for name in ("score", "corrected"):
        frame[f"rank_{name}"] = results.ranked(frame, name)
    return Table.of(
        "Scores corrected for the judge's errors",
        (
            *NAMED,
            Column("score", "score"),
            Column("rank_score", "rank", "count"),
            *of_kind("number", corrected="corrected", low="low", high="high"),
            Column("change", "change", "signed"),
            *of_kind("count", rank_corrected="corrected rank", n_scenarios="scenarios"),
            Column("why", "why it is not corrected", "text"),
        ),
        frame,
        f"Judge: {results.judge}, calibrated by {plural(n, 'labelled item')}. In each severity the "
        "share passed is corrected by Rogan and Gladen's formula (1978). Both scores are unclamped.",
        "Interval: 95%, t. It adds the variance of resampled scenarios and that of error rates drawn "
        f"from what the labels leave open, 2,000 draws each; from {FEWEST_SCENARIOS} scenarios on.",
        "It assumes that the judge errs on all briefs as on the labelled ones, which holds for a "
        "random sample (staffbench agreement sheet draws one).",
    )
