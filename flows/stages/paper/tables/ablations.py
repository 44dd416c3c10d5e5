"""Length, reasoning effort and the word cap (figures 7 and 8, table 10)."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd

from flows.stages.paper.coverage import comparable
from flows.stages.paper.results import NotEnoughError, Results
from flows.stages.paper.statistics import correlation, sign_flip
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
    mean = float(differences.mean()) if len(differences) else np.nan
    p, n = sign_flip(differences), len(differences)
    return {"difference": mean, "low": low, "high": high, "p": p, "n_scenarios": n}


def length(results: Results) -> Table:
    """Correlation of raw length and score, over models and over briefs."""
    own = results.own_briefs
    own = own[~own["is_copy"] & own["condition"].isin(results.at_benchmark)]
    own = own.dropna(subset=["words_raw", "counted"])
    if not len(own):
        raise NotEnoughError("no brief with words and a score")
    pair = own[["words_raw", "counted"]]
    means = pair.groupby(own["condition"], observed=True).mean()
    cells = pair.groupby([own["condition"], own["scenario_id"]], observed=True)
    within = pair - cells.transform("mean")
    over = "conditions, mean length and mean score"
    kinds: list[tuple[str, Literal["pearson", "spearman"], pd.DataFrame]] = [
        (over, "pearson", means),
        (over, "spearman", means),
        ("briefs", "pearson", pair),
        ("briefs, within condition and scenario", "pearson", within),
    ]
    rows = [
        {
            "over": results.said(name),
            "correlation": method.title(),
            "value": correlation(each["words_raw"], each["counted"], method),
            "n": len(each),
        }
        for name, method, each in kinds
    ]
    return Table.of(
        "Raw length and score",
        (
            *of_kind("text", over="over", correlation="correlation"),
            Column("value", "value", "signed"),
            Column("n", "n", "count"),
        ),
        rows,
        "Words before the cut; conditions at the benchmark's cap and effort.",
        "Within condition and scenario: both are taken from the mean over seeds, so that neither a "
        "model's style nor a scenario's size counts.",
    )


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
                names = {"model": model, "word_cap": cap, "effort": level, "against": base}
                shift = paired(results, means, levels[base], levels[level])
                rows.append({**names, "condition": levels[level], **shift})
    if not rows:
        raise NotEnoughError("no model was run at two efforts (+experiment=effort)")
    columns = of_kind("text", model="model", word_cap="cap", effort="effort", against="against", condition="")
    note = "Mean over scenarios of the paired difference. p: exact sign-flip test, not corrected."
    frame = pd.DataFrame(rows)
    return Table.of("Reasoning effort: change of the score", (*columns, *_PAIR_COLUMNS), frame, note)


def cap(results: Results) -> Table:
    """Score with the benchmark's cap and without one, paired by scenario (table 10, figure 8)."""
    means = results.scenario_means()
    rows: list[dict[str, object]] = []
    on: dict[str, frozenset[str]] = {}  # the scenarios that a pair shares
    for model, level, own in _groups(results, ["model", "harness", "effort"]):
        capped = own.loc[own["word_cap"] == results.word_cap, "condition"].head(1).tolist()
        free = own.loc[own["word_cap"].isna(), "condition"].head(1).tolist()
        pair = [*capped, *free]
        if capped and free and {*pair} <= set(means.index):
            names = {"model": model, "effort": level, "condition": pair[0]}
            shared = means.loc[pair].dropna(axis="columns")
            on[pair[0]] = frozenset(map(str, shared))
            scores = dict(zip(("capped", "uncapped"), shared.mean(axis=1), strict=True))
            rows.append({**names, **scores, **paired(results, means, pair[0], pair[1])})
    if not rows:
        raise NotEnoughError("no model was run with the benchmark's cap and without one (+experiment=cap)")
    frame = pd.DataFrame(rows).sort_values("capped", ascending=False, ignore_index=True)
    chosen = comparable(on)
    for name in ("capped", "uncapped"):
        frame[f"rank_{name}"] = results.ranked(frame, name, chosen)
    of_ranks = correlation(frame["capped"], frame["uncapped"])
    higher = int((frame["difference"] > 0).sum())
    notes = [
        (
            f"Mean difference {frame['difference'].mean():+z.3f}; {higher} of {len(frame)} score higher "
            "without the cap. p: exact sign-flip test, not corrected."
        )
    ]
    if not np.isnan(of_ranks):
        notes.append(f"Spearman's rank correlation of the two scores: {of_ranks:.2f}, n {len(frame)}.")
    return Table.of(
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
        *notes,
    )


def _groups(results: Results, keys: list[str]) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield model, the last key's value, and the conditions that agree on the keys."""
    rows = results.board.copy()
    rows["word_cap_text"] = rows["word_cap"].map(lambda cap: "none" if pd.isna(cap) else f"{int(cap):,}")
    for values, own in rows.groupby(keys, sort=False, observed=True):
        yield str(values[0]), str(values[-1]), own
