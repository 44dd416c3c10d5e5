"""MLflow: a view to compare runs in, never the truth. The only module that imports it.

MLflow takes seconds to import and to create its database, so a child process does that while the
run goes on, and logs each condition as it ends. The database is created once, under a lock: six
processes that meet on a fresh one break it for good.
"""

from __future__ import annotations

import fcntl
import gc
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
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

    def start(self, title: str) -> None:
        """Start the child; it prepares the store at once.

        Args:
            title: of the run that holds what is logged, where that is more than one condition.
        """
        self._log.parent.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "flows.adapters.tracking",
            str(self._results),
            self._experiment,
            title,
        ]
        with self._log.open("wb") as log:
            self._child = subprocess.Popen(  # noqa: S603 -- this very module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def log(self, record: RunRecord) -> None:
        """Hand `record` to the child, which logs it while the run goes on. A fault is told by `finish`."""
        assert self._child is not None
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):  # it has failed
            self._child.stdin.write(json.dumps(vars(record)) + "\n")
            self._child.stdin.flush()

    def finish(self) -> int:
        """Wait until everything is logged.

        Returns:
            How many records were new.

        Raises:
            StoreError: MLflow could not take them; the results themselves are written by then.
        """
        assert self._child is not None
        child, self._child = self._child, None
        answer, _ = child.communicate()
        if child.returncode != 0 or not answer.strip():
            raise StoreError(
                self._results / "mlflow.db",
                "MLflow could not log the runs",
                remedy=f"see {self._log}; results are complete without it, and tracking=none leaves it out",
            )
        return int(answer)

    def close(self) -> None:
        """End the child, whatever it has come to; nothing happens after `finish`."""
        if self._child is not None:
            self._child.communicate()
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


def _log_all(client: Any, experiment_id: str, title: str, records: Iterable[RunRecord]) -> int:
    """Log what is new of `records` as they come, and put it under one run where it is more than one."""
    new: list[Any] = [
        _log_one(client, experiment_id, record)
        for record in records
        if not _is_logged(client, experiment_id, record.identity)
    ]
    if len(new) > 1:
        tags = {"staffbench.kind": "sweep"}
        first = min(run.info.start_time for run in new)
        parent = client.create_run(experiment_id, first, tags, run_name=title).info.run_id
        for run in new:
            client.set_tag(run.info.run_id, "mlflow.parentRunId", parent)
        client.set_terminated(parent)
    return len(new)


def _is_logged(client: Any, experiment_id: str, identity: str) -> bool:
    query = f"tags.`staffbench.identity` = '{identity}' and attributes.status = 'FINISHED'"
    return bool(client.search_runs([experiment_id], query, max_results=1))


def _log_one(client: Any, experiment_id: str, record: RunRecord) -> Any:
    from mlflow.entities import Metric, Param, RunTag

    tags = {**record.tags, "staffbench.identity": record.identity, "staffbench.kind": "condition"}
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
    return run


def _child(results: Path, experiment: str, title: str) -> None:
    lines: SimpleQueue[str | None] = SimpleQueue()

    def read() -> None:
        # At once, for a pipe that is full would hold up the parent.
        for line in sys.stdin:
            if line.endswith("\n"):  # else the parent died while it wrote
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    gc.disable()  # what is imported stays: to look through it costs time
    client, experiment_id = _prepare(results, experiment)
    gc.freeze()
    gc.enable()
    records = (RunRecord(**json.loads(line)) for line in iter(lines.get, None))
    print(_log_all(client, experiment_id, title, records))  # noqa: T201 -- the answer to the parent
    gc.freeze()  # else the last collection takes half a second, while the parent waits


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
