"""`staffbench import`: logs of our tasks and exports as results, and other logs' outputs as briefs."""

from __future__ import annotations

import base64
import binascii
import shutil
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample

from flows.adapters.config.check import checked
from flows.adapters.config.compose import Point, compose_points
from flows.adapters.reports import ReportStore
from flows.adapters.screen import Screen
from flows.common.digests import canonical_json, sha256_bytes, sha256_text
from flows.common.errors import ConfigError, StoreError
from flows.common.files import write_whole
from flows.common.text import plural
from flows.pipeline.inspect.logs import log_files, read_header, read_samples
from flows.pipeline.inspect.record import FORMAT, KEY, ConditionRecord, SampleRecord, loaded
from flows.pipeline.results.record import Outcome, write_results
from flows.pipeline.results.served import other_models, served, writer_spent
from flows.pipeline.results.stored import load_graded, results_lock
from flows.pipeline.work.digests import judge_versions, rubric_digests
from flows.pipeline.work.evaluations import evaluation_of
from flows.pipeline.work.judging import Judged
from flows.pipeline.work.kinds import kind_of
from flows.pipeline.work.run_context import Evaluation, Submission
from flows.schema.brief import BriefStatus
from flows.schema.completion import spent_together
from flows.schema.condition import file_name
from flows.schema.scenario import Scenario
from flows.schema.verdict import VerdictStatus
from flows.stages.aggregate import aggregate
from flows.stages.judge import verdicts_for_missing
from flows.stages.score import score_briefs
from flows.stages.truncate import without_text

_Key = tuple[str, int]


@dataclass(frozen=True)
class BriefTable:
    """Briefs of another task's log, to be graded.

    Attributes:
        path: the table.
        model: who wrote them, as the log says.
    """

    path: Path
    model: str


@dataclass(frozen=True)
class Mapped:
    """How the samples of another task are named.

    Attributes:
        ids: scenario by sample id; a sample that is not in it has the scenario's id.
        key: name of the sample's metadata that holds the scenario's id; None to use the sample's own id.
    """

    ids: Mapping[str, str]
    key: str | None = None


def import_logs(
    project: Path, overrides: Sequence[str], given: Path, mapped: Mapped, screen: Screen
) -> list[BriefTable]:
    """Import logs.

    A log of our tasks or of our export becomes results with its verdicts, unless `overrides` name a judge.
    Any other is written as a table of briefs.

    Args:
        project: folder of the project.
        overrides: the benchmark, the results folder, and a judge to grade again.
        given: a log or a folder of logs.
        mapped: how samples of other tasks are named.
        screen: output.

    Returns:
        The tables of briefs, which are still to be graded.

    Raises:
        ConfigError: there is no log, or it is of another benchmark.
        StoreError: a log can't be read, or other results of the same name are here.
    """
    again = any(override.lstrip("+").partition("=")[0] == "judge" for override in overrides)
    tables: list[BriefTable] = []
    for path in log_files(given):
        header = read_header(path)
        found = (header.eval.metadata or {}).get(KEY)
        if isinstance(found, dict) and not again:
            labels = _import_own(project, overrides, path, header, found)
            screen.say(f"{path.name}: {plural(len(labels), 'row')} imported: {', '.join(labels)}")
        else:
            tables.append(_write_table(project, overrides, path, header, mapped, screen))
    return tables


def _import_own(
    project: Path, overrides: Sequence[str], path: Path, header: EvalLog, found: Mapping[str, Any]
) -> list[str]:
    conditions = [_record(path, ConditionRecord, one) for one in found.get("conditions", ())]
    samples = {(str(each.id), each.epoch): each for each in read_samples(path)}
    labels: list[str] = []
    for record in conditions:
        if record.format != FORMAT:
            raise StoreError(path, f"records of format {record.format}", f"format {FORMAT}")
        point, evaluation = _evaluation(
            project, overrides, path, header, record, {name for name, _ in samples}
        )
        results = project / point.settings.results
        records = {
            key: _record(path, SampleRecord, score.metadata[KEY])
            for key, each in samples.items()
            if (score := (each.scores or {}).get(record.scorer)) is not None
            and isinstance((score.metadata or {}).get(KEY), dict)
            and score.metadata is not None
        }
        # An export has what is the brief's own with its first judge only.
        for key, each in records.items():
            _check_brief(path, key, each, evaluation)
        outcome = _outcome(path, evaluation, record, records, samples)
        with results_lock(results):
            _put(results, evaluation, outcome, record, records)
        labels.append(evaluation.name)
    return labels


def _record(path: Path, kind: Any, value: Any) -> Any:
    try:
        return loaded(kind, value)
    except (ValueError, TypeError, RecursionError) as error:
        said = " ".join(str(error).split())[:300]
        raise StoreError(path, f"a record that is none of ours ({said})") from error


def _check_brief(path: Path, key: _Key, record: SampleRecord, evaluation: Evaluation) -> None:
    brief, facts = record.brief, record.facts
    owners = {(brief.scenario_id, brief.seed), *((v.scenario_id, v.seed) for v in record.verdicts)}
    owners |= {(v.scenario_id, v.seed) for _, v in record.repeats}
    owners |= set() if facts is None else {(facts.scenario_id, facts.seed)}
    if owners != {key} or (facts is not None) != evaluation.kind.has_tasks:
        raise StoreError(path, f"sample {key[0]}, epoch {key[1]}, has the record of another brief")
    if facts is not None and facts.report != brief.report:
        raise StoreError(path, f"sample {key[0]}, epoch {key[1]}: two reports", "one")


def _evaluation(
    project: Path,
    overrides: Sequence[str],
    path: Path,
    header: EvalLog,
    record: ConditionRecord,
    ids: set[str],
) -> tuple[Point, Evaluation]:
    """Build the evaluation that a record describes, by our own checks and names.

    Raises:
        ConfigError, Problems: its settings are invalid, or of another benchmark.
        StoreError: its verdicts are on another rubric or by other rules.
    """
    named: Any = record.settings.get("benchmark")
    name = named.get("name") if isinstance(named, dict) else None  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    if not record.settings or not isinstance(name, str):
        raise StoreError(
            path, "its settings are not in it", remedy="run that condition again, then export it"
        )
    is_given = any(override.partition("=")[0] == "benchmark" for override in overrides)
    point = compose_points(
        project, [*([] if is_given else [f"benchmark={name}"]), *overrides], multirun=False
    )[0]
    settings = checked({**asdict(point.settings), **record.settings}, [])
    own = point.settings.benchmark
    if (settings.benchmark.name, settings.benchmark.data, settings.benchmark.protocol) != (
        own.name,
        own.data,
        own.protocol,
    ):
        where = f"benchmark {settings.benchmark.name} in {settings.benchmark.data}"
        raise StoreError(path, where, f"{own.name} in {own.data}", "choose it by benchmark=...")
    kind = kind_of(settings.benchmark)
    wanted = kind.scenario_ids(project, own, settings.benchmark.scenarios)
    known = kind.scenario_ids(project, own, None)
    if unknown := sorted(ids - {*known}):
        raise StoreError(
            path, f"sample {unknown[0]!r} is no scenario of {own.name}", "one of " + ", ".join(known)
        )
    changed = {*record.changed, *(key.rpartition(".")[0] for key in record.changed)}
    changed |= {key.partition(".")[0] for key in record.changed}
    if record.totals is None:
        epochs = header.eval.config.epochs
        settings = replace(settings, seeds=epochs or 1)
        if ids < {*wanted}:  # --limit or --sample-id
            wanted = sorted(ids)
            settings = replace(settings, benchmark=replace(settings.benchmark, scenarios=wanted))
            changed |= {"benchmark", "benchmark.scenarios"}
    scenarios = tuple(kind.load(project, own, each) for each in wanted)
    evaluation = evaluation_of(settings, changed, scenarios)
    digests = [evaluation.condition.digest, evaluation.judge.digest]
    labels = [evaluation.condition.label, evaluation.judge.label]
    same = digests == record.digests and labels == [record.condition, record.judge]
    if not same and "benchmark.scenarios" not in changed - {*record.changed}:
        raise StoreError(
            path,
            f"condition {record.condition}, whose settings are now {labels[0]}",
            "the same version of staffbench",
        )
    versions = judge_versions(evaluation)
    rubrics = rubric_digests(scenarios)
    if odd := [name for name, digest in rubrics.items() if record.rubrics.get(name) != digest]:
        raise StoreError(path, f"verdicts on another rubric of {odd[0]}", "the rubric as it is")
    if versions != record.judge_versions:
        raise StoreError(
            path, f"verdicts by rules {record.judge_versions}", f"{versions}", "grade it again: judge=..."
        )
    return point, evaluation


def _outcome(
    path: Path,
    evaluation: Evaluation,
    record: ConditionRecord,
    records: Mapping[_Key, SampleRecord],
    samples: Mapping[_Key, EvalSample],
) -> Outcome:
    settings, totals = evaluation.settings, record.totals
    found: list[SampleRecord] = []
    judged: dict[str, Judged] = {}
    for scenario in evaluation.scenarios:
        own = [
            records.get((scenario.scenario_id, seed))
            or _without_record(scenario, seed, samples.get((scenario.scenario_id, seed)), evaluation)
            for seed in range(1, settings.seeds + 1)
        ]
        found += own
        names: dict[str, int] = {}
        for each in own:
            names |= {name: names.get(name, 0) + count for name, count in each.answered_by.items()}
        missed = [each.n_canary_missed for each in own]
        judged[scenario.scenario_id] = Judged(
            [verdict for each in own for verdict in each.verdicts],
            [pair for each in own for pair in each.repeats],
            {each.brief.seed: each.hidden for each in own if each.hidden},
            None if None in missed else sum(one for one in missed if one is not None),
            spent_together(each.spent for each in own),
            names,
        )
    briefs = [each.brief for each in found]
    refused = {(brief.scenario_id, brief.seed) for brief in briefs if brief.status is BriefStatus.refused}
    items = {scenario.scenario_id: scenario.items for scenario in evaluation.scenarios}
    verdicts = sorted((v for one in judged.values() for v in one.verdicts), key=lambda v: v.seed)
    scores = score_briefs(items, verdicts, settings.scoring, refused)
    submissions = [Submission(each.facts, each.trajectory) for each in found if each.facts is not None]
    calls = {call.key: call for each in found for call in each.calls}
    turns = [submission.trajectory for submission in submissions]
    outcome = Outcome(
        briefs,
        judged,
        scores,
        aggregate(scores, list(items), settings.seeds, settings.scoring),
        submissions,
    )
    if totals is None:
        of: Any = [one.answered_by for one in judged.values()]
        counts = {name: sum(one.get(name, 0) for one in of) for one in of for name in one}
        judge = other_models(settings.judge.name, counts, of=sum(counts.values()), what="replies")
        lookup = calls.get
        return replace(
            outcome,
            served=served(briefs, settings.model.name, lookup, turns),
            judge_served=judge,
            spent=writer_spent(briefs, turns, lookup) if calls else None,
        )
    first = next(iter(judged))
    judged |= {
        name: replace(one, n_canary_missed=totals.n_canary_missed and 0) for name, one in judged.items()
    }
    judged[first] = replace(judged[first], spent=totals.judge_spent, n_canary_missed=totals.n_canary_missed)
    told = [
        {key: value for key, value in asdict(one).items() if value is not None}
        for one in (totals.served, totals.judge_served)
    ]
    return replace(outcome, served=told[0], judge_served=told[1], spent=totals.writer_spent)


def _without_record(
    scenario: Scenario, seed: int, sample: EvalSample | None, evaluation: Evaluation
) -> SampleRecord:
    """Return the record of a sample that failed or was never run: no brief, and no verdict."""
    said = (
        "not in the log"
        if sample is None
        else sample.error.message
        if sample.error
        else "no score in the log"
    )
    name = scenario.scenario_id
    brief = without_text(name, seed, BriefStatus.error, " ".join(said.split())[:300], completion=None)
    verdicts = verdicts_for_missing(scenario.items, brief, VerdictStatus.error, f"no brief: {brief.detail}")
    if evaluation.kind.has_tasks:
        raise StoreError(brief.brief_id, f"an attempt without a record ({brief.detail})", "a complete log")
    return SampleRecord(brief, verdicts)


def _put(
    results: Path,
    evaluation: Evaluation,
    outcome: Outcome,
    record: ConditionRecord,
    records: Mapping[_Key, SampleRecord],
) -> None:
    """Write the tables aside, load them as a report would, and move them to their places.

    Raises:
        StoreError: they can't be loaded, or other results of the same name are there.
    """
    aside = results / ".cache" / f"import-{uuid.uuid4().hex}"
    name = evaluation.condition.benchmark
    try:
        written = record.totals and asdict(record.totals.written_from)
        write_results(aside, evaluation, outcome, (), written=written)
        scenarios = {scenario.scenario_id: scenario for scenario in evaluation.scenarios}
        if faults := load_graded(aside / name, scenarios)[1]:
            raise faults[0]
        reports = ReportStore(results / name / "reports" / "files")
        for each in records.values():
            _keep_report(reports, each)
        pairs = [
            (path, results / path.relative_to(aside)) for path in sorted(aside.rglob("*")) if path.is_file()
        ]
        for new, old in pairs:
            if old.is_file() and old.read_bytes() != new.read_bytes():
                remedy = f"staffbench remove {evaluation.condition.label} first, or use results=..."
                raise StoreError(old, "other results of that condition are here", "none, or the same", remedy)
        for new, old in pairs:
            write_whole(old, new.read_bytes())
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _keep_report(store: ReportStore, record: SampleRecord) -> None:
    if record.report is None or record.brief.report is None:
        return
    with suppress(binascii.Error):
        data = base64.b64decode(record.report, validate=True)
        if sha256_bytes(data) == record.brief.report:
            store.put(data)


def _write_table(
    project: Path, overrides: Sequence[str], path: Path, header: EvalLog, mapped: Mapped, screen: Screen
) -> BriefTable:
    """Write the outputs of another task as a table of briefs.

    Raises:
        ConfigError: no sample is of a scenario, or two are of one brief.
    """
    settings = compose_points(project, overrides, multirun=True)[0].settings
    known = kind_of(settings.benchmark).scenario_ids(project, settings.benchmark, None)
    texts: dict[_Key, str] = {}
    unknown: list[str] = []
    empty = 0
    for sample in read_samples(path):
        value = sample.metadata.get(mapped.key) if mapped.key else sample.id
        name = mapped.ids.get(str(sample.id), str(value))
        if name not in known:
            unknown.append(str(sample.id))
        elif (name, sample.epoch) in texts:
            raise ConfigError(path, f"two samples are {name}, epoch {sample.epoch}", "one", "map one of them")
        elif (
            sample.error is not None
            or not sample.output.choices
            or sample.output.stop_reason == "content_filter"
        ):
            empty += 1
        else:
            texts[name, sample.epoch] = sample.output.completion
    shown = ", ".join(sorted({*unknown})[:5])
    if not texts:
        remedy = "map ids by --map ID=SCENARIO, or name the metadata that holds them by --key"
        found = f"no output of a scenario; its samples are {shown}" if unknown else "no output in it"
        raise ConfigError(path, found, "one of " + ", ".join(known), remedy)
    if unknown or empty:
        screen.note(
            f"{path.name}: left out {plural(len(unknown), 'sample')} of no scenario{f' ({shown})' if shown else ''} "
            f"and {plural(empty, 'sample')} without an output"
        )
    rows = [
        canonical_json({"scenario": name, "seed": seed, "text": text}) + "\n"
        for (name, seed), text in sorted(texts.items())
    ]
    content = "".join(rows)
    target = (
        project
        / settings.results
        / "imported"
        / f"{file_name([header.eval.model], sha256_text(content))}.jsonl"
    )
    write_whole(target, content)
    return BriefTable(target, header.eval.model)


def overrides_of(table: BriefTable) -> list[str]:
    """Return the overrides with which `staffbench grade` names a table's writer."""
    escaped = table.model.replace("\\", "\\\\").replace("'", "\\'")
    return [f"model.label='{escaped}'", "model.note='imported from a log of Inspect'"]
