"""`staffbench ui`: serve the MLflow UI of this project."""

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.adapters.tracking import is_foreign, serve_command, shown_uri, store_uri
from flows.common.errors import ConfigError, StaffbenchError
from flows.pipeline.evaluate.showing import prefect_command


def open_pages(project: Path, overrides: Sequence[str], port: int, screen: Screen) -> NoReturn:
    """Serve the MLflow UI until interrupted, and say how to open Prefect's.

    Overrides that name a benchmark show the runs of that one.

    Raises:
        StaffbenchError: there is nothing to show, or the port is out of range or in use.
    """
    if not 0 < port < 65536:  # noqa: PLR2004 -- the range of ports
        raise ConfigError("--port", str(port), "1 to 65535")
    settings = compose_points(project, overrides, multirun=False)[0].settings
    results = project / settings.results
    if is_foreign():
        raise StaffbenchError(
            "MLFLOW_TRACKING_URI",
            f"runs are logged to {shown_uri(store_uri(results))}",
            remedy="open that address in a browser; without the variable, this serves the project's own",
        )
    if not (results / "mlflow.db").is_file():
        raise StaffbenchError(results / "mlflow.db", "not there", remedy="staffbench run first")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise StaffbenchError(
                f"port {port}",
                f"in use; MLflow may be open there already: http://127.0.0.1:{port}",
                remedy="choose another: staffbench ui --port N",
            ) from error
    screen.note(f"Prefect: {prefect_command(project)} serves its page at http://127.0.0.1:4200")
    screen.say("MLflow takes some seconds to start ...")
    sys.stdout.flush()
    is_named = any(word.startswith("benchmark=") for word in overrides)
    benchmark = settings.benchmark.name if is_named else ""
    command = serve_command(results, settings.tracking.experiment, port, benchmark)
    # Replaces this process, so that ending it ends the server.
    os.execve(command[0], command, {**os.environ, "PYTHONWARNINGS": "ignore"})  # noqa: S606 -- a fixed command
