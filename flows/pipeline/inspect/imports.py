"""`staffbench import`: logs of our tasks and exports as results, and other logs' outputs as briefs."""

import base64
import shutil
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from flows.adapters.config.check import checked
from flows.adapters.config.compose import compose_points
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.adapters.screen import Screen
from flows.adapters.tables import VERDICTS, read_table
from flows.common.digests import sha256_bytes
from flows.common.errors import ConfigError, StoreError
from flows.common.files import write_whole
from flows.pipeline.inspect.other_logs import readable, samples_of, write_briefs
from flows.pipeline.inspect.record import FORMAT, KEY, ConditionRecord, SampleRecord, loaded
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.record import CARRIED, Outcome, write_results
from flows.pipeline.results.served import judge_served, served, writer_spent
from flows.pipeline.results.settings_file import SECTIONS
from flows.pipeline.results.stored import load_graded, results_lock
from flows.pipeline.work.evaluations import evaluation_of, kind_of
from flows.pipeline.work.judging import Judged
from flows.pipeline.work.run_context import Evaluation, Submission
from flows.schema.brief import BriefStatus
from flows.schema.completion import spent_together
from flows.schema.scenario import Item
from flows.schema.verdict import VerdictStatus
from flows.stages.aggregate import aggregate
from flows.stages.judge import verdicts_for_missing
from flows.stages.score import score_briefs
from flows.stages.truncate import without_text

_Key = tuple[str, int]
_Samples = Mapping[_Key, EvalSample]


def import_logs(
    project: Path,
    overrides: Sequence[str],
    given: Path,
    screen: Screen,
    *,
    ids: Mapping[str, str],
    key: str | None,
) -> list[tuple[Path, str]]:
    """Import a log, or all that are in a folder.

    A log of our tasks or of our export becomes results with its verdicts, unless `overrides` name a judge.
    Any other is written as a table of briefs.

    `ids` and `key` are for samples of other tasks: the scenario by sample id, and the name of their metadata
    that holds the scenario's id, None if it is the sample's id.

    Returns:
        Tables of briefs that are still to be graded, each with the name of the model that wrote them.

    Raises:
        ConfigError: there is no log, or it is of another benchmark.
        StaffbenchError: a log can't be read, its records are none of ours, or other results of that name
            are here.
    """
    paths = [given] if given.is_file() else sorted([*given.glob("*.eval"), *given.glob("*.json")])
    if not paths:
        raise ConfigError(given, "no log there", "an .eval or .json file of Inspect, or a folder of them")
    regrades = any(one.startswith("judge=") for one in overrides)
    read: list[tuple[Path, EvalLog, Any]] = []
    for path in paths:
        with readable(path):
            header = read_eval_log(str(path), header_only=True)
        read.append((path, header, None if regrades else (header.eval.metadata or {}).get(KEY)))
    if (ids or key) and all(found is not None for _, _, found in read):
        why = "has no effect: the samples name their scenarios"
        raise ConfigError("--map" if ids else "--key", why, "logs of another task")
    tables: list[tuple[Path, str]] = []
    for path, header, found in read:
        if found is not None:
            with readable(path):
                records: list[ConditionRecord] = [loaded(ConditionRecord, one) for one in found["conditions"]]
                samples: _Samples = {(str(one.id), one.epoch): one for one in samples_of(path)}
            for record in records:
                with readable(path):
                    evaluation = _evaluation(project, overrides, record, header.eval.config.epochs, samples)
                _import_row(project, path, evaluation, record, samples)
                screen.note(f"{path.name}: imported {evaluation.name}")
        else:
            settings = compose_points(project, overrides, multirun=True)[0].settings
            table = write_briefs(project, settings, path, screen, ids=ids, key=key)
            tables.append((table, header.eval.model))
    return tables


def _import_row(
    project: Path, path: Path, evaluation: Evaluation, record: ConditionRecord, samples: _Samples
) -> None:
    """Import one condition under one judge."""
    with readable(path):
        known: dict[_Key, SampleRecord] = {}
        for key, sample in samples.items():
            score = (sample.scores or {}).get(record.scorer)
            if score is not None and score.metadata and KEY in score.metadata:
                known[key] = _checked(key, loaded(SampleRecord, score.metadata[KEY]))
        outcome = _outcome(evaluation, known, samples)
    results = project / evaluation.settings.results
    aside = results / ".cache" / f"import-{uuid.uuid4().hex}"
    folder = evaluation.condition.benchmark
    try:
        with results_lock(results):
            with readable(path):
                carried = {name: record.about[name] for name in CARRIED if name in record.about}
                files = write_results(aside, evaluation, outcome, (), carried=carried)
                _check_tables(path, aside / folder, files.verdicts, evaluation, record)
            _keep(aside, results, evaluation.condition.label)
            store = ReportStore(results / folder / "reports" / "files")
            for one in known.values():
                data = b"" if one.report is None else base64.b64decode(one.report)
                if data and sha256_bytes(data) == one.brief.report:
                    store.put(data)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _evaluation(
    project: Path, overrides: Sequence[str], record: ConditionRecord, epochs: int | None, samples: _Samples
) -> Evaluation:
    """Build the evaluation that a record describes, by our own checks, names and scenarios."""
    if record.format != FORMAT or not record.settings:
        raise ValueError("its records are of another version, or without settings")
    name, ids = record.settings["benchmark"]["name"], {each for each, _ in samples}
    chosen = [] if any(one.startswith("benchmark=") for one in overrides) else [f"benchmark={name}"]
    own = compose_points(project, [*chosen, *overrides], multirun=False)[0].settings
    settings = checked({**asdict(own), **{each: record.settings[each] for each in SECTIONS}}, [])
    benchmark = settings.benchmark
    if replace(benchmark, scenarios=None) != replace(own.benchmark, scenarios=None):
        raise ConfigError(
            f"benchmark {benchmark.name} in {benchmark.data}",
            "another than here",
            remedy="choose it: benchmark=...",
        )
    kind = kind_of(own.benchmark)
    wanted = kind.scenario_ids(project, own.benchmark, benchmark.scenarios)
    if odd := sorted(ids - {*wanted}):
        raise ConfigError(f"sample {odd[0]!r}", f"no scenario of {name}", "one of " + ", ".join(wanted))
    changed = {*record.changed, *(key.split(".")[0] for key in record.changed)}
    changed |= {".".join(key.split(".")[:3]) for key in record.changed if key.startswith("judge.members.")}
    if "scenarios" not in record.about:  # a log of our task
        settings = replace(settings, seeds=epochs or 1)
        if ids != {*wanted}:  # --limit or --sample-id
            wanted, changed = sorted(ids), changed | {"benchmark"}
            settings = replace(settings, benchmark=replace(benchmark, scenarios=wanted))
    return evaluation_of(settings, changed, tuple(kind.load(project, own.benchmark, each) for each in wanted))


def _checked(key: _Key, record: SampleRecord) -> SampleRecord:
    owners = {(one.scenario_id, one.seed) for one in (record.brief, *record.verdicts)}
    owners |= {(one.scenario_id, one.seed) for _, one in record.repeats}
    if owners != {key} or (record.facts and (record.facts.scenario_id, record.facts.seed) != key):
        raise ValueError(f"sample {key} has the record of another brief")
    return record


def _outcome(evaluation: Evaluation, known: Mapping[_Key, SampleRecord], samples: _Samples) -> Outcome:
    settings, items = evaluation.settings, {one.scenario_id: one.items for one in evaluation.scenarios}
    judged: dict[str, Judged] = {}
    found: list[SampleRecord] = []
    for name, rubric in items.items():
        keys = [(name, seed) for seed in range(1, settings.seeds + 1)]
        own = [known.get(key) or _failed(key, rubric, samples.get(key)) for key in keys]
        found += own
        missed = [one.n_canary_missed for one in own if one.n_canary_missed is not None]
        judged[name] = Judged(
            [verdict for one in own for verdict in one.verdicts],
            [pair for one in own for pair in one.repeats],
            {one.brief.seed: one.hidden for one in own if one.hidden},
            sum(missed) if missed else None,
            spent_together(one.spent for one in own),
            sum((Counter(one.answered_by) for one in own), Counter[str]()),
        )
    briefs = [one.brief for one in found]
    refused = {(one.scenario_id, one.seed) for one in briefs if one.status is BriefStatus.refused}
    verdicts = sorted((one for each in judged.values() for one in each.verdicts), key=lambda one: one.seed)
    scores = score_briefs(items, verdicts, settings.scoring, refused)
    submissions = [Submission(one.facts, one.trajectory) for one in found if one.facts is not None]
    calls = {call.key: call for one in found for call in one.calls}
    turns = [one.trajectory for one in submissions]
    return Outcome(
        briefs,
        judged,
        scores,
        aggregate(scores, list(items), settings.seeds, settings.scoring),
        submissions,
        served(briefs, settings.model.name, calls.get, turns),
        judge_served(evaluation, judged.values()),
        writer_spent(briefs, turns, calls.get),
    )


def _failed(key: _Key, rubric: Sequence[Item], sample: EvalSample | None) -> SampleRecord:
    """Return the record of a sample that failed, or was never run."""
    said = sample.error.message if sample and sample.error else "no score in the log"
    detail = " ".join(said.split())[:300]
    brief = without_text(*key, BriefStatus.error, detail, completion=None)
    missing = verdicts_for_missing(rubric, brief, VerdictStatus.error, f"no brief: {detail}")
    return SampleRecord(brief, missing)


def _check_tables(
    path: Path, folder: Path, verdicts: Path, evaluation: Evaluation, record: ConditionRecord
) -> None:
    """Check that tables hold what their log says, and that a leaderboard can be made of them.

    Raises:
        StoreError: the rubric, the rules or the settings are not those of the log.
        Exception: of whatever a hostile record breaks.
    """
    about = read_table(verdicts, VERDICTS)[1]
    stated = {name: one for name, one in record.about.items() if name not in CARRIED}
    if "scenarios" not in stated:  # of a task, whose samples may have been chosen since
        rubrics = {name: stated["rubrics"].get(name) for name in about["rubrics"]}
        stated = {"judge": stated["judge"], "rubrics": rubrics, "judge_versions": stated["judge_versions"]}
    if odd := sorted(name for name, one in stated.items() if about.get(name) != one):
        where = "; ".join(f"{name} {str(stated[name])[:80]}" for name in odd[:2])
        again = (
            "import it with the version and the scenarios that it was made with, or grade it again: judge=..."
        )
        raise StoreError(path, f"other than here: {where}", f"{about.get(odd[0])}"[:80], again)
    scenarios = {one.scenario_id: one for one in evaluation.scenarios}
    graded, faults = load_graded(folder, scenarios)
    if faults:
        raise faults[0]
    objects = ObjectStore(folder.parent.parent / "objects")
    build_leaderboard(graded, scenarios, evaluation.settings.scoring, objects)


def _keep(aside: Path, results: Path, label: str) -> None:
    """Move tables to their places.

    Raises:
        StoreError: other results of the same name are there.
    """
    pairs = [(one, results / one.relative_to(aside)) for one in sorted(aside.rglob("*")) if one.is_file()]
    for new, old in pairs:
        if old.is_file() and old.read_bytes() != new.read_bytes():
            remedy = f"staffbench remove {label} first, or import with results=..."
            raise StoreError(old, "other results of that condition are here", "none, or the same", remedy)
    for new, old in pairs:
        write_whole(old, new.read_bytes())
