"""Make the tables and figures of a paper from graded conditions, and write them into one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.pipeline.results.graded import Graded, scored
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Estimate, ExpertLabel
from flows.stages.aggregate import interval_over
from flows.stages.paper import (
    BRIEF_COLUMNS,
    FIGURE_ENDINGS,
    FIGURES,
    LABEL_COLUMNS,
    REPEAT_COLUMNS,
    TABLE_ENDINGS,
    TABLES,
    TASK_COLUMNS,
    VERDICT_COLUMNS,
    NotEnoughError,
    Results,
    draw,
    render,
)

README = "README.md"
_NO_NUMBER = float("nan")
_TEXTS = [
    "condition", "model", "effort", "prompt", "harness", "judge", "scenario_id", "item_id", "step", "severity",
    "status", "mode", "requirement", "reason",
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
) -> Results:
    """Build the tables that every table and figure is made from.

    Args:
        graded: all graded conditions, at least one.
        scenarios: by id.
        scoring: the weights and the interval.
        word_cap, prompt: cap and version of the prompt in the benchmark's condition.
        judge: label of the judge of the tables; None for the one that graded the most briefs. A stand-in
            comes after any other judge.
        labels: of experts.

    Raises:
        StaffbenchError: verdicts don't match their rubric.
        StoreError: `judge` graded nothing.
    """
    judges = {entry.judge for entry in graded}
    if judge is not None and judge not in judges:
        raise StoreError("results", f"no verdict by judge {judge}", f"one of {', '.join(sorted(judges))}")
    stand_ins = frozenset(entry.judge for entry in graded if entry.about["judge"]["is_stand_in"])
    briefs = _table([_briefs(entry, scenarios, scoring) for entry in graded], BRIEF_COLUMNS)
    names = {name for entry in graded for name in entry.about["scenarios"]}
    tasks = [
        (name, task.title, task.report_family, task.setting, _share(task.mean_score_pct))
        for name in sorted(names & scenarios.keys())
        if (task := scenarios[name].task) is not None
    ]
    severities = {item.severity for name in names & scenarios.keys() for item in scenarios[name].items}
    weights = {name: value for name, value in scoring.weights.items() if name in severities}
    repeats = [
        (entry.condition, entry.judge, v.scenario_id, v.seed, v.item_id, number, _number(v.passed))
        for entry in graded
        for number, v in entry.repeats
    ]
    rated = [(x.rater, x.condition, x.scenario_id, x.seed, x.item_id, float(x.passed)) for x in labels]
    return Results(
        verdicts=_table([_verdicts(entry, scenarios, scoring) for entry in graded], VERDICT_COLUMNS),
        briefs=briefs,
        estimates=pd.DataFrame([_estimate(entry, scored(entry, scenarios, scoring).estimate) for entry in graded]),
        judge=judge or _most_used(briefs, stand_ins),
        word_cap=word_cap,
        prompt=prompt,
        weights=weights,
        assumed=[name for name in scoring.assumed if name in weights],
        interval=partial(interval_over, scoring=scoring),
        labels=pd.DataFrame(rated, columns=LABEL_COLUMNS),
        repeats=pd.DataFrame(repeats, columns=REPEAT_COLUMNS),
        tasks=pd.DataFrame(tasks, columns=TASK_COLUMNS),
        stand_ins=stand_ins,
    )


def write_paper(
    results: Results, *, tables: Path | None = None, figures: Path | None = None
) -> tuple[list[Path], dict[str, str]]:
    """Write the tables and figures that the results support, and a README into each folder.

    Files of an earlier call that are not made now are deleted.

    Args:
        results: as built by `paper_results`.
        tables, figures: the folders; None to make none. They may be the same.

    Returns:
        The paths of the READMEs, and the names of what could not be made with the reason.

    Raises:
        StoreError: a file can't be written.
    """
    shown: dict[Path, dict[str, tuple[str, list[str]]]] = {}
    without: dict[str, str] = {}
    for folder, makers, form, endings in (
        (tables, TABLES, render, TABLE_ENDINGS),
        (figures, FIGURES, draw, FIGURE_ENDINGS),
    ):
        if folder is not None:
            entries = shown.setdefault(folder.resolve(), {})
            _write(folder, makers, form, endings, results, entries, without)
    readmes: list[Path] = []
    for folder, entries in shown.items():
        path = folder / README
        write_whole(path, _readme(results, entries, without))
        readmes.append(path)
    return readmes, without


def _write(
    folder: Path,
    makers: Mapping[str, Callable[[Results], Any]],
    form: Callable[[Any], Mapping[str, bytes]],
    endings: Sequence[str],
    results: Results,
    entries: dict[str, tuple[str, list[str]]],
    without: dict[str, str],
) -> None:
    """Write what can be made and add summary and links to `entries`; add the rest to `without`."""
    for name, make in makers.items():
        try:
            made = make(results)
        except NotEnoughError as error:
            without[name] = str(error)
            for ending in endings:
                (folder / f"{name}.{ending}").unlink(missing_ok=True)
            continue
        files = form(made)
        for ending, content in files.items():
            write_whole(folder / f"{name}.{ending}", content)
        summary = " ".join((make.__doc__ or "").split("\n\n")[0].split())
        links = [f"[{ending}]({name}.{ending})" for ending in files]
        known, others = entries.get(name, (summary, []))
        entries[name] = (known, [*others, *links])


def _readme(results: Results, entries: Mapping[str, tuple[str, list[str]]], without: Mapping[str, str]) -> str:
    notes = [
        f"Judge: {results.judge}, where a table doesn't compare judges.",
        results.interval_note,
        f"Conditions: {len(results.order)}, of which {len(results.at_benchmark)} count as the benchmark's "
        "condition; judges: " + ", ".join(results.judges) + ".",
        "Names with a number or an appendix are those of MA-Bench's paper; the others it doesn't have.",
        "An unknown number is null in Parquet, empty in CSV and a dash elsewhere. Shares are fractions in "
        "Parquet and CSV.",
    ]
    if results.judge in results.stand_ins:
        notes.insert(1, "This judge is a stand-in. Its numbers are not to be published.")
    missing = [f"| {name} | {reason} |" for name, reason in without.items()]
    return "\n".join(
        [
            "# Tables and figures",
            "",
            *(f"- {note}" for note in notes),
            "",
            "| file | what it shows | formats |",
            "|---|---|---|",
            *(f"| {name} | {summary} | {', '.join(links)} |" for name, (summary, links) in sorted(entries.items())),
            "",
            *(["## Not made", "", "| file | what it needs |", "|---|---|", *missing, ""] if missing else []),
        ]
    )


def _verdicts(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> dict[str, Any]:
    facts = _items(entry, scenarios, scoring)
    copies, verdicts = entry.copies, entry.verdicts
    own = [facts.get((v.scenario_id, v.item_id), _UNKNOWN_ITEM) for v in verdicts]
    names = ("step", "tier", "severity", "is_error", "points", "requirement")
    return {
        **_head(entry),
        "scenario_id": [v.scenario_id for v in verdicts],
        "seed": [v.seed for v in verdicts],
        "item_id": [v.item_id for v in verdicts],
        "status": [v.status.value for v in verdicts],
        "passed": [_number(v.passed) for v in verdicts],
        "mode": [v.mode.value if v.mode else None for v in verdicts],
        "reason": [v.reason for v in verdicts],
        "is_copy": [(v.scenario_id, v.seed) in copies for v in verdicts],
        **{name: [item[at] for item in own] for at, name in enumerate(names)},
    }


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
    return {
        (name, item.item_id): (
            item.step,
            _unknown(item.tier),
            item.severity,
            item.is_error,
            _points(item, scoring),
            item.requirement,
        )
        for name in entry.about["scenarios"]
        for item in scenarios[name].items
    }


def _points(item: Item, scoring: ScoringSettings) -> float:
    if item.points is None:
        return float(scoring.weights[item.severity or ""])
    polarity = "negative" if item.is_error else "positive"
    return float(scoring.weights.get(polarity, item.points))


def _briefs(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> dict[str, Any]:
    by_brief = {(brief["scenario_id"], brief["seed"]): brief for brief in entry.briefs}
    copies = entry.copies
    scores = scored(entry, scenarios, scoring).scores
    keys = [(score.scenario_id, score.seed) for score in scores]
    own = [by_brief[key] for key in keys]
    numbers = ("score", "score_clamped", "score_low", "score_high", "correct", "passed", "wrong")
    clamped = scoring.clamped or (entry.is_foreign and bool(entry.about["harbor"].get("clamped", True)))
    return {
        **_head(entry),
        "scenario_id": [score.scenario_id for score in scores],
        "seed": [score.seed for score in scores],
        "status": [str(brief["status"]) for brief in own],
        "words_raw": [_unknown(brief["words_raw"]) for brief in own],
        "words_kept": [_unknown(brief["words_kept"]) for brief in own],
        "cut": [bool(brief["cut"]) for brief in own],
        "cut_by_provider": [bool(brief["cut_by_provider"]) for brief in own],
        "counted": [_unknown(score.score_clamped if clamped else score.score) for score in scores],
        **{name: [_unknown(getattr(score, name)) for score in scores] for name in numbers},
        "n_items": [score.n_items for score in scores],
        "n_graded": [score.n_graded for score in scores],
        "n_missing": [score.n_missing for score in scores],
        "is_copy": [key in copies for key in keys],
    }


def _head(entry: Graded) -> dict[str, Any]:
    condition = entry.about["condition"]
    return {
        "condition": entry.condition,
        "model": str(condition["model"]),
        "effort": str(condition["effort"]),
        "word_cap": _unknown(condition["word_cap"]),
        "prompt": str(condition["prompt"]),
        "harness": str(condition["harness"]),
        "judge": entry.judge,
    }


def _estimate(entry: Graded, estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval
    names = (
        "score", "score_low", "score_high", "score_clamped", "correct", "passed", "wrong", "n_scenarios",
        "n_scenarios_all", "n_briefs", "n_briefs_all", "n_ungraded",
    )  # fmt: skip
    return {
        **_head(entry),
        **{name: _unknown(getattr(estimate, name)) for name in names},
        "low": _NO_NUMBER if interval is None else interval.low,
        "high": _NO_NUMBER if interval is None else interval.high,
        "method": None if interval is None else interval.method,
        "n_refused": len(entry.refused),
        "n_cut": sum(bool(brief["cut"]) for brief in entry.briefs),
    }


def _table(parts: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Concatenate parts; repeated texts become categories, which are small and quick to group by."""
    frame = pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)[list(columns)]
    for name in set(_TEXTS) & set(columns):
        frame[name] = frame[name].astype("category")
    return frame


def _most_used(briefs: pd.DataFrame, stand_ins: frozenset[str]) -> str:
    counts = briefs["judge"].value_counts()
    return min((judge in stand_ins, -int(count), str(judge)) for judge, count in counts.items())[2]


def _number(passed: bool | None) -> float:  # noqa: FBT001 -- a verdict
    return _NO_NUMBER if passed is None else float(passed)


def _unknown(value: float | None) -> float:
    return _NO_NUMBER if value is None else float(value)


def _share(percent: float | None) -> float:
    return _NO_NUMBER if percent is None else percent / 100
