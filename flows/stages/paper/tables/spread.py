"""Scenario by model: means, spread over seeds, and shares of the variance."""

import numpy as np
import pandas as pd

from flows.common.text import plural
from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.table import NAMED, Column, Table, of_kind


def scenarios(results: Results) -> Table:
    """Mean score and spread over seeds, for each condition and scenario."""
    grouped = results.own_briefs.groupby(["condition", "scenario_id"], observed=True)["counted"]
    frame = grouped.agg(mean="mean", spread="std", least="min", most="max", n="count", n_all="size")
    return Table.of(
        "Scores by scenario",
        (
            *NAMED,
            Column("scenario_id", "scenario", "text"),
            *of_kind("number", mean="mean", spread="spread over seeds", least="min", most="max"),
            *of_kind("count", n="briefs", n_all="of"),
        ),
        results.in_order(frame.reset_index(), ["condition", "scenario_id"]),
        "Spread: standard deviation over the seeds of a scenario; a dash for a single seed.",
    )


def variance(results: Results) -> Table:
    """Shares of the variance of a brief's score that are model, scenario, seed and judge."""
    own = results.briefs[results.briefs["condition"].isin(results.at_benchmark) & ~results.briefs["is_copy"]]
    cube = _cube(own, results.judges)
    parts = components(cube)
    frame = pd.DataFrame({"source": list(parts), "variance": list(parts.values())})
    positive = frame["variance"].clip(lower=0)
    total = sum(positive)
    if total <= 0:
        raise NotEnoughError("scores do not vary")
    frame["share"], frame["deviation"] = positive / total, np.sqrt(positive)
    models, scenarios_, seeds, judges = cube.shape
    rest = (
        "The rest: how judges differ by brief."
        if judges > 1
        else "With one judge it includes the judge's noise."
    )
    return Table.of(
        "Where the variance of a brief's score comes from",
        (
            Column("source", "source", "text"),
            *of_kind("number", variance="", deviation="standard deviation"),
            Column("share", "share of the variance", "share"),
        ),
        frame,
        f"Random effects by the method of moments (ANOVA) over {models} conditions, {scenarios_} "
        f"scenarios, {plural(seeds, 'seed')} and {plural(judges, 'judge')}, with every brief in "
        "common. An estimate below 0 counts as 0.",
        f"Seed: what differs between briefs of one condition on one scenario. {rest}",
    )


def _cube(briefs: pd.DataFrame, judges: list[str]) -> np.ndarray:
    """Return scores by condition, scenario, seed and judge, for the largest complete block found."""
    wide = briefs.pivot_table(
        index=["condition", *BRIEF], columns="judge", values="counted", aggfunc="first", observed=True
    )
    names = [judge for judge in judges if judge in wide.columns]
    for chosen in (names, names[:1]):  # all judges, else the first
        block = wide[chosen].dropna()
        counts = block.groupby(["condition", "scenario_id"], observed=True).size().unstack("scenario_id")
        counts = counts.dropna(axis=0, how="any")  # conditions with every scenario
        if not counts.shape[0] or counts.shape[0] < 2 or counts.shape[1] < 2:  # noqa: PLR2004 -- a variance takes two
            continue
        seeds = int(counts.min().min())
        block = block.reset_index().sort_values(["condition", *BRIEF])
        block = block[block["condition"].isin(counts.index)]
        block = block[block.groupby(["condition", "scenario_id"], observed=True).cumcount() < seeds]
        return block[chosen].to_numpy(float).reshape(counts.shape[0], counts.shape[1], seeds, len(chosen))
    raise NotEnoughError("no two conditions have the same two scenarios scored")


def components(cube: np.ndarray) -> dict[str, float]:
    """Return variance components by the method of moments, of a balanced design; may be below 0.

    The score is model + scenario + model x scenario + seed (within both) + judge + rest. Expected mean
    squares: Searle, Casella and McCulloch, Variance Components (1992), chapter 4.

    `cube` has scores by model, scenario, seed and judge. With one judge, seed includes the rest.
    """
    m, s, k, j = cube.shape
    grand = cube.mean()
    by_model, by_scenario, by_judge = (
        cube.mean(axis=(1, 2, 3)),
        cube.mean(axis=(0, 2, 3)),
        cube.mean(axis=(0, 1, 2)),
    )
    cell, brief = cube.mean(axis=(2, 3)), cube.mean(axis=3)
    ms_model = s * k * j * ((by_model - grand) ** 2).sum() / (m - 1)
    ms_scenario = m * k * j * ((by_scenario - grand) ** 2).sum() / (s - 1)
    interaction = cell - by_model[:, None] - by_scenario[None, :] + grand
    ms_both = k * j * (interaction**2).sum() / ((m - 1) * (s - 1))
    ms_seed = j * ((brief - cell[:, :, None]) ** 2).sum() / (m * s * (k - 1)) if k > 1 else np.nan
    found = {
        "model": (ms_model - ms_both) / (s * k * j),
        "scenario": (ms_scenario - ms_both) / (m * k * j),
    }
    rest = cube - brief[..., None] - by_judge + grand
    ms_rest = (rest**2).sum() / ((m * s * k - 1) * (j - 1)) if j > 1 else 0.0
    if k > 1:
        found["model x scenario"] = (ms_both - ms_seed) / (k * j)
        found["seed"] = (ms_seed - ms_rest) / j
    else:
        found["model x scenario and seed"] = (ms_both - ms_rest) / j
    if j > 1:
        ms_judge = m * s * k * ((by_judge - grand) ** 2).sum() / (j - 1)
        found["judge"] = (ms_judge - ms_rest) / (m * s * k)
        found["rest"] = ms_rest
    return {name: float(value) for name, value in found.items()}
