"""Runs of conditions: created once, updated later, under one parent if a command has several."""

# pyarrow ships no types:
# pyright: reportUnknownMemberType=false

import json
import re
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlflow.entities import Dataset, DatasetInput, InputTag, LoggedModelInput, Metric, Param, RunTag
from pyarrow import csv, parquet
from vl_convert import vegalite_to_svg

from flows.adapters.tracking import RunRecord
from flows.adapters.tracking.store import Opened
from flows.adapters.tracking.traces import log_traces
from flows.common.digests import sha256_text
from flows.common.locks import locked

_NOT_IN_METRICS = re.compile(r"[^\w\-. :/]")
_NOT_IN_MODELS = re.compile(r"[/:.%\"'\\]")
_LONGEST_NAME = 250
_CONDITION = "condition"  # the kind of a run that is no parent of a sweep
_NEWEST = 1_000  # runs of which the identities are named
_SHOWN = frozenset({"scores", "verdicts"})
"""Tables that are also logged as CSV, which MLflow's page shows."""
_OF_MODEL = ("score", "score_ci_low", "score_ci_high", "correct", "passed", "wrong", "n_briefs")


@dataclass
class Logged:
    """What was done: ids of new and updated runs, notes for a person, and why not all was logged, if so."""

    runs: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    problem: str = ""


def log_all(
    opened: Opened,
    parent_run: tuple[str, Mapping[str, str]],
    records: Iterable[RunRecord],
    logged: Logged,
) -> None:
    """Log records as they arrive, new runs under one parent if there are several."""
    new: list[Any] = []
    n_traces = n_wanted = n_briefs = 0
    for record in records:
        with locked(opened.lock):  # another process may log the same record
            run, is_new = _run_of(opened, record)
            if run is None:
                continue
            n_traces += _log_one(opened, run, record)
        n_wanted, n_briefs = n_wanted + len(record.traces), n_briefs + record.n_briefs
        logged.runs.append(run.info.run_id)
        new += [run] if is_new else []
    if n_traces < n_briefs:
        bound = "tracking.traces" if n_traces == n_wanted else "the time for them was over"
        logged.notes.append(
            f"MLflow has {n_traces:,} of {n_briefs:,} briefs as traces, the first seeds of each condition "
            f"({bound}); its runs and tables have all of them."
        )
    if len(new) > 1:
        client, experiment_id = opened.client, opened.experiment_id
        tags = {"staffbench.kind": "sweep"}
        first = min(run.info.start_time for run in new)
        title, params = parent_run
        parent = client.create_run(experiment_id, first, tags, run_name=title).info.run_id
        client.log_batch(parent, params=[Param(name, value) for name, value in params.items()])
        for run in new:
            client.set_tag(run.info.run_id, "mlflow.parentRunId", parent)
        client.set_terminated(parent)


def known_identities(opened: Opened) -> list[str]:
    """Return the identities of the records that the store has, of the newest runs."""
    found = opened.client.search_runs(
        [opened.experiment_id],
        f"attributes.status = 'FINISHED' and tags.`staffbench.kind` = '{_CONDITION}'",
        max_results=_NEWEST,
    )
    return [identity for run in found if (identity := run.data.tags.get("staffbench.identity"))]


def _run_of(opened: Opened, record: RunRecord) -> tuple[Any | None, bool]:
    """Return the run to write, and whether it is new; None if it is logged as it is.

    A run that another process began and did not finish is finished: no one is writing it, we hold the lock.
    """
    client, experiment_id = opened.client, opened.experiment_id
    found = client.search_runs([experiment_id], f"tags.`staffbench.key` = '{record.key}'")
    done = [run for run in found if run.info.status == "FINISHED"]
    if any(run.data.tags.get("staffbench.identity") == record.identity for run in done):
        return None, False
    if run := next(iter([*done, *found]), None):
        client.update_run(run.info.run_id, status="RUNNING")
        return run, False
    # With tags from the start, so that a partial run can be identified.
    tags = {"staffbench.key": record.key, "staffbench.kind": _CONDITION}
    return client.create_run(experiment_id, run_name=record.name, tags=tags), True


def _log_one(opened: Opened, run: Any, record: RunRecord) -> int:
    """Write everything of a record, its identity last; return the number of its traces."""
    client, run_id = opened.client, run.info.run_id
    now = int(time.time() * 1000)
    step = int(run.data.tags.get("staffbench.updates", "0"))
    model_id = _model_of(opened, run_id, record)
    of_model = {
        "model_id": model_id,
        "dataset_name": record.dataset.get("name"),
        "dataset_digest": record.dataset.get("digest"),
    }
    client.log_batch(
        run_id,
        metrics=[
            Metric(name, value, now, step, **(of_model if name in _OF_MODEL else {}))
            for name, value in metric_names(record.metrics).items()
        ],
        params=[Param(name, value) for name, value in record.params.items()],
    )
    # An input: MLflow takes a run with a model as its output for training, and lists it under no evaluation.
    models = [LoggedModelInput(model_id)] if model_id else []
    context = [InputTag("mlflow.data.context", "eval")]
    datasets = [DatasetInput(Dataset(**record.dataset), context)] if record.dataset else []
    if models or datasets:
        client.log_inputs(run_id, datasets, models)
    charts = {name: vegalite_to_svg(dict(spec)) for name, spec in record.charts.items()}
    with tempfile.TemporaryDirectory() as folder:  # one upload, where log_text makes one for each
        for name, text in {**record.texts, **charts}.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name in _SHOWN.intersection(record.files):
            csv.write_csv(parquet.read_table(record.files[name]), Path(folder) / f"{name}.csv")
        client.log_artifacts(run_id, folder)
    for folder, file in record.files.items():
        client.log_artifact(run_id, file, folder)
    n_traces = log_traces(opened, run_id, model_id, record)
    tables = json.dumps([{"path": path, "type": "table"} for path in record.tables])
    tags = {
        **record.tags,
        **({"mlflow.loggedArtifacts": tables} if record.tables else {}),
        "traces": f"{n_traces} of {record.n_briefs} briefs",
        "staffbench.updates": str(step + 1),
    }
    client.log_batch(run_id, tags=[RunTag(name, value) for name, value in tags.items()])
    client.set_tag(run_id, "staffbench.identity", record.identity)
    client.set_terminated(run_id)
    return n_traces


def _model_of(opened: Opened, run_id: str, record: RunRecord) -> str | None:
    """Return the id of the logged model that stands for the condition."""
    if not record.model:
        return None
    client, experiment_id = opened.client, opened.experiment_id
    name = _NOT_IN_MODELS.sub("_", record.model)
    found = client.search_logged_models([experiment_id], filter_string=f"name = '{name}'", max_results=1)
    if found:
        return found[0].model_id
    params = {key: value for key, value in record.params.items() if not key.startswith("judge")}
    model = client.create_logged_model(experiment_id, name, run_id, params=params, model_type="condition")
    client.finalize_logged_model(model.model_id, "READY")
    return model.model_id


def metric_names(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics under names that MLflow takes; a name that was changed ends in its own digest."""
    found: dict[str, float] = {}
    for name, value in metrics.items():
        legal = "/".join(part.strip(". ") or "_" for part in _NOT_IN_METRICS.sub("_", name).split("/"))
        if legal != name or len(legal) > _LONGEST_NAME:
            legal = f"{legal[: _LONGEST_NAME - 9]}-{sha256_text(name)[:8]}"
        found[legal] = value
    return found
