"""MLflow: a view to compare runs in, never the truth. The only module that imports it.

MLflow takes seconds to import and to create its database, so a child process does that while the
run goes on, and logs at its end. The database is created once, under a lock: six processes that
meet on a fresh one break it for good.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows.schema.errors import StoreError


@dataclass(frozen=True)
class RunRecord:
    """What is logged of one condition under one judge.

    Attributes:
        name: shown in MLflow's page.
        identity: digest of condition, judge, scoring and scores; an identity that is logged already
            is not logged again.
        params: what was varied.
        metrics: what came out; what is unknown is left out.
        tags: for filtering.
        texts: small artifacts, file name to content.
        files: further artifacts, by path.
    """

    name: str
    identity: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Sequence[str] = ()


def store_uri(results: Path) -> str:
    """Address of the project's MLflow store."""
    return f"sqlite:///{results.resolve() / 'mlflow.db'}"


class Tracker:
    """The parent's end of the child that logs."""

    def __init__(self, results: Path, experiment: str) -> None:
        self._results = results
        self._experiment = experiment
        self._log = results / ".cache" / "mlflow.log"
        self._child: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the child; it prepares the store at once."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._child = subprocess.Popen(  # noqa: S603 -- this very module
                [sys.executable, "-m", "flows.adapters.tracking", str(self._results), self._experiment],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def log(self, title: str, records: Sequence[RunRecord]) -> int:
        """Log `records`, under a parent run called `title` where there is more than one.

        Returns:
            How many were new.

        Raises:
            StoreError: MLflow could not take them; the results themselves are written by then.
        """
        assert self._child is not None
        request = json.dumps({"title": title, "records": [vars(record) for record in records]})
        answer, _ = self._child.communicate(request)
        if self._child.returncode != 0 or not answer.strip():
            raise StoreError(
                self._results / "mlflow.db",
                "MLflow could not log the runs",
                remedy=f"see {self._log}; results are complete without it, and tracking=none leaves it out",
            )
        self._child = None
        return int(answer)

    def close(self) -> None:
        """End the child without logging; nothing happens after `log`."""
        if self._child is not None:
            self._child.communicate("")
            self._child = None


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold a lock that the kernel releases when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _prepare(results: Path, experiment: str) -> tuple[Any, str]:
    """A client on the store, created where it is not there, and the experiment's id."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with _locked(results / ".cache" / "mlflow.lock"):
        from mlflow.tracking import MlflowClient

        client = MlflowClient(tracking_uri=store_uri(results))
        found = client.get_experiment_by_name(experiment)
        if found is not None:
            return client, found.experiment_id
        # As a relative address the artifacts would go wherever the page happens to be started.
        location = (results.resolve() / "mlartifacts").as_uri()
        return client, client.create_experiment(experiment, artifact_location=location)


def _log_all(client: Any, experiment_id: str, title: str, records: list[RunRecord]) -> int:
    new = [record for record in records if not _is_logged(client, experiment_id, record.identity)]
    if not new:
        return 0
    parent = None
    if len(new) > 1:
        parent = client.create_run(
            experiment_id, run_name=title, tags={"staffbench.kind": "sweep"}
        ).info.run_id
    for record in new:
        _log_one(client, experiment_id, record, parent)
    if parent is not None:
        client.set_terminated(parent)
    return len(new)


def _is_logged(client: Any, experiment_id: str, identity: str) -> bool:
    query = f"tags.`staffbench.identity` = '{identity}' and attributes.status = 'FINISHED'"
    return bool(client.search_runs([experiment_id], query, max_results=1))


def _log_one(client: Any, experiment_id: str, record: RunRecord, parent: str | None) -> None:
    from mlflow.entities import Metric, Param, RunTag

    tags = {**record.tags, "staffbench.identity": record.identity, "staffbench.kind": "condition"}
    if parent is not None:
        tags["mlflow.parentRunId"] = parent
    run = client.create_run(experiment_id, run_name=record.name)
    started: int = run.info.start_time
    client.log_batch(
        run.info.run_id,
        metrics=[Metric(name, value, started, 0) for name, value in record.metrics.items()],
        params=[Param(name, value) for name, value in record.params.items()],
        tags=[RunTag(name, value) for name, value in tags.items()],
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, text in record.texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        client.log_artifacts(run.info.run_id, folder)
    for file in record.files:
        client.log_artifact(run.info.run_id, file)
    client.set_terminated(run.info.run_id)


def _child(results: Path, experiment: str) -> None:
    client, experiment_id = _prepare(results, experiment)
    text = sys.stdin.read()
    if text:
        request = json.loads(text)
        records = [RunRecord(**record) for record in request["records"]]
        print(_log_all(client, experiment_id, request["title"], records))  # noqa: T201 -- the answer to the parent


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2])
