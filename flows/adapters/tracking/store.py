"""MLflow's store: created, opened and served.

The project's own database is created once, under a lock: concurrent creation corrupts it.
"""

import json
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.adapters.tracking import STORE, is_foreign, store_uri
from flows.common.locks import locked

_VIEW = "staffbench"
_COLUMNS = (
    *(f"metrics.`{name}`" for name in ("score", "score_ci_low", "score_ci_high")),
    *(f"params.`{name}`" for name in ("benchmark", "model", "effort", "word_cap", "judge")),
    "tags.`complete`",
)
_ORDER = {"selectedColumns": list(_COLUMNS), "orderByKey": _COLUMNS[0], "orderByAsc": False}
_PAGE = {
    # Without a kind the page opens at traces.
    "mlflow.experimentKind": "custom_model_development",
    # A view that the page loads by its address: the table of runs with these columns, best first.
    f"mlflow.sharedViewState.{_VIEW}": json.dumps(_ORDER),
}
"""Tags of the experiment that MLflow's page reads."""
_PATIENCE = {
    # MLflow's own defaults wait for minutes at each request.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20",
}


@dataclass(frozen=True)
class Opened:
    """An open store."""

    client: Any  # MLflow's
    experiment_id: str
    lock: Path  # held while a run is looked up and written


def prepare(results: Path, experiment: str) -> Opened:
    """Open the store, and create it and the experiment if needed."""
    for name, value in {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", **_PATIENCE}.items():
        os.environ.setdefault(name, value)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    lock = results / ".cache" / "mlflow.lock"
    with locked(lock):
        from mlflow.tracking import MlflowClient

        if not is_foreign() and not (results / STORE).exists():
            _create(results)
        client = MlflowClient(tracking_uri=store_uri(results))
        found = client.get_experiment_by_name(experiment)
        if found is not None:
            experiment_id, tags = found.experiment_id, found.tags
        else:
            # With a relative URI the artifacts would depend on the server's working directory.
            own = (results.resolve() / "mlartifacts").as_uri()
            location = None if is_foreign() else own
            experiment_id, tags = client.create_experiment(experiment, artifact_location=location), {}
        for name, value in _PAGE.items():
            if tags.get(name) != value:
                client.set_experiment_tag(experiment_id, name, value)
        return Opened(client, experiment_id, lock)


def _create(results: Path) -> None:
    """Create the store in a temporary place and move it: MLflow can't repair a partial one."""
    from mlflow.tracking import MlflowClient

    scratch = results / ".cache" / f"new-{STORE}"
    for left in scratch.parent.glob(f"{scratch.name}*"):  # by a killed process
        left.unlink()
    client: Any = MlflowClient(tracking_uri=f"sqlite:///{scratch.resolve()}")
    client.search_experiments(max_results=1)
    scratch.replace(results / STORE)


def serve(results: Path, experiment: str, port: str, benchmark: str) -> None:
    """Serve the page in place of this process, without the command line of MLflow.

    That prints a line for each request and `Aborted!` at Ctrl-C, and starts workers that are not needed.
    """
    from mlflow.server.constants import (
        ARTIFACT_ROOT_ENV_VAR,
        BACKEND_STORE_URI_ENV_VAR,
        REGISTRY_STORE_URI_ENV_VAR,
    )

    opened, view = prepare(results, experiment), _VIEW
    if benchmark:
        view = f"{_VIEW}-{benchmark}"
        state = {**_ORDER, "searchFilter": f"params.benchmark = '{benchmark}'"}
        name = f"mlflow.sharedViewState.{view}"
        opened.client.set_experiment_tag(opened.experiment_id, name, json.dumps(state))
    view = f"#/experiments/{opened.experiment_id}/runs?viewStateShareKey={view}"
    print(f"MLflow: http://127.0.0.1:{port}/{view} (Ctrl-C ends it)", flush=True)  # noqa: T201 -- what the command shows
    environment = {
        **os.environ,
        BACKEND_STORE_URI_ENV_VAR: store_uri(results),
        REGISTRY_STORE_URI_ENV_VAR: store_uri(results),
        ARTIFACT_ROOT_ENV_VAR: (results.resolve() / "mlartifacts").as_uri(),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "PYTHONWARNINGS": "ignore",
    }
    options = f"--host 127.0.0.1 --port {port} --workers 1 --log-level error --no-access-log".split()
    command = [sys.executable, "-P", "-m", "uvicorn", *options, "mlflow.server.fastapi_app:app"]
    # Replaces this process, so that ending it ends the server.
    os.execve(command[0], command, environment)  # noqa: S606 -- a fixed command
