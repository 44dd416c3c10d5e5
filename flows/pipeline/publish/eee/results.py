"""Scores with their uncertainty as the schema of Every Eval Ever wants them."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import mean, stdev
from typing import Any

from flows.pipeline.publish.eee.describe import generation, judges, texts
from flows.pipeline.publish.export import Publication
from flows.pipeline.publish.graded_results import GradedResults
from flows.pipeline.results.graded import Graded, scored
from flows.schema.verdict import Estimate
from flows.stages.aggregate import UNCLASSED, breakdowns


def results(
    loaded: GradedResults,
    entry: Graded,
    settings: Mapping[str, Any],
    evaluation_id: str,
    publication: Publication,
) -> list[dict[str, Any]]:
    """Return the score, the shares of items, and the pass rates by tier, step and severity, where known."""
    scoring, benchmark = loaded.settings.scoring, entry.about["condition"]["benchmark"]
    found = scored(entry, loaded.scenarios, scoring)
    estimate, row = found.estimate, loaded.row(entry)
    source: dict[str, Any] = {
        "dataset_name": benchmark,
        **({"source_type": "url", "url": [publication.url]} if publication.url else {"source_type": "other"}),
        "additional_details": texts(
            {
                "scenarios": list(entry.about["scenarios"]),
                "rubrics_sha256": entry.about.get("rubrics"),
                "documents_sha256": entry.about.get("written_from", {}).get("documents"),
            }
        ),
    }
    counts = {
        "n_scenarios": f"{estimate.n_scenarios} of {estimate.n_scenarios_all}",
        "n_briefs": f"{estimate.n_briefs} of {estimate.n_briefs_all}",
        "n_items_without_a_verdict": estimate.n_ungraded,
        "n_refused": row.n_refused,
        "n_failed": row.n_error,
        "n_cut_at_the_word_cap": row.n_cut,
        "self_judged": row.self_judged,
        "score_if_missing_failed": estimate.score_low,
        "score_if_missing_passed": estimate.score_high,
        "weights": dict(scoring.weights) or None,
        "assumed_weights": scoring.assumed or None,
        "writer_usd": row.usd,
        "judge_usd": row.judge_usd,
        "interval_of_too_few_scenarios": row.interval_text
        if estimate.interval and row.ci_level is None
        else None,
    }
    lowest: float | str = 0.0 if scoring.clamped else "-Infinity"
    share: tuple[float | str, float | str] = (0.0, 1.0)
    score = f"severity-weighted score, {scoring.name}, mean over scenarios"
    values: list[tuple[str, str, float | None, str, tuple[float | str, float | str]]] = [
        ("score", score, estimate.score, "proportion", (lowest, 1.0)),
        ("correct", "share of graded items passed", estimate.correct, "proportion", share),
        ("passed", "share of graded requirements met", estimate.passed, "proportion", share),
        ("wrong", "mean number of wrong moves in a brief", estimate.wrong, "count", (0.0, "Infinity")),
    ]
    if not entry.is_foreign:
        items = {name: loaded.scenarios[name].items for name in entry.about["scenarios"]}
        for by, groups in breakdowns(items, entry.verdicts_once, ["tier", "step", "severity"]).items():
            for one in groups:
                if one.group != UNCLASSED and (one.kind == "requirement" or by == "severity"):
                    text = (
                        f"share of graded verdicts passed, {by} {one.group}, pooled over briefs (n {one.n})"
                    )
                    values.append((f"passed.{by}.{one.group}", text, one.rate, "proportion", share))
    graders, settled = judges(entry, settings), generation(entry, settings)
    by_scenario: dict[str, list[float]] = {}
    for one in found.scores:
        if one.score is not None:
            by_scenario.setdefault(one.scenario_id, []).append(one.score)
    means = [mean(values) for values in by_scenario.values()]
    uncertainty = {"uncertainty": _uncertainty(estimate, means, scoring.resamples)}
    return [
        {
            "evaluation_result_id": f"{evaluation_id}#{name}",
            "evaluation_name": benchmark if name == "score" else f"{benchmark}: {name}",
            "source_data": source,
            "metric_config": {
                "evaluation_description": text,
                "metric_id": f"staffbench.{name}",
                "metric_name": name,
                "metric_unit": unit,
                "lower_is_better": name == "wrong",
                "score_type": "continuous",
                "min_score": low,
                "max_score": high,
                **graders,
            },
            "score_details": {
                "score": value,
                "details": texts(counts),
                **(uncertainty if name == "score" else {}),
            },
            "generation_config": settled,
        }
        for name, text, value, unit, (low, high) in values
        if value is not None
    ]


def _uncertainty(estimate: Estimate, means: Sequence[float], resamples: int) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": estimate.n_scenarios}
    if len(means) > 1:
        spread = stdev(means)
        found["standard_deviation"] = spread
        error = spread / sqrt(len(means))
        found["standard_error"] = {"value": error, "method": "analytic, clustered by scenario"}
    interval = estimate.interval
    if interval is not None and interval.level is not None:
        found["confidence_interval"] = {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": interval.level,
            "method": interval.method,
        }
        if "bootstrap" in interval.method:
            found["num_bootstrap_samples"] = resamples
    return found
