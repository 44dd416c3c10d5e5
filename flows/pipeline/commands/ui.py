"""`staffbench ui`: serve the MLflow UI of this project."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.adapters.tracking import store_uri
from flows.common.errors import StaffbenchError


def open_pages(project: Path, overrides: Sequence[str], port: int, screen: Screen) -> NoReturn:
    """Serve the MLflow UI until interrupted, and say how to open Prefect's.

    Raises:
        StaffbenchError: there is nothing to show, or the port is in use.
    """
    results = project / compose_points(project, overrides, multirun=False)[0].settings.results
    if not (results / "mlflow.db").is_file():
        raise StaffbenchError(results / "mlflow.db", "not there", remedy="staffbench run first")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise StaffbenchError(
                f"port {port}", "in use", remedy="choose another: staffbench ui --port N"
            ) from error
    screen.note(f"MLflow: http://127.0.0.1:{port} (takes some seconds; Ctrl-C ends it)")
    screen.note("Prefect: make prefect serves its page at http://127.0.0.1:4200")
    # One worker, no job runner and no genai workers: only the UI is needed.
    environment = {
        **os.environ,
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "ui",
        "--workers",
        "1",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    command += ["--backend-store-uri", store_uri(results)]
    sys.stdout.flush()
    # Replaces this process, so that ending it ends the server.
    os.execve(command[0], command, environment)  # noqa: S606 -- a fixed command
