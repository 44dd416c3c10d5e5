"""Gather what the tables and figures of a paper are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from flows.common.errors import StoreError
from flows.pipeline.results.graded import Graded, scored
from flows.pipeline.results.table_rows import VerdictRows
from flows.schema.rows import as_row
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import BriefScore, Estimate, ExpertLabel
from flows.stages.aggregate import interval_over
from flows.stages.paper import (
    BRIEF_COLUMNS,
    LABEL_COLUMNS,
    REPEAT_COLUMNS,
    SOURCE_COLUMNS,
    TASK_COLUMNS,
    VERDICT_COLUMNS,
    Results,
)
from flows.stages.score import item_points

_NO_NUMBER = float("nan")
_TEXTS = [
    "condition", "model", "effort", "prompt", "harness", "judge", "scenario_id", "item_id", "step",
    "severity", "status", "mode", "requirement", "reason",
]  # fmt: skip


def paper_results(
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    *,
    word_cap: int | None,
    prompt: str,
    judge: str | None = None,
    labels: Sequence[ExpertLabel] = (),
    characters: Mapping[str, int] = MappingProxyType({}),
) -> Results:
    """Build the tables that every table and figure is made from.

    Args:
        graded: all graded conditions, at least one.
        scenarios: by id.
        scoring: the weights and the interval.
        word_cap: of the benchmark's condition.
        prompt: version of its prompt.
        judge: label of the judge of the tables; None for the one that graded the most briefs. A stand-in
            comes after any other judge that graded one.
        labels: of experts.
        characters: of the packets that are stored, by scenario.

    Raises:
        StaffbenchError: verdicts don't match their rubric.
        StoreError: `judge` graded nothing.
    """
    judges = {entry.judge for entry in graded}
    if judge is not None and judge not in judges:
        raise StoreError("results", f"no verdict by judge {judge}", f"one of {', '.join(sorted(judges))}")
    stand_ins = frozenset(entry.judge for entry in graded if entry.is_stand_in)
    briefs = _table([_briefs(entry, scenarios, scoring) for entry in graded], BRIEF_COLUMNS)
    names = {name for entry in graded for name in entry.about["scenarios"]}
    tasks = [
        (name, task.title, task.report_family, task.setting, _unknown(task.mean_score_pct) / 100)
        for name in sorted(names & scenarios.keys())
        if (task := scenarios[name].task) is not None
    ]
    sources = [
        (name, len(scenarios[name].documents) or _NO_NUMBER, characters.get(name, _NO_NUMBER))
        for name in sorted(names & scenarios.keys())
    ]
    severities = {item.severity for name in names & scenarios.keys() for item in scenarios[name].items}
    weights = {name: value for name, value in scoring.weights.items() if name in severities}
    repeats = [
        (entry.condition, entry.judge, v.scenario_id, v.seed, v.item_id, number, _unknown(v.passed))
        for entry in graded
        for number, v in entry.repeats
    ]
    rated = [(x.rater, x.condition, x.scenario_id, x.seed, x.item_id, float(x.passed)) for x in labels]
    return Results(
        verdicts=_table([_verdicts(entry, scenarios, scoring) for entry in graded], VERDICT_COLUMNS),
        briefs=briefs,
        estimates=pd.DataFrame(
            [_estimate(entry, scored(entry, scenarios, scoring).estimate) for entry in graded]
        ),
        judge=judge or _most_used(briefs, stand_ins),
        word_cap=word_cap,
        prompt=prompt,
        weights=weights,
        assumed=[name for name in scoring.assumed if name in weights],
        interval=partial(interval_over, scoring=scoring),
        labels=pd.DataFrame(rated, columns=LABEL_COLUMNS),
        repeats=pd.DataFrame(repeats, columns=REPEAT_COLUMNS),
        tasks=pd.DataFrame(tasks, columns=TASK_COLUMNS),
        sources=pd.DataFrame(sources, columns=SOURCE_COLUMNS),
        stand_ins=stand_ins,
    )


def _verdicts(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> pd.DataFrame:
    """Return `VERDICT_COLUMNS`. Facts of an item or a brief are looked up once for all its verdicts."""
    facts, copies = _items(entry, scenarios, scoring), entry.copies
    frame: pd.DataFrame = VerdictRows.of(entry.verdicts).frame()
    first = np.zeros(len(frame), dtype=np.int64)
    for name, value in _head(entry).items():
        frame[name] = value if name == "word_cap" else pd.Categorical([value]).take(first)
    row, places = _places(frame, "item_id")
    own = [facts.get(place, _UNKNOWN_ITEM) for place in places]
    for at, name in enumerate(("step", "tier", "severity", "is_error", "points", "requirement")):
        values: list[Any] = [item[at] for item in own]
        frame[name] = pd.Categorical(values).take(row) if name in _TEXTS else np.array(values)[row]
    row, places = _places(frame, "seed")
    frame["is_copy"] = np.array([place in copies for place in places], dtype=bool)[row]
    return frame[VERDICT_COLUMNS]


def _places(frame: pd.DataFrame, name: str) -> tuple[np.ndarray, list[tuple[Any, Any]]]:
    """Return the number of each row's pair of scenario and another value, and the pairs."""
    scenario, other = frame["scenario_id"].cat, pd.Categorical(frame[name])
    n = max(1, len(other.categories))
    row, pairs = pd.factorize(scenario.codes.to_numpy(np.int64) * n + other.codes)
    return row, [(scenario.categories[int(pair) // n], other.categories[int(pair) % n]) for pair in pairs]


_UNKNOWN_ITEM = (None, _NO_NUMBER, None, False, _NO_NUMBER, "")


def _items(
    entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Return the facts of the items, by scenario and item; of imported jobs as their verifier wrote them."""
    if entry.is_foreign:
        return {
            (task, row[0]): (None, _NO_NUMBER, None, bool(row[2]), _unknown(row[1]), row[3])
            for task, rows in entry.about["harbor"].get("criteria", {}).items()
            for row in rows
        }
    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for name in entry.about["scenarios"]:
        items = scenarios[name].items
        points = item_points(items, scoring)
        for item in items:
            classes = (item.step, _unknown(item.tier), item.severity, item.is_error)
            found[name, item.item_id] = (*classes, points[item.item_id], item.requirement)
    return found


def _briefs(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> pd.DataFrame:
    by_brief = {(brief["scenario_id"], brief["seed"]): brief for brief in entry.briefs}
    copies = entry.copies
    scores = scored(entry, scenarios, scoring).scores
    own = [by_brief[score.scenario_id, score.seed] for score in scores]
    numbers = ["score", "score_clamped", "score_low", "score_high", "correct", "passed", "wrong"]
    columns = [*(each.name for each in fields(BriefScore)), "n_missing"]
    found = pd.DataFrame([{**as_row(one), "n_missing": one.n_missing} for one in scores], columns=columns)
    found[numbers] = found[numbers].astype(float)
    found["counted"] = found["score_clamped" if entry.is_clamped(scoring) else "score"]
    for name in ("words_raw", "words_kept"):
        found[name] = [_unknown(brief[name]) for brief in own]
    for name in ("cut", "cut_by_provider"):
        found[name] = [bool(brief[name]) for brief in own]
    found["status"] = [str(brief["status"]) for brief in own]
    found["is_copy"] = [(score.scenario_id, score.seed) in copies for score in scores]
    return found.assign(**_head(entry))


def _head(entry: Graded) -> dict[str, Any]:
    condition = entry.about["condition"]
    names = ("model", "effort", "prompt", "harness")
    return {
        "condition": entry.condition,
        **{name: str(condition[name]) for name in names},
        "word_cap": _unknown(condition["word_cap"]),
        "judge": entry.judge,
    }


def _estimate(entry: Graded, estimate: Estimate) -> dict[str, Any]:
    means, interval = as_row(estimate), estimate.interval
    del means["interval"]
    return {
        **_head(entry),
        **{name: _unknown(value) for name, value in means.items()},
        "low": _NO_NUMBER if interval is None else interval.low,
        "high": _NO_NUMBER if interval is None else interval.high,
        "method": None if interval is None else interval.method,
        "n_refused": len(entry.refused),
        "n_cut": sum(bool(brief["cut"]) for brief in entry.briefs),
    }


def _table(parts: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Concatenate parts; repeated texts become categories, which are small and quick to group by."""
    found: dict[str, Any] = {}
    for name in columns:
        own = [_as_texts(part[name]) if name in _TEXTS else part[name] for part in parts]
        is_text = name in _TEXTS
        join: Any = union_categoricals if is_text else cast("Any", np).concatenate
        found[name] = join(own, sort_categories=True) if is_text else join(own)
    return pd.DataFrame(found)


def _as_texts(column: pd.Series) -> pd.Series:
    """Return a column as categories of one type, also where nothing is known."""
    found = column.astype("category")
    return found.cat.rename_categories(cast("Any", found.cat.categories.astype("str")))


def _most_used(briefs: pd.DataFrame, stand_ins: frozenset[str]) -> str:
    counts = briefs["counted"].notna().groupby(briefs["judge"], observed=True).sum()
    return min((n == 0, judge in stand_ins, -int(n), str(judge)) for judge, n in counts.items())[3]


def _unknown(value: float | None) -> float:
    return _NO_NUMBER if value is None else float(value)
