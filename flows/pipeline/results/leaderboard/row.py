"""One row of the leaderboard, from a condition under one judge."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flows.pipeline.results.graded import Graded, scored
from flows.pipeline.results.table_rows import VerdictRows
from flows.schema.brief import BriefStatus
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.rows import as_row
from flows.schema.scenario import Scenario
from flows.schema.settings import Harness, ScoringSettings, Writer
from flows.schema.verdict import VerdictStatus
from flows.stages.aggregate import most_unlike

_COUNTED = ("refused", "error", "empty", "missing", "corrupt")


def leaderboard_row(
    entry: Graded,
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    differs: tuple[tuple[str, str], ...],
) -> LeaderboardRow:
    """Return the row of a graded condition, without its rank.

    Raises:
        StaffbenchError: verdicts do not match their rubric.
    """
    about, briefs, reports = entry.about, entry.briefs, list(entry.reports.values())
    condition, judge = about["condition"], about["judge"]
    estimate = scored(entry, scenarios, scoring).estimate
    means = as_row(estimate)
    del means["interval"]
    interval = estimate.interval
    statuses = [str(brief["status"]) for brief in briefs]
    written = BriefStatus.written.value
    return LeaderboardRow(
        **{name: condition[name] for name in ("model", "effort", "word_cap", "prompt", "harness")},
        judge=judge["name"],
        **means,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_level=interval.level if interval else None,
        ci_method=interval.method if interval else None,
        ci_unlike=most_unlike(interval, estimate.n_scenarios),
        **{f"n_{status}": statuses.count(status) for status in _COUNTED},
        n_cut=sum(bool(brief["cut"]) for brief in briefs),
        n_cut_by_provider=sum(bool(brief["cut_by_provider"]) for brief in briefs),
        n_hidden=len(about.get("hidden_characters", ())),
        n_noticed=sum(brief["status"] == written and bool(brief["detail"]) for brief in briefs),
        words_raw=_mean([brief["words_raw"] for brief in briefs]),
        words_kept=_mean([brief["words_kept"] for brief in briefs]),
        self_judged=bool(about["self_judged"]),
        condition=condition["label"],
        judge_id=judge["label"],
        condition_digest=condition["digest"],
        judge_digest=judge["digest"],
        n_over_limit=_over_limit(reports),
        n_unmeasured=_unmeasured(reports),
        n_at_limit=sum(report.ended.startswith("limit") for report in reports),
        copied=condition["model"] == Writer.extractive.value and entry.is_stand_in,
        judge_call=judge.get("harness"),  # imported and older files don't say
        n_all_met=_all_met(entry) if condition["harness"] != Harness.single_prompt.value else None,
        **_spent(about.get("spent", {})),
        n_texts=_texts(entry, scenarios, scoring),
        correct_empty=_correct_empty(entry, scenarios),
        differs=differs,
    )


def _spent(parts: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """Return the fields of cost; none for files without them."""
    sides = (("", parts.get("writer")), ("judge_", parts.get("judge")))
    return {f"{prefix}{name}": value for prefix, part in sides if part for name, value in part.items()}


def _texts(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> int | None:
    """Number of different scored texts, if seeds repeat texts that no model wrote; else None."""
    copies = entry.copies
    scores = scored(entry, scenarios, scoring).by_brief
    own = sum(score.score is not None for brief, score in scores.items() if brief not in copies)
    return own if copies else None


def _correct_empty(entry: Graded, scenarios: Mapping[str, Scenario]) -> float | None:
    """Share of correct items of empty briefs, averaged over scenarios; None if a rubric is unknown.

    Items that the judge does not grade by design don't count.
    """
    names = [str(name) for name in entry.about["scenarios"]]
    if entry.is_foreign or not names:
        return None
    by_design = [one for one in VerdictStatus if one is not VerdictStatus.graded and not one.is_missing]
    rows = VerdictRows.of(entry.verdicts).with_status(by_design)
    unasked = {(verdict.scenario_id, verdict.item_id) for verdict in rows}
    shares: list[float] = []
    for name in names:
        asked = [item.is_error for item in scenarios[name].items if (name, item.item_id) not in unasked]
        shares.append(sum(asked) / len(asked))
    return math.fsum(shares) / len(shares)


def _all_met(entry: Graded) -> int:
    """Number of reports with every verdict passed; one with a missing verdict is not counted.

    Criteria that the judge does not grade by its rules don't count.
    """
    return sum(
        all(verdict.passed for verdict in verdicts if verdict.status is not VerdictStatus.abstained)
        for verdicts in entry.by_brief.values()
    )


def _over_limit(reports: Iterable[ReportFacts]) -> int | None:
    """Number of reports over a measured limit; None if no limit was measured."""
    limits = [[measure.within for measure in report.length] for report in reports]
    measured = [within for within in limits if any(value is not None for value in within)]
    return sum(False in within for within in measured) if measured else None


def _unmeasured(reports: Iterable[ReportFacts]) -> int | None:
    """Number of readable reports with an unmeasured limit; None if no report has a limit."""
    found = [report for report in reports if report.length and report.words is not None]
    return sum(any(one.within is None for one in report.length) for report in found) if found else None


def _mean(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
