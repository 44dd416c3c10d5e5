"""Prefect's settings for this project, and its server when none is given by `PREFECT_API_URL`.

Prefect can start a server by itself, but it kills it in mid-write when a run ends: the last task
runs are lost and a screenful of tracebacks is printed; and after kill -9 the server stays. Here the
server is a child of ours: its output goes to a file, it is asked to end once it has written
everything, and it ends by itself when the pipe to its parent breaks, however the parent died.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from flows.schema.errors import StaffbenchError

_START_UP_S = 120.0  # a busy machine took 35 s

_SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_CLI_PROMPT": "false",
    # A fault is told once, by us: Prefect would tell it three times for each task, with tracebacks.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    # One event, one transaction is Prefect's default: the server then falls minutes behind.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}

# What a server that lives as long as one run needs not do. The feed of events is the largest: a third of
# its CPU, for what the page shows as states of task runs already.
_EMBEDDED = {
    "PREFECT_SERVER_EVENTS_STREAM_OUT_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}


def configure(project: Path, results: Path) -> None:
    """Set what Prefect reads at import; what a person has set stays. Call before importing it."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(project / ".prefect"))
    os.environ.setdefault("PREFECT_LOCAL_STORAGE_PATH", str(results / ".cache" / "prefect"))


class Server:
    """A Prefect server that lives as long as this process, or one that is already there."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.url = os.environ.get("PREFECT_API_URL", "")

    @property
    def is_embedded(self) -> bool:
        """True where this process started it."""
        return self._process is not None

    def start(self) -> None:
        """Start the server unless `PREFECT_API_URL` names one. Returns at once; see `wait`."""
        if self.url:
            return
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- this very module
                [sys.executable, "-m", "flows.pipeline.server", str(port)],
                env={**_EMBEDDED, **os.environ},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for us: the server must outlive the run's last words
            )
        self.url = f"http://127.0.0.1:{port}/api"
        os.environ["PREFECT_API_URL"] = self.url

    def wait(self) -> None:
        """Wait until it answers.

        Raises:
            StaffbenchError: it does not.
        """
        deadline = time.monotonic() + (_START_UP_S if self.is_embedded else 10.0)
        while time.monotonic() < deadline:
            if self._process is not None and self._process.poll() is not None:
                raise StaffbenchError(
                    "Prefect's server",
                    "ended while starting",
                    remedy=f"see {self._log}; its database may be damaged",
                )
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=2):  # noqa: S310 -- our own http address
                    return
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
        raise StaffbenchError(
            f"Prefect's server at {self.url}",
            "does not answer",
            remedy="start it (prefect server start), or unset PREFECT_API_URL to use an embedded one",
        )

    def release(self, flow_run_id: str = "", task_runs: int = 0) -> None:
        """Let an embedded server write what it holds and end by itself. Returns at once.

        Args:
            flow_run_id: the flow run whose task runs it is to have written before; empty where that is
                not known: it then ends after some seconds.
            task_runs: their number.
        """
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # it has ended already
                if flow_run_id and not self._process.stdin.closed:
                    self._process.stdin.write(f"{flow_run_id} {task_runs}".encode())
                self._process.stdin.close()

    def stop(self) -> None:
        """End an embedded server and wait for it."""
        if self._process is None:
            return
        self.release()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        os.environ.pop("PREFECT_API_URL", None)


def _serve(port: int) -> None:
    """The child: Prefect's server until standard input ends."""
    gc.disable()  # what is imported stays: looking through it again and again is a seventh of the start
    import uvicorn
    from prefect.server.api.server import create_app

    config = uvicorn.Config(
        create_app(),
        host="127.0.0.1",
        port=port,
        log_level="error",
        ws_per_message_deflate=False,  # a message to ourselves is not worth compressing
    )
    server = uvicorn.Server(config)
    gc.freeze()
    gc.enable()

    def watch() -> None:
        words = sys.stdin.buffer.read().split()
        if words:
            _wait_until_written(port, words[0].decode(), int(words[1]))
        else:
            time.sleep(_DRAIN_S)
        server.should_exit = True
        time.sleep(10)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    server.run()


def _wait_until_written(port: int, flow_run_id: str, task_runs: int) -> None:
    """Wait until this server can show that many task runs that ended, as long as that takes it."""
    body = {
        "flow_runs": {"id": {"any_": [flow_run_id]}},
        "task_runs": {"state": {"type": {"any_": ["COMPLETED", "FAILED", "CANCELLED", "CRASHED"]}}},
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/task_runs/count",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    deadline = time.monotonic() + _WRITE_S
    while time.monotonic() < deadline:
        with suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=2) as reply:  # noqa: S310 -- our own http address
            if int(reply.read()) >= task_runs:
                return
        time.sleep(0.1)


_DRAIN_S = 2.5  # the recorder flushes every second
_WRITE_S = 10.0  # a task run that crashed may never be written as ended

if __name__ == "__main__":
    _serve(int(sys.argv[1]))
