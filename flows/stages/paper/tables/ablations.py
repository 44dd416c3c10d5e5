"""Length, reasoning effort and the word cap (figures 7 and 8, table 10)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.statistics import linear_correlation, rank_correlation, sign_flip
from flows.stages.paper.table import Column, Table, of_kind

_LEVELS = ("none", "minimal", "low", "default", "medium", "high", "max")
_PAIR_COLUMNS = (
    *of_kind("signed", difference="difference", low="low", high="high"),
    Column("p", "p", "p"),
    Column("n_scenarios", "scenarios", "count"),
)


def paired(results: Results, means: pd.DataFrame, first: str, second: str) -> dict[str, float]:
    """Return mean difference (second minus first), interval and sign-flip p on shared scenarios."""
    differences = (means.loc[second] - means.loc[first]).dropna().to_numpy()
    low, high = results.limits(differences)
    return {
        "difference": float(differences.mean()) if len(differences) else np.nan,
        "low": low,
        "high": high,
        "p": sign_flip(differences),
        "n_scenarios": len(differences),
    }


def length(results: Results) -> Table:
    """Correlation of raw length and score, over models and over briefs."""
    own = results.briefs[(results.briefs["judge"] == results.judge) & ~results.briefs["is_copy"]]
    own = own[own["condition"].isin(results.at_benchmark)].dropna(subset=["words_raw", "counted"])
    if not len(own):
        raise NotEnoughError("no brief with words and a score")
    means = own.groupby("condition", observed=True)[["words_raw", "counted"]].mean()
    rows = [
        ("conditions, mean length and mean score", "Pearson", linear_correlation(*_pair(means)), len(means)),
        ("conditions, mean length and mean score", "Spearman", rank_correlation(*_pair(means)), len(means)),
        ("briefs", "Pearson", linear_correlation(*_pair(own)), len(own)),
    ]
    cell = [own["condition"], own["scenario_id"]]
    within = own[["words_raw", "counted"]] - own.groupby(cell, observed=True)[
        ["words_raw", "counted"]
    ].transform("mean")
    rows.append(
        ("briefs, within condition and scenario", "Pearson", linear_correlation(*_pair(within)), len(within))
    )
    frame = pd.DataFrame(rows, columns=["over", "correlation", "value", "n"])
    return Table(
        "Raw length and score",
        (
            *of_kind("text", over="over", correlation="correlation"),
            Column("value", "value", "signed"),
            Column("n", "n", "count"),
        ),
        frame,
        (
            "Words before the cut; conditions at the benchmark's cap and effort.",
            (
                "Within condition and scenario: both are taken from the mean over seeds, so that neither a "
                "model's style nor a scenario's size counts."
            ),
        ),
    )


def _pair(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    return frame["words_raw"], frame["counted"]


def effort(results: Results) -> Table:
    """Score at each effort against the benchmark's effort, paired by scenario (figure 7)."""
    means = results.scenario_means()
    rows: list[dict[str, object]] = []
    for model, cap, own in _groups(results, ["model", "harness", "word_cap_text"]):
        levels = own.drop_duplicates("effort").set_index("effort")["condition"].to_dict()
        base = next((level for level in ("medium", "default") if level in levels), None)
        if base is None or len(levels) < 2:  # noqa: PLR2004 -- a shift takes two levels
            continue
        for level in sorted(levels, key=_LEVELS.index):
            if level != base and {levels[level], levels[base]} <= set(means.index):
                shift = paired(results, means, levels[base], levels[level])
                names = {"model": model, "word_cap": cap, "effort": level, "against": base}
                rows.append({**names, "condition": levels[level], **shift})
    if not rows:
        raise NotEnoughError("no model was run at two efforts (+experiment=effort)")
    return Table(
        "Reasoning effort: change of the score",
        (
            *of_kind("text", model="model", word_cap="cap", effort="effort", against="against"),
            Column("condition", "", "text"),
            *_PAIR_COLUMNS,
        ),
        pd.DataFrame(rows),
        ("Mean over scenarios of the paired difference. p: exact sign-flip test, not corrected.",),
    )


def cap(results: Results) -> Table:
    """Score with the benchmark's cap and without one, paired by scenario (table 10, figure 8)."""
    means = results.scenario_means()
    rows: list[dict[str, object]] = []
    for model, level, own in _groups(results, ["model", "harness", "effort"]):
        capped = own.loc[own["word_cap"] == results.word_cap, "condition"]
        free = own.loc[own["word_cap"].isna(), "condition"]
        if not len(capped) or not len(free) or not {capped.iloc[0], free.iloc[0]} <= set(means.index):
            continue
        pair = capped.iloc[0], free.iloc[0]
        rows.append(
            {
                "model": model,
                "effort": level,
                "condition": pair[0],
                "capped": means.loc[pair[0]].mean(),
                "uncapped": means.loc[pair[1]].mean(),
                **paired(results, means, *pair),
            }
        )
    if not rows:
        raise NotEnoughError("no model was run with the benchmark's cap and without one (+experiment=cap)")
    frame = pd.DataFrame(rows).sort_values("capped", ascending=False, ignore_index=True)
    frame["rank_capped"] = frame["capped"].rank(ascending=False, method="min")
    frame["rank_uncapped"] = frame["uncapped"].rank(ascending=False, method="min")
    correlation = rank_correlation(frame["capped"], frame["uncapped"])
    higher = int((frame["difference"] > 0).sum())
    notes = [
        (
            f"Mean difference {frame['difference'].mean():+.3f}; {higher} of {len(frame)} score higher "
            "without the cap. p: exact sign-flip test, not corrected."
        )
    ]
    if not np.isnan(correlation):
        notes.append(f"Spearman's rank correlation of the two scores: {correlation:.2f}, n {len(frame)}.")
    return Table(
        "The word cap",
        (
            *of_kind("text", model="model", effort="effort", condition=""),
            Column("capped", f"cap of {results.word_cap:,}" if results.word_cap else "cap"),
            Column("rank_capped", "rank", "count"),
            Column("uncapped", "no cap"),
            Column("rank_uncapped", "rank", "count"),
            *_PAIR_COLUMNS,
        ),
        frame,
        notes,
    )


def _groups(results: Results, keys: list[str]) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield model, the last key's value, and the conditions that agree on the keys."""
    rows = results.board.copy()
    rows["word_cap_text"] = rows["word_cap"].map(lambda cap: "none" if pd.isna(cap) else f"{int(cap):,}")
    for values, own in rows.groupby(keys, sort=False, observed=True):
        yield str(values[0]), str(values[-1]), own
