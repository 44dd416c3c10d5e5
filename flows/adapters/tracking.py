"""Log runs to MLflow for comparison; it is not a source of truth. The only module that imports mlflow.

MLflow takes seconds to import and to create its database, so a child process does that during the run and
logs each condition as it ends. The database is created once, under a lock: concurrent creation corrupts it.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from flows.common.errors import StoreError
from flows.common.locks import locked

_STORE = "mlflow.db"
_VIEW = "staffbench"
_COLUMNS = (
    *(f"metrics.`{name}`" for name in ("score", "ci_low", "ci_high", "n_ungraded")),
    *(f"params.`{name}`" for name in ("model", "effort", "word_cap", "judge")),
)
_PAGE = {
    # Without a kind the page opens at traces, of which there are none.
    "mlflow.experimentKind": "custom_model_development",
    # A view that the page loads by its address: the table of runs with these columns, best first.
    f"mlflow.sharedViewState.{_VIEW}": json.dumps(
        {"selectedColumns": list(_COLUMNS), "orderByKey": _COLUMNS[0], "orderByAsc": False}
    ),
}
"""Tags of the experiment that MLflow's page reads."""
_LOCK = "mlflow.lock"


@dataclass(frozen=True)
class RunRecord:
    """The log entry of one condition under one judge.

    Attributes:
        name: name of the MLflow run.
        identity: digest of condition, judge, scoring and scores; a logged identity is not logged again.
        params: the varied settings.
        metrics: the results; unknown ones are left out.
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
    """Return the URI of the project's MLflow store."""
    return f"sqlite:///{results.resolve() / _STORE}"


class Tracker:
    """The parent's side of the logging process."""

    def __init__(self, results: Path, experiment: str) -> None:
        self._results = results
        self._experiment = experiment
        self._log = results / ".cache" / "mlflow.log"
        self._child: subprocess.Popen[str] | None = None

    def start(self, title: str, params: Mapping[str, str]) -> None:
        """Start the child, which prepares the store.

        Args:
            title: title of the parent run, if there is more than one condition.
            params: of the parent run, such as the command and the swept values.

        Raises:
            StoreError: its folder can't be written.
        """
        command = [
            sys.executable,
            "-m",
            "flows.adapters.tracking",
            str(self._results),
            self._experiment,
            json.dumps([title, dict(params)]),
        ]
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            log = self._log.open("wb")
        except OSError as error:
            raise StoreError(
                self._log,
                f"can't be written ({error.strerror})",
                remedy="free disk space or fix the permissions; tracking=none runs without MLflow",
            ) from error
        with log:
            self._child = subprocess.Popen(  # noqa: S603 -- this module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def log(self, record: RunRecord) -> None:
        """Send `record` to the child, which logs it during the run. `finish` reports errors."""
        assert self._child is not None
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):  # the child has failed
            self._child.stdin.write(json.dumps(vars(record)) + "\n")
            self._child.stdin.flush()

    def finish(self) -> int:
        """Wait until everything is logged.

        Returns:
            The number of new records.

        Raises:
            StoreError: MLflow could not log them; the results are complete.
        """
        assert self._child is not None
        child, self._child = self._child, None
        answer, _ = child.communicate()
        if child.returncode != 0 or not answer.strip():
            raise StoreError(
                self._results / _STORE,
                "MLflow could not log the runs",
                remedy=f"see {self._log}; results are complete without it; tracking=none disables it. "
                f"A damaged {_STORE} may be deleted: the same command logs its runs again",
            )
        return int(answer)

    def close(self) -> None:
        """Stop the child, if `finish` has not."""
        if self._child is not None:
            self._child.communicate()
            self._child = None


def _prepare(results: Path, experiment: str) -> tuple[Any, str]:
    """Return a client of the store, created if needed, and the experiment's id."""
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
            experiment_id, tags = found.experiment_id, found.tags
        else:
            # With a relative URI the artifacts would depend on the server's working directory.
            location = (results.resolve() / "mlartifacts").as_uri()
            experiment_id, tags = client.create_experiment(experiment, artifact_location=location), {}
        for name, value in _PAGE.items():
            if tags.get(name) != value:
                client.set_experiment_tag(experiment_id, name, value)
        return client, experiment_id


def _create(results: Path) -> None:
    """Create the store in a temporary place and move it: MLflow can't repair a partial one."""
    from mlflow.tracking import MlflowClient

    scratch = results / ".cache" / f"new-{_STORE}"
    for left in scratch.parent.glob(f"{scratch.name}*"):  # by a killed process
        left.unlink()
    client: Any = MlflowClient(tracking_uri=f"sqlite:///{scratch.resolve()}")
    client.search_experiments(max_results=1)
    scratch.replace(results / _STORE)


def _log_all(
    client: Any,
    results: Path,
    experiment_id: str,
    parent_run: tuple[str, Mapping[str, str]],
    records: Iterable[RunRecord],
) -> int:
    """Log new records as they arrive, under one parent run if there are several."""
    new: list[Any] = []
    for record in records:
        with locked(results / ".cache" / _LOCK):  # another process may log the same record
            if not _is_logged(client, experiment_id, record.identity):
                new.append(_log_one(client, experiment_id, record))
    if len(new) > 1:
        tags = {"staffbench.kind": "sweep"}
        first = min(run.info.start_time for run in new)
        title, params = parent_run
        parent = client.create_run(experiment_id, first, tags, run_name=title).info.run_id
        for name, value in params.items():
            client.log_param(parent, name, value)
        for run in new:
            client.set_tag(run.info.run_id, "mlflow.parentRunId", parent)
        client.set_terminated(parent)
    return len(new)


def _is_logged(client: Any, experiment_id: str, identity: str) -> bool:
    """Whether a complete run with that identity exists; deletes partial ones of killed processes."""
    found = client.search_runs([experiment_id], f"tags.`staffbench.identity` = '{identity}'")
    for run in found:
        if run.info.status != "FINISHED":  # no one is writing it: we hold the lock
            client.delete_run(run.info.run_id)
    return any(run.info.status == "FINISHED" for run in found)


def _log_one(client: Any, experiment_id: str, record: RunRecord) -> Any:
    from mlflow.entities import Metric, Param

    tags = {**record.tags, "staffbench.identity": record.identity, "staffbench.kind": "condition"}
    # With tags from the start, so that a partial run can be identified.
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


def serve_command(results: Path, experiment: str, port: int) -> list[str]:
    """Return the command that serves MLflow's page; it prints the page's address once it can."""
    return [sys.executable, "-m", "flows.adapters.tracking", "--serve", str(results), experiment, str(port)]


def _serve(results: Path, experiment: str, port: str) -> None:
    """Serve the page in place of this process, without the command line of MLflow.

    That prints a line for each request and `Aborted!` at Ctrl-C, and starts workers that are not needed.
    """
    from mlflow.server.constants import (
        ARTIFACT_ROOT_ENV_VAR,
        BACKEND_STORE_URI_ENV_VAR,
        REGISTRY_STORE_URI_ENV_VAR,
    )

    _, experiment_id = _prepare(results, experiment)
    view = f"#/experiments/{experiment_id}/runs?viewStateShareKey={_VIEW}"
    print(f"MLflow: http://127.0.0.1:{port}/{view} (Ctrl-C ends it)", flush=True)  # noqa: T201 -- what the command shows
    environment = {
        **os.environ,
        BACKEND_STORE_URI_ENV_VAR: store_uri(results),
        REGISTRY_STORE_URI_ENV_VAR: store_uri(results),
        ARTIFACT_ROOT_ENV_VAR: (results.resolve() / "mlartifacts").as_uri(),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "PYTHONWARNINGS": "ignore",
    }
    options = ["--host", "127.0.0.1", "--port", port, "--workers", "1", "--log-level", "error"]
    command = [sys.executable, "-m", "uvicorn", *options, "--no-access-log", "mlflow.server.fastapi_app:app"]
    # Replaces this process, so that ending it ends the server.
    os.execve(command[0], command, environment)  # noqa: S606 -- a fixed command


def _child(results: Path, experiment: str, parent_run: tuple[str, Mapping[str, str]]) -> None:
    lines: SimpleQueue[str | None] = SimpleQueue()

    def read() -> None:
        # Read at once, as a full pipe would block the parent.
        for line in sys.stdin:
            if line.endswith("\n"):  # else the parent died while writing
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    gc.disable()  # imported modules stay; collecting costs time
    client, experiment_id = _prepare(results, experiment)
    gc.freeze()
    gc.enable()
    records = (RunRecord(**json.loads(line)) for line in iter(lines.get, None))
    print(_log_all(client, results, experiment_id, parent_run, records))  # noqa: T201 -- the reply to the parent
    gc.freeze()  # avoids a final collection of half a second while the parent waits


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        _serve(Path(sys.argv[2]), *sys.argv[3:])
    else:
        _child(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
