"""Main results (table 4), the ranking by unweighted shares, and what refusals do to it."""

import numpy as np
import pandas as pd

from flows.common.text import words
from flows.stages.paper.coverage import comparable, covered, over_scenarios
from flows.stages.paper.results import BRIEF, NotEnoughError, Results
from flows.stages.paper.statistics import correlation
from flows.stages.paper.table import CAP, NAMED, Column, Table, of_kind, slug


def main_results(results: Results) -> Table:
    """Score with interval, the same under each other judge, and the unweighted shares; best first."""
    frame = results.board.copy()
    frame["rank"] = results.ranked(frame, "score")
    is_named = not frame.duplicated(["model", "effort", "word_cap"]).any()
    columns: list[Column] = []
    for judge in results.judges[1:]:
        own = results.estimates[results.estimates["judge"] == judge].set_index("condition")["score"]
        frame[f"score_{slug(judge)}"] = frame["condition"].map(own)
        columns.append(Column(f"score_{slug(judge)}", f"score, {judge}"))
    weights = ", ".join(f"{words(name)} {results.weights[name]:g}" for name in results.assumed)
    refused = (
        "MA-Bench's paper counts refusals as outputs and does not say how they score; the table refusals "
        "has both rankings."
    )
    assumed = f"Weights that are assumed, not published: {weights}. The table weights-grid varies them."
    return Table.of(
        "Main results",
        (
            Column("rank", "rank", "count"),
            *of_kind("text", condition="" if is_named else "condition", model="model", effort="effort"),
            CAP,
            *of_kind("number", score="score", low="low", high="high"),
            *columns,
            Column("score_clamped", "clamped"),
            *of_kind("share", correct="correct", passed="passed"),
            *of_kind("number", wrong="wrong moves", score_low="least possible", score_high="most possible"),
            *of_kind("count", n_scenarios="scenarios", n_briefs="briefs", n_briefs_all="of"),
            *of_kind("count", n_ungraded="items ungraded", n_refused="refusals", n_cut="cut"),
        ),
        frame,
        f"Judge: {results.judge}.",
        results.interval_note,
        "Ranked: the conditions with the benchmark's prompt and cap, at medium effort or the "
        "provider's default, and a score on every brief of the same scenarios. The others follow "
        "without a rank.",
        "Correct: items passed of all graded; passed: requirements passed; wrong moves: mean number "
        "in a brief. Least and most possible: the score if every missing verdict failed, or passed.",
        *([assumed] if results.assumed else []),
        "A score that too few briefs support is a dash.",
        *([refused] if (results.own_briefs["status"] == "refused").any() else []),
    )


def weighted_unweighted(results: Results) -> Table:
    """Ranks by the weighted score and by the share of items right."""
    own = results.board[results.board["at_benchmark"]]
    frame = own[own["is_ranked"]].dropna(subset=["score", "correct"]).copy()
    if len(frame) < 2:  # noqa: PLR2004 -- a ranking compares
        raise NotEnoughError(
            "a ranking takes two conditions with a score on every brief of the same scenarios"
        )
    frame["rank"] = frame["score"].rank(ascending=False, method="min")
    frame["rank_correct"] = frame["correct"].rank(ascending=False, method="min")
    frame["change"] = frame["rank"] - frame["rank_correct"]
    found = correlation(frame["score"], frame["correct"])
    shown = "undefined" if np.isnan(found) else f"{found:.2f}"
    return Table.of(
        "Weighted and unweighted ranking",
        (
            *of_kind("text", condition="", model="model", effort="effort"),
            CAP,
            Column("score", "score"),
            Column("rank", "rank", "count"),
            Column("correct", "correct", "share"),
            *of_kind("count", rank_correct="rank by correct", change="places gained unweighted"),
        ),
        frame,
        f"Spearman's rank correlation of score and correct: {shown}, n {len(frame)}.",
    )


def refusals(results: Results) -> Table:
    """Both rankings: a refused brief without a score, and with 0."""
    own = results.own_briefs.set_index(["condition", "scenario_id"])
    refused = own["status"] == "refused"
    if not refused.any():
        raise NotEnoughError("no brief was refused")
    by_condition = refused.groupby("condition", observed=True)
    frame = pd.DataFrame({"n_briefs": by_condition.size(), "n_refused": by_condition.sum()})
    for name, value in (("unscored", np.nan), ("zero", 0.0)):
        frame[name] = over_scenarios(own["counted"].mask(refused, value))
    frame = results.named(frame.sort_values("unscored", ascending=False).reset_index())
    at_benchmark = own.index.get_level_values("condition").isin(results.at_benchmark)
    chosen = comparable(
        covered(own["counted"].mask(refused, 0.0)[at_benchmark])
    )  # with a score but where refused
    for name in ("unscored", "zero"):
        frame[f"rank_{name}"] = results.ranked(frame, name, chosen)
    ranked = frame[frame["rank_unscored"].notna() | frame["rank_zero"].notna()]
    differ = (ranked["rank_unscored"] != ranked["rank_zero"]).any()
    return Table.of(
        "Refusals as missing, and as 0",
        (
            *NAMED,
            *of_kind("count", n_briefs="briefs", n_refused="refused"),
            Column("unscored", "score, refusals unscored"),
            Column("rank_unscored", "rank", "count"),
            Column("zero", "score, refusals 0"),
            Column("rank_zero", "rank", "count"),
        ),
        frame,
        "The rankings differ." if differ else "The rankings are the same.",
    )


def generation(results: Results) -> Table:
    """Raw words, briefs cut at the cap, and refusals (table 5)."""
    briefs = results.briefs.drop_duplicates(["condition", *BRIEF])
    statuses = {f"n_{status}": briefs["status"] == status for status in ("refused", "empty", "error")}
    frame = (
        briefs.assign(**statuses)
        .groupby("condition", observed=True)
        .agg(
            model=("model", "first"),
            effort=("effort", "first"),
            word_cap=("word_cap", "first"),
            n_briefs=("seed", "size"),
            mean=("words_raw", "mean"),
            least=("words_raw", "min"),
            most=("words_raw", "max"),
            n_cut=("cut", "sum"),
            n_cut_by_provider=("cut_by_provider", "sum"),
            **{name: (name, "sum") for name in statuses},
        )
        .reset_index()
    )
    frame["effort"] = frame["effort"].astype(str).replace("default", "provider's default")
    frame = frame.sort_values(["model", "effort", "word_cap"])
    return Table.of(
        "Length of briefs, cuts and refusals",
        (
            *of_kind("text", condition="", model="model", effort="effort"),
            CAP,
            *of_kind("count", n_briefs="briefs", mean="words, mean", least="min", most="max"),
            Column("n_cut", "cut at the cap", "count"),
            *of_kind("count", n_cut_by_provider="stopped at the output limit", n_refused="refusals"),
            *of_kind("count", n_empty="empty", n_error="errors"),
        ),
        frame,
        "Words are counted before the cut. Provider's default: no reasoning effort was sent.",
        "Refusals are outputs that a content filter stopped; they have no words.",
    )


def corpus(results: Results) -> Table:
    """Documents, characters and items by scenario, severity and tier (table 3, figure 4)."""
    items = results.verdicts.drop_duplicates(["scenario_id", "item_id"])

    def counted(chosen: pd.DataFrame, column: str | None = None) -> pd.Series:
        own = chosen.groupby("scenario_id", observed=True)
        return (own[column].sum() if column else own.size()).reindex(frame.index, fill_value=0)

    frame = items.groupby("scenario_id", observed=True).agg(n_items=("item_id", "size"))
    sources = results.sources.set_index("scenario_id").reindex(frame.index.astype(object))
    frame["n_documents"], frame["n_characters"] = (sources[name].to_numpy(float) for name in sources)
    columns = [
        Column("scenario_id", "scenario", "text"),
        *of_kind("count", n_documents="documents", n_characters="characters", n_items="items"),
    ]
    groups: list[tuple[str, object, str]] = [
        *(("severity", name, words(name)) for name in severities(results)),
        *(("tier", tier, f"tier {tier}") for tier in tiers(results)),
    ]
    for by, group, head in groups:
        name = f"{by}_{slug(str(group))}"
        frame[name] = counted(items[items[by] == group])
        columns.append(Column(name, head, "count"))
    if not results.weights:
        for name, head, wanted in (
            ("n_required", "required", False),
            ("n_penalties", "penalties", True),
        ):
            chosen = items[items["is_error"] == wanted]
            frame[name], frame[f"{name}_points"] = counted(chosen), counted(chosen, "points")
            columns += [Column(name, head, "count"), Column(f"{name}_points", "points")]
    frame = frame.reset_index().sort_values("scenario_id")
    total = frame.drop(columns="scenario_id").sum(skipna=False)
    frame = pd.concat([frame, pd.DataFrame([{"scenario_id": "all", **total}])], ignore_index=True)
    note = (
        "Scenarios that were graded. Characters: of the packet as a writer gets it, all documents as text; a "
        "dash where the packet is not stored (staffbench packets)."
    )
    return Table.of("Corpus", columns, frame, note)


def severities(results: Results) -> list[str]:
    """Severities that items have, in the order of the weights."""
    present = set(results.verdicts["severity"].dropna().unique())
    return [name for name in results.weights if name in present]


def tiers(results: Results) -> list[int]:
    """Tiers that items have, in order."""
    return sorted(int(tier) for tier in results.verdicts["tier"].dropna().unique())
