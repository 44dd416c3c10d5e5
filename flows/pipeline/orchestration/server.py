"""Prefect's settings for this project, and its server when none is given by `PREFECT_API_URL`.

Prefect can start a server by itself, but it kills it in mid-write when a run ends: the last task
runs are lost and a screenful of tracebacks is printed; and after kill -9 the server stays. Here the
server is a child of ours: its output goes to a file, it is asked to end once it has written
everything, and it ends by itself when the pipe to its parent breaks, however the parent died.
"""

from __future__ import annotations

import fcntl
import gc
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO

from flows.common.errors import ConfigError, StaffbenchError, StoreError

_START_UP_S = 240.0  # a busy machine took 35 s, and several commands may start one after another
_ANSWER_S = 10.0  # a server that is there already

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
    # The database would keep every task run there ever was, 3 MB for a sweep of 300 briefs: runs that ended a
    # month ago are taken out while this one goes on, a few to a transaction, which nobody else may write in.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": "2592000",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_BATCH_SIZE": "5",
}


def configure(project: Path, results: Path) -> None:
    """Set what Prefect reads at import; what a person has set stays. Call before importing it."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(project / ".prefect"))
    os.environ.setdefault("PREFECT_LOCAL_STORAGE_PATH", str(results / ".cache" / "prefect"))


def home() -> Path:
    """Where an embedded server keeps its database and its log."""
    return Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()


class Server:
    """A Prefect server that lives as long as this process, or one that is already there."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._answered = False
        self.url = os.environ.get("PREFECT_API_URL", "")

    @property
    def is_embedded(self) -> bool:
        """True where this process started it."""
        return self._process is not None

    @property
    def has_ended(self) -> bool:
        """True where this process started it and it is there no more."""
        return self._process is not None and self._process.poll() is not None

    def start(self) -> None:
        """Start the server unless `PREFECT_API_URL` names one. Returns at once; see `wait`.

        Raises:
            ConfigError: `PREFECT_API_URL` is no address.
            StoreError: its log can't be written.
        """
        if self.url:
            _check_address(self.url)
            return
        _pass_by_proxies()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with _emptied(self._log) as log:
            self._process = subprocess.Popen(  # noqa: S603 -- this very module
                [sys.executable, "-m", "flows.pipeline.orchestration.server", str(port)],
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
        # No proxy leads to an embedded server. One may lead to another, and Prefect will take it.
        ask = _DIRECT.open if self.is_embedded else urllib.request.urlopen
        deadline = time.monotonic() + (_START_UP_S if self.is_embedded else _ANSWER_S)
        while time.monotonic() < deadline:
            if self._process is not None and self._process.poll() is not None:
                raise _failed_start(self._log)
            try:
                with ask(f"{self.url}/health", timeout=2):
                    self._answered = True
                    return
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.05)
        if self.is_embedded:
            raise StaffbenchError(
                "Prefect's server", f"does not answer within {_START_UP_S:.0f} s", remedy=f"see {self._log}"
            )
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
        """End an embedded server and wait for it: at once where no flow can have used it."""
        if self._process is None:
            return
        if not self._answered:
            self._process.kill()
        self.release()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        os.environ.pop("PREFECT_API_URL", None)


_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _check_address(url: str) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or not url.isprintable() or " " in url:
        raise ConfigError(
            "PREFECT_API_URL", repr(url), "http://HOST:PORT/api", "unset it to use an embedded server"
        )


def _pass_by_proxies() -> None:
    """Prefect's client, and ours, would ask a proxy for the server on this machine."""
    names = ("no_proxy", "NO_PROXY")
    before = [os.environ[name] for name in names if name in os.environ]
    for name in names:
        hosts = os.environ.get(name, before[0] if before else "")  # a new one would hide what the other says
        if hosts != "*" and "127.0.0.1" not in (host.strip() for host in hosts.split(",")):
            hosts = f"{hosts},127.0.0.1" if hosts else "127.0.0.1"
        os.environ[name] = hosts


def _emptied(log: Path) -> BinaryIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        return log.open("ab")  # another command's server may write there: neither over the other
    except OSError as error:
        raise StoreError(
            log,
            f"can't be written ({error.strerror})",
            remedy="free space, mend the rights, or name another folder by PREFECT_HOME",
        ) from error


def _failed_start(log: Path) -> StaffbenchError:
    """What to say of a server that ended by itself, by the last lines of its log."""
    last, free = "", _LITTLE
    with suppress(OSError):
        last = log.read_text(encoding="utf-8", errors="replace")[-_LAST:].lower()
        free = shutil.disk_usage(home()).free  # the log had no room either
    database = home() / "prefect.db"
    is_said = any(words in last for words in ("no space left", "disk is full", "quota exceeded"))
    if is_said or free < _LITTLE:
        return StoreError(database, "the disk is full", remedy="free space")
    if "readonly database" in last:
        return StoreError(database, "can't be written", remedy="mend the rights")
    remedy = f"delete {database}: only what Prefect's page shows is lost"
    if "not a database" in last or "malformed" in last:
        return StoreError(database, "the database of Prefect's server is damaged", remedy=remedy)
    return StaffbenchError(
        "Prefect's server", "ended while starting", remedy=f"see {log}; if its database is damaged, {remedy}"
    )


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

    class Started(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            lock.close()

    server = Started(config)
    gc.freeze()
    gc.enable()

    def watch() -> None:
        words = b"".join(iter(lambda: os.read(0, 4096), b"")).split()  # not sys.stdin: Python's end locks it
        if not server.started:
            os._exit(0)
        if words:
            _wait_until_written(port, words[0].decode(), int(words[1]))
        else:
            time.sleep(_DRAIN_S)
        server.should_exit = True
        time.sleep(10)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    # Two servers that migrate one database at once damage each other's work.
    lock = _turn()
    server.run()


def _turn() -> IO[str]:
    """A lock on Prefect's folder, once it is our turn to start; the kernel releases it however we end."""
    home().mkdir(parents=True, exist_ok=True)
    lock = (home() / "server.lock").open("a")
    with suppress(OSError):  # a file system without locks
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


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
        with suppress(OSError, ValueError), _DIRECT.open(request, timeout=2) as reply:
            if int(reply.read()) >= task_runs:
                return
        time.sleep(0.1)


_LAST = 4000  # characters of a log
_LITTLE = 1_000_000  # bytes
_DRAIN_S = 2.5  # the recorder flushes every second
_WRITE_S = 10.0  # a task run that crashed may never be written as ended

if __name__ == "__main__":
    _serve(int(sys.argv[1]))
