"""`staffbench export --to inspect`: stored results as Inspect's logs, one for each condition."""

import base64
import json
import math
import shlex
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
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score

from flows.adapters.config.compose import compose_points
from flows.adapters.provenance import now
from flows.adapters.reports import ReportStore
from flows.adapters.screen import Screen
from flows.adapters.tables import REPORTS, TRAJECTORIES, read_table
from flows.common.errors import ConfigError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.common.version import __version__
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.inspect.grading import score_of, shares_of
from flows.pipeline.inspect.record import KEY, ConditionRecord, SampleRecord, dumped, loaded
from flows.pipeline.results.graded import Graded, Scored, scored
from flows.pipeline.results.stored import left_out, load_results
from flows.pipeline.work.stores import Stores
from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import Completion, Spent
from flows.schema.report_task import ReportFacts
from flows.schema.rows import from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import PromptSettings, Settings
from flows.stages.generate import build_messages

_Found = list[tuple[Graded, Scored]]
_LOGS = (".eval", ".json")  # what Inspect writes into a folder of logs


@dataclass(frozen=True)
class _Source:
    """What the logs of one benchmark are made of."""

    project: Path
    settings: Settings
    folder: Path
    scenarios: Mapping[str, Scenario]
    stored: Callable[[str], Completion | None]


def export_inspect(project: Path, overrides: Sequence[str], folder: Path, screen: Screen) -> int:
    """Write a log for each graded condition, with a score by each of its judges.

    Logs of the same conditions in `folder` are replaced.

    Returns:
        0; 1 if results were left out.

    Raises:
        ConfigError: nothing is graded, or `folder` holds something else than logs.
        StaffbenchError: a table or the folder fails.
    """
    _check_folder(folder)
    settings = compose_points(project, overrides, multirun=False)[0].settings
    results = project / settings.results
    here = results / settings.benchmark.name
    graded, scenarios, problems = load_results(project, settings)
    by_condition: dict[str, _Found] = {}
    for entry in graded:
        if not entry.is_foreign:  # a Harbor job itself holds more than its import
            found = by_condition.setdefault(entry.condition, [])
            found.append((entry, scored(entry, scenarios, settings.scoring)))
    if not by_condition:
        raise ConfigError(here, "nothing graded", "results of a run", "run staffbench run, or dvc pull")
    has_store = settings.store is not None or (results / "completions").is_dir()
    store = Stores.of(project, settings).completions() if has_store else None
    source = _Source(project, settings, here, scenarios, store.get if store else lambda _: None)
    try:
        for label, found in by_condition.items():
            log = _log_of(source, found)
            write_whole(
                folder.resolve() / f"{label}.eval",
                lambda part, log=log: write_eval_log(log, str(part), format="eval"),
            )
    finally:
        if store is not None:
            store.close()
    screen.note(
        f"Written: {plural(len(by_condition), 'log')}; "
        f"inspect view --log-dir {shlex.quote(str(folder))} shows them"
    )
    for line in left_out(here, problems):
        screen.fault(f"Left out: {line}")
    return 1 if problems else 0


def _check_folder(folder: Path) -> None:
    """Refuse a folder in which Inspect would not look for logs; those of others may be there."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(folder, "a file", "a folder for logs")
    for name in sorted(path.name for path in folder.glob("*") if path.is_file() and path.suffix not in _LOGS):
        raise ConfigError(folder, f"holds {name}, which is no log of Inspect", "a new folder, or one of logs")


def _log_of(source: _Source, found: _Found) -> EvalLog:
    about = found[0][0].about
    condition, names, created = about["condition"], list[str](about["scenarios"]), now()
    samples = _samples(source, found)
    usage: dict[str, ModelUsage] = {}
    for sample in samples:
        for name, used in sample.model_usage.items():
            usage[name] = usage.get(name, ModelUsage()) + used
    spent = from_row(Spent, about.get("spent", {}).get("writer") or {})
    if not usage and spent.calls:  # the replies are in another store, or never were here
        sent, said = spent.tokens_in or 0, spent.tokens_out or 0
        usage[condition["model"]] = ModelUsage(
            input_tokens=sent, output_tokens=said, total_tokens=sent + said, total_cost=spent.usd
        )
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=created,
            eval_id=condition["digest"][:22],
            run_id=condition["digest"][:22],
            task_id=condition["digest"][:22],
            task=f"staffbench/{source.settings.benchmark.protocol.value}",
            task_version=condition["digest"][:8],
            task_args={name: condition[name] for name in ("benchmark", "effort", "word_cap", "prompt")},
            dataset=EvalDataset(name=condition["benchmark"], samples=len(names), sample_ids=names),
            model=condition["model"],
            config=EvalConfig(epochs=int(about["seeds"]), epochs_reducer=["mean"]),
            packages={"staffbench": __version__},
            metadata={KEY: {"conditions": [_condition(entry) for entry, _ in found]}},
        ),
        results=EvalResults(
            total_samples=len(samples),
            completed_samples=len(samples),
            scores=[_results(entry.judge, one, samples) for entry, one in found],
        ),
        stats=EvalStats(started_at=created, completed_at=created, model_usage=usage),
        samples=samples,
    )


def _condition(entry: Graded) -> dict[str, Any]:
    kept = entry.settings or {"settings": {}, "changed": []}
    return dumped(ConditionRecord(entry.judge, kept["settings"], kept["changed"], dict(entry.about)))


def _results(judge: str, one: Scored, samples: Sequence[EvalSample]) -> EvalScore:
    estimate, interval = one.estimate, one.estimate.interval
    ends = {} if interval is None else {"ci_low": interval.low, "ci_high": interval.high}
    values = {"mean": estimate.score, **ends, "low": estimate.score_low, "high": estimate.score_high}
    scores = [sample.scores[judge] for sample in samples if sample.scores]
    values |= shares_of([score.metadata or {} for score in scores if not math.isnan(score.as_float())])
    return EvalScore(
        name=judge,
        scorer=judge,
        scored_samples=estimate.n_briefs,
        unscored_samples=estimate.n_briefs_all - estimate.n_briefs,
        metrics={name: EvalMetric(name=name, value=one) for name, one in values.items() if one is not None},
    )


def _samples(source: _Source, found: _Found) -> list[EvalSample]:
    first, _ = found[0]
    turns: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in _rows(source, "trajectories", TRAJECTORIES, first.condition):
        turns.setdefault((row["scenario_id"], row["seed"]), []).append(json.loads(row["event"]))
    stored = from_rows(ReportFacts, _rows(source, "reports", REPORTS, first.condition))
    facts = {(one.scenario_id, one.seed): one for one in stored}
    asked = {name: _asked(source, first, source.scenarios[name]) for name in first.about["scenarios"]}
    reports = ReportStore(source.folder / "reports" / "files")
    samples: list[EvalSample] = []
    for brief in from_rows(Brief, first.whole_briefs):
        key, scores = (brief.scenario_id, brief.seed), dict[str, Score]()
        has_file = brief.report is not None and reports.has(brief.report)
        file = reports.path(brief.report).read_bytes() if has_file and brief.report else None
        for entry, one in found:
            own = entry is first  # other judges' records repeat neither trajectory nor file
            record = SampleRecord(
                brief=brief,
                verdicts=entry.by_brief[key],
                repeats=[(n, v) for n, v in entry.repeats if (v.scenario_id, v.seed) == key],
                hidden=entry.about["hidden_characters"].get(brief.brief_id, []),
                facts=facts.get(key),
                trajectory=turns.get(key, []) if own else [],
                report=base64.b64encode(file).decode() if own and file else None,
            )
            scenario = source.scenarios[brief.scenario_id]
            scores[entry.judge] = score_of(record, one.by_brief[key], scenario, source.settings.scoring)
        samples.append(_sample(source, first.model, brief, asked[brief.scenario_id], scores))
    return samples


def _rows(source: _Source, kind: str, schema: Any, condition: str) -> list[dict[str, Any]]:
    path = source.folder / kind / f"{condition}.parquet"
    return read_table(path, schema)[0] if path.is_file() else []


def _sample(
    source: _Source, model: str, brief: Brief, asked: list[ChatMessage], scores: dict[str, Score]
) -> EvalSample:
    reply = None if brief.completion is None else source.stored(brief.completion)
    usage = None if reply is None else _usage(reply)
    stops = {BriefStatus.refused: "content_filter", BriefStatus.error: "unknown"}
    whole = brief.text if reply is None or brief.report else reply.text  # before the cut
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content=whole or "", source="generate"),
        stop_reason="max_tokens" if brief.cut_by_provider else stops.get(brief.status, "stop"),  # pyright: ignore[reportArgumentType] -- literals
    )
    output = ModelOutput(
        model=model, choices=[choice], usage=usage, error=brief.detail if whole is None else None
    )
    shown = ("status", "words_raw", "words_kept", "cut", "cut_by_provider", "detail")
    return EvalSample(
        id=brief.scenario_id,
        epoch=brief.seed,
        input=asked,
        target="",
        messages=[*asked, choice.message],
        output=output,
        scores=scores,
        metadata={"scenario": brief.scenario_id, **{name: getattr(brief, name) for name in shown}},
        model_usage={} if usage is None else {model: usage},
    )


def _usage(reply: Completion) -> ModelUsage:
    used, cached = reply.usage, reply.usage.cached_tokens
    sent, said = used.input_tokens or 0, used.output_tokens or 0
    return ModelUsage(
        input_tokens=sent - (cached or 0),
        output_tokens=said,
        total_tokens=sent + said,
        input_tokens_cache_read=cached,
        reasoning_tokens=used.reasoning_tokens,
        total_cost=reply.price_usd,
    )


def _asked(source: _Source, entry: Graded, scenario: Scenario) -> list[ChatMessage]:
    """Return the prompt if it can be built as it was sent, else the assignment."""
    written: Mapping[str, Any] = entry.about.get("written_from", {})
    sent = written.get("documents", {}).get(scenario.scenario_id)
    if sent is not None and written.get("prompt") and scenario.task is None and entry.settings:
        data = source.project / source.settings.benchmark.data
        path = packet_path(data, source.settings.benchmark.name, scenario.scenario_id)
        packet = load_packet(data / scenario.scenario_id, scenario, path)
        if packet.digest == sent:
            prompt = loaded(PromptSettings, entry.settings["settings"]["prompt"])
            system, user = build_messages(scenario.assignment, packet, prompt)
            return [ChatMessageSystem(content=system.content), ChatMessageUser(content=user.content)]
    return [ChatMessageUser(content=scenario.assignment)]
