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

from flows.common.errors import StoreError

_STORE = "mlflow.db"
_LOCK = "mlflow.lock"


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
    return f"sqlite:///{results.resolve() / _STORE}"


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

        Raises:
            StoreError: its folder can't be written.
        """
        command = [
            sys.executable,
            "-m",
            "flows.adapters.tracking",
            str(self._results),
            self._experiment,
            title,
        ]
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            log = self._log.open("wb")
        except OSError as error:
            raise StoreError(
                self._log,
                f"can't be written ({error.strerror})",
                remedy="free space, or mend the rights; tracking=none runs without MLflow",
            ) from error
        with log:
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
                self._results / _STORE,
                "MLflow could not log the runs",
                remedy=f"see {self._log}; results are complete without it, and tracking=none leaves it out. "
                f"A damaged {_STORE} may be deleted: the same command logs its runs again",
            )
        return int(answer)

    def close(self) -> None:
        """End the child, whatever it has come to; nothing happens after `finish`."""
        if self._child is not None:
            self._child.communicate()
            self._child = None


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a lock that the kernel releases when the process ends, however it ends.

    Threads of one process exclude one another too.

    Raises:
        StoreError: the lock's file can't be made, or its file system has no locks.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise StoreError(
            path, f"can't be written ({error.strerror})", remedy="make its folder writable"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            remedy = "keep the results on a file system with locks"
            raise StoreError(path, f"can't be locked ({error.strerror})", remedy=remedy) from error
        yield


def _prepare(results: Path, experiment: str) -> tuple[Any, str]:
    """A client on the store, created where it is not there, and the experiment's id."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with locked(results / ".cache" / _LOCK):
        from mlflow.tracking import MlflowClient

        if not (results / _STORE).exists():
            _create(results)
        client = MlflowClient(tracking_uri=store_uri(results))
        found = client.get_experiment_by_name(experiment)
        if found is not None:
            return client, found.experiment_id
        # As a relative address the artifacts would go wherever the page happens to be started.
        location = (results.resolve() / "mlartifacts").as_uri()
        return client, client.create_experiment(experiment, artifact_location=location)


def _create(results: Path) -> None:
    """Create the store beside its place and move it there: half a store can't be mended by MLflow."""
    from mlflow.tracking import MlflowClient

    scratch = results / ".cache" / f"new-{_STORE}"
    for left in scratch.parent.glob(f"{scratch.name}*"):  # by one that was killed
        left.unlink()
    client: Any = MlflowClient(tracking_uri=f"sqlite:///{scratch.resolve()}")
    client.search_experiments(max_results=1)
    scratch.replace(results / _STORE)


def _log_all(client: Any, results: Path, experiment_id: str, title: str, records: Iterable[RunRecord]) -> int:
    """Log what is new of `records` as they come, and put it under one run where it is more than one."""
    new: list[Any] = []
    for record in records:
        with locked(results / ".cache" / _LOCK):  # another process may have the same record
            if not _is_logged(client, experiment_id, record.identity):
                new.append(_log_one(client, experiment_id, record))
    if len(new) > 1:
        tags = {"staffbench.kind": "sweep"}
        first = min(run.info.start_time for run in new)
        parent = client.create_run(experiment_id, first, tags, run_name=title).info.run_id
        for run in new:
            client.set_tag(run.info.run_id, "mlflow.parentRunId", parent)
        client.set_terminated(parent)
    return len(new)


def _is_logged(client: Any, experiment_id: str, identity: str) -> bool:
    """Whether a whole run of that identity is there; what a killed process left of one is deleted."""
    found = client.search_runs([experiment_id], f"tags.`staffbench.identity` = '{identity}'")
    for run in found:
        if run.info.status != "FINISHED":  # nobody is at it: we hold the lock
            client.delete_run(run.info.run_id)
    return any(run.info.status == "FINISHED" for run in found)


def _log_one(client: Any, experiment_id: str, record: RunRecord) -> Any:
    from mlflow.entities import Metric, Param

    tags = {**record.tags, "staffbench.identity": record.identity, "staffbench.kind": "condition"}
    # With its tags at once: a run that is cut off must be known as what it is.
    run = client.create_run(experiment_id, run_name=record.name, tags=tags)
    started: int = run.info.start_time
    client.log_batch(
        run.info.run_id,
        metrics=[Metric(name, value, started, 0) for name, value in record.metrics.items()],
        params=[Param(name, value) for name, value in record.params.items()],
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
    print(_log_all(client, results, experiment_id, title, records))  # noqa: T201 -- the answer to the parent
    gc.freeze()  # else the last collection takes half a second, while the parent waits


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
