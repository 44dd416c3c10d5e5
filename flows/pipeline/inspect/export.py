"""`staffbench export --to inspect`: stored results as Inspect's logs, one for each condition."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.scorer import Score

from flows.adapters.completions.store import CompletionStore
from flows.adapters.config.compose import compose_points
from flows.adapters.provenance import now
from flows.adapters.reports import ReportStore
from flows.adapters.screen import Screen
from flows.adapters.tables import TRAJECTORIES, read_table
from flows.common.errors import ConfigError
from flows.common.text import plural
from flows.common.version import __version__
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.inspect.grading import score_of, shares_of
from flows.pipeline.inspect.models import chat_of
from flows.pipeline.inspect.record import FORMAT, KEY, ConditionRecord, SampleRecord, dumped, loaded
from flows.pipeline.results.graded import Graded, Scored, scored
from flows.pipeline.results.stored import left_out, load_graded, load_scenarios, results_lock
from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import Completion
from flows.schema.rows import from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import PromptSettings, Settings
from flows.stages.generate import build_messages

_STOPS: Mapping[BriefStatus, StopReason] = {
    BriefStatus.refused: "content_filter",
    BriefStatus.error: "unknown",
}
_Key = tuple[str, int]


@dataclass(frozen=True)
class _Source:
    """What the logs of one benchmark are made of."""

    project: Path
    settings: Settings
    folder: Path
    scenarios: Mapping[str, Scenario]
    stored: Callable[[str], Completion | None]
    reports: ReportStore


def export_inspect(project: Path, overrides: Sequence[str], folder: Path, screen: Screen) -> int:
    """Write a log for each graded condition, with a score for each of its judges.

    Args:
        project: folder of the project.
        overrides: the benchmark, the results folder, and the scoring of the scores.
        folder: for the logs; those of the same conditions are replaced.
        screen: output.

    Returns:
        0; 1 if results were left out.

    Raises:
        ConfigError: nothing is graded.
        StaffbenchError: a table or the folder fails.
    """
    settings = compose_points(project, overrides, multirun=False)[0].settings
    results = project / settings.results
    here = results / settings.benchmark.name
    with results_lock(results):
        scenarios, problems = load_scenarios(project, settings)
        graded, faults = load_graded(here, scenarios)
    by_condition: dict[str, list[Graded]] = {}
    for entry in graded:
        if not entry.is_foreign:  # a Harbor job holds more than its import
            by_condition.setdefault(entry.condition, []).append(entry)
    if not by_condition:
        raise ConfigError(here, "nothing graded", "results of a run", "run staffbench run, or dvc pull")
    store = CompletionStore(results / "completions") if (results / "completions").is_dir() else None
    reports = ReportStore(here / "reports" / "files")
    source = _Source(project, settings, here, scenarios, store.get if store else lambda _: None, reports)
    try:
        for label, entries in by_condition.items():
            write_eval_log(_log_of(source, entries), str(folder.resolve() / f"{label}.eval"))
    finally:
        if store is not None:
            store.close()
    screen.note(
        f"Written: {plural(len(by_condition), 'log')} in {folder}; inspect view --log-dir {folder} shows them"
    )
    for line in left_out(here, [*problems, *faults]):
        screen.fault(f"Left out: {line}")
    return 1 if problems or faults else 0


def _log_of(source: _Source, entries: Sequence[Graded]) -> EvalLog:
    first = entries[0]
    condition = first.about["condition"]
    names: list[str] = first.about["scenarios"]
    each = [(entry, scored(entry, source.scenarios, source.settings.scoring)) for entry in entries]
    samples = _samples(source, each)
    created = now()
    settings: Mapping[str, Any] = (first.settings or {}).get("settings", {})
    task = f"staffbench/{source.settings.benchmark.protocol.value}"
    spec = EvalSpec(
        created=created,
        eval_id=str(condition["digest"])[:22],
        run_id=str(condition["digest"])[:22],
        task_id=str(condition["digest"])[:22],
        task=task,
        task_registry_name=task,
        task_version=str(condition["digest"])[:8],
        task_args={
            "benchmark": condition["benchmark"],
            "word_cap": condition["word_cap"],
            "prompt": condition["prompt"],
        },
        dataset=EvalDataset(name=condition["benchmark"], samples=len(names), sample_ids=names),
        model=condition["model"],
        model_base_url=(settings.get("model") or {}).get("api_base"),
        config=EvalConfig(epochs=int(first.about["seeds"]), epochs_reducer=["mean"]),
        packages={"staffbench": __version__},
        metadata={
            KEY: {"conditions": [_condition_record(entry) for entry in entries]},
            "condition": condition,
        },
    )
    usage: dict[str, ModelUsage] = {}
    for sample in samples:
        for name, used in sample.model_usage.items():
            usage[name] = usage.get(name, ModelUsage()) + used
    return EvalLog(
        status="success",
        eval=spec,
        results=EvalResults(
            total_samples=len(samples),
            completed_samples=len(samples),
            scores=[_results(entry, one, samples) for entry, one in each],
        ),
        stats=EvalStats(started_at=created, completed_at=created, model_usage=usage),
        samples=samples,
    )


def _results(entry: Graded, one: Scored, samples: Sequence[EvalSample]) -> EvalScore:
    estimate, interval = one.estimate, one.estimate.interval
    values: dict[str, float | None] = {
        "mean": estimate.score,
        "ci_low": interval and interval.low,
        "ci_high": interval and interval.high,
        "score_low": estimate.score_low,
        "score_high": estimate.score_high,
    }
    found = [sample.scores[entry.judge] for sample in samples if sample.scores]
    values |= shares_of([score.metadata or {} for score in found if score.value == score.value])  # noqa: PLR0124 -- NaN is unscored
    return EvalScore(
        name=entry.judge,
        scorer=entry.judge,
        scored_samples=estimate.n_briefs,
        unscored_samples=estimate.n_briefs_all - estimate.n_briefs,
        metrics={
            name: EvalMetric(name=name, value=value) for name, value in values.items() if value is not None
        },
    )


def _condition_record(entry: Graded) -> dict[str, Any]:
    about, settings = entry.about, entry.settings or {}
    spent = about.get("spent") or {}
    record = {
        "scorer": entry.judge,
        "format": FORMAT,
        "settings": settings.get("settings", {}),
        "changed": settings.get("changed", []),
        "condition": entry.condition,
        "judge": entry.judge,
        "digests": [about["condition"]["digest"], about["judge"]["digest"]],
        "rubrics": about["rubrics"],
        "judge_versions": about.get("judge_versions", {}),
        "totals": {
            "written_from": about.get("written_from", {"documents": {}, "assignments": {}}),
            "n_canary_missed": about.get("n_canary_missed"),
            "judge_spent": spent.get("judge") or {},
            "writer_spent": spent.get("writer"),
            "served": about.get("served", {}),
            "judge_served": about.get("judge_served", {}),
        },
    }
    return dumped(loaded(ConditionRecord, record))


def _samples(source: _Source, each: Sequence[tuple[Graded, Scored]]) -> list[EvalSample]:
    first = each[0][0]
    turns = _trajectories(source, first)
    inputs = {name: _input(source, first, source.scenarios[name]) for name in first.about["scenarios"]}
    verdicts = [(entry, one.by_brief, entry.by_brief, _repeats(entry)) for entry, one in each]
    samples: list[EvalSample] = []
    for brief in from_rows(Brief, first.briefs):
        key = (brief.scenario_id, brief.seed)
        scenario = source.scenarios[brief.scenario_id]
        scores: dict[str, Score] = {}
        for entry, by_brief, on_briefs, repeats in verdicts:
            is_first = entry is first  # the others repeat only what is the judge's
            record = SampleRecord(
                brief=brief,
                verdicts=on_briefs[key],
                repeats=repeats.get(key, []),
                hidden=entry.about["hidden_characters"].get(brief.brief_id, []),
                facts=entry.reports.get(key),
                trajectory=turns.get(key, []) if is_first else [],
                report=_report(source, brief) if is_first else None,
            )
            scores[entry.judge] = score_of(record, by_brief[key], scenario, source.settings.scoring)
        samples.append(_sample(source, first, brief, inputs[brief.scenario_id], scores))
    return samples


def _sample(
    source: _Source, entry: Graded, brief: Brief, asked: Sequence[ChatMessage], scores: dict[str, Score]
) -> EvalSample:
    reply = None if brief.completion is None else source.stored(brief.completion)
    model = entry.model if reply is None else reply.provider_model or entry.model
    whole = None if reply is None or brief.report is not None else reply.text
    stop: StopReason = "max_tokens" if brief.cut_by_provider else _STOPS.get(brief.status, "stop")
    message = ChatMessageAssistant(content=whole or brief.text or "", source="generate", model=model)
    usage = None if reply is None else _usage(reply)
    output = ModelOutput(
        model=model,
        choices=[] if brief.text is None else [ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=usage,
        error=brief.detail or None if brief.text is None else None,
    )
    head = source.scenarios[brief.scenario_id]
    cut = {name: getattr(brief, name) for name in ("words_raw", "words_kept", "cut", "cut_by_provider")}
    return EvalSample(
        id=brief.scenario_id,
        epoch=brief.seed,
        input=[*asked],
        target="",
        messages=[*asked, *(choice.message for choice in output.choices)],
        output=output,
        scores=scores,
        metadata={"scenario": brief.scenario_id, "title": head.title, "brief": brief.status.value, **cut},
        model_usage={} if usage is None else {model: usage},
    )


def _usage(reply: Completion) -> ModelUsage:
    used = reply.usage
    cached = used.cached_tokens or 0
    return ModelUsage(
        input_tokens=(used.input_tokens or 0) - cached,
        output_tokens=used.output_tokens or 0,
        total_tokens=(used.input_tokens or 0) + (used.output_tokens or 0),
        input_tokens_cache_read=used.cached_tokens,
        reasoning_tokens=used.reasoning_tokens,
        total_cost=reply.price_usd,
    )


def _input(source: _Source, entry: Graded, scenario: Scenario) -> list[ChatMessage]:
    """Return the prompt if it can be built as it was sent, else the assignment."""
    written = entry.about.get("written_from") or {}
    sent = written.get("documents", {}).get(scenario.scenario_id)
    if sent is not None and written.get("prompt") is not None and scenario.task is None and entry.settings:
        benchmark = source.settings.benchmark
        data = source.project / benchmark.data
        path = packet_path(data, benchmark.name, scenario.scenario_id)
        packet = load_packet(data / scenario.scenario_id, scenario, path)
        if packet.digest == sent:
            prompt = loaded(PromptSettings, entry.settings["settings"]["prompt"])
            return chat_of(build_messages(scenario.assignment, packet, prompt))
    return [ChatMessageUser(content=scenario.assignment)]


def _trajectories(source: _Source, entry: Graded) -> dict[_Key, list[dict[str, Any]]]:
    path = source.folder / "trajectories" / f"{entry.condition}.parquet"
    found: dict[_Key, list[dict[str, Any]]] = {}
    if path.is_file():
        for row in read_table(path, TRAJECTORIES)[0]:
            found.setdefault((row["scenario_id"], row["seed"]), []).append(json.loads(row["event"]))
    return found


def _repeats(entry: Graded) -> dict[_Key, list[Any]]:
    found: dict[_Key, list[Any]] = {}
    for number, verdict in entry.repeats:
        found.setdefault((verdict.scenario_id, verdict.seed), []).append((number, verdict))
    return found


def _report(source: _Source, brief: Brief) -> str | None:
    if brief.report is None or not source.reports.has(brief.report):
        return None
    return base64.b64encode(source.reports.path(brief.report).read_bytes()).decode()
