"""Prefect's settings for this project, and an embedded server where `PREFECT_API_URL` names none.

Prefect can start a server by itself, but kills it while it is still writing: the last task runs are lost,
tracebacks are printed, and after kill -9 the server keeps running. Our server is a child process whose
output goes to a file. It ends once it has written everything, or when the pipe to its parent breaks.
"""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from flows.common.errors import ConfigError, StaffbenchError, StoreError

_START_UP_S = 240.0  # a busy machine took 35 s, and several commands may start one after another
_ANSWER_S = 10.0  # for a server that is already running
_NOT_FOUND = 404

_SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_CLI_PROMPT": "false",
    # We report errors once; Prefect would log each three times per task, with tracebacks.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    # By default each event is a transaction of its own, and the server falls minutes behind.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}

# Services that a server of one run does not need. The event stream alone took a third of its CPU, and the
# UI shows the same as states of task runs.
_EMBEDDED = {
    "PREFECT_SERVER_EVENTS_STREAM_OUT_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    # The database would grow by 3 MB for each sweep of 300 briefs. Runs older than a month are deleted during
    # a run, a few per transaction, since a transaction blocks other writers.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": "2592000",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_BATCH_SIZE": "5",
}


def configure(project: Path, results: Path) -> None:
    """Set Prefect's environment variables unless they are set. Call before importing Prefect."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(project / ".prefect"))
    os.environ.setdefault("PREFECT_LOCAL_STORAGE_PATH", str(results / ".cache" / "prefect"))


@contextmanager
def ctrl_c_held_back() -> Generator[None]:
    """Hold back Ctrl-C until the block has ended, such as an import of Prefect.

    Prefect prints an interrupt of its own start with a traceback and goes on; pydantic wraps it in others.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone may set handlers
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def home() -> Path:
    """Return the folder of the embedded server's database and log."""
    return Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()


class Server:
    """An embedded Prefect server that lives as long as this process, or one that is already running."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._answered = False
        self.url = os.environ.get("PREFECT_API_URL", "")

    @property
    def is_embedded(self) -> bool:
        """True if this process started it."""
        return self._process is not None

    @property
    def has_ended(self) -> bool:
        """True if it has ended: the process that was started here, or nobody listens at its address."""
        if self._process is not None:
            return self._process.poll() is not None
        parts = urllib.parse.urlsplit(self.url)
        address = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection(address, timeout=1).close()
        except OSError as error:  # another one: it may be reachable through a proxy only
            return isinstance(error, ConnectionRefusedError)
        return False

    def start(self) -> None:
        """Start the server unless `PREFECT_API_URL` names one. Returns at once; see `wait`.

        Raises:
            ConfigError: `PREFECT_API_URL` is invalid.
            StoreError: its log can't be written.
        """
        if self.url:
            _check_address(self.url)
            return
        _bypass_proxies()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with _open_log(self._log) as log:
            self._process = subprocess.Popen(  # noqa: S603 -- runs a module of ours
                [sys.executable, "-P", "-m", "flows.pipeline.orchestration.server_process", str(port)],
                env={**_EMBEDDED, **os.environ},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C must not end the server before the run
            )
        self.url = f"http://127.0.0.1:{port}/api"
        os.environ["PREFECT_API_URL"] = self.url

    def wait(self) -> None:
        """Wait until it answers.

        Raises:
            StaffbenchError: it does not.
        """
        # Other servers may only be reachable through a proxy, which Prefect's client uses too.
        open_url = DIRECT.open if self.is_embedded else urllib.request.urlopen
        deadline, other = time.monotonic() + (_START_UP_S if self.is_embedded else _ANSWER_S), False
        while time.monotonic() < deadline:
            if self._process is not None and self._process.poll() is not None:
                raise _failed_start(self._log)
            try:
                with open_url(f"{self.url}/health", timeout=2):
                    self._answered = True
                    return
            except urllib.error.HTTPError as error:
                if other := not self.is_embedded and error.code == _NOT_FOUND:
                    break
                time.sleep(0.05)
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.05)
        if self.is_embedded:
            raise StaffbenchError(
                "Prefect's server", f"does not answer within {_START_UP_S:.0f} s", remedy=f"see {self._log}"
            )
        if other:
            parts = urllib.parse.urlsplit(self.url)
            near = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/api"
            raise ConfigError(
                f"PREFECT_API_URL={self.url}",
                "something answers there, and it is not Prefect's API",
                f"its address, such as {near if near != self.url.rstrip('/') else 'http://127.0.0.1:4200/api'}",
            )
        raise StaffbenchError(
            f"Prefect's server at {self.url}",
            "does not answer",
            remedy="start it (make prefect, make cluster, or prefect server start), or unset PREFECT_API_URL",
        )

    def release(self, flow_run_id: str = "", task_runs: int = 0) -> None:
        """Let an embedded server end once it has written that many task runs of a flow run. Returns at once.

        Without a flow run it ends after some seconds.
        """
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # it has ended already
                if flow_run_id and not self._process.stdin.closed:
                    self._process.stdin.write(f"{flow_run_id} {task_runs}".encode())
                self._process.stdin.close()

    def stop(self) -> None:
        """Stop an embedded server and wait for it; it is killed if it never answered."""
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


DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Opens addresses of this machine without a proxy."""


def _check_address(url: str) -> None:
    is_valid = False
    with suppress(ValueError):
        parts = urllib.parse.urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    if not is_valid or not url.isprintable() or " " in url:
        raise ConfigError(
            "PREFECT_API_URL", repr(url), "http://HOST:PORT/api", "unset it to use an embedded server"
        )


def _bypass_proxies() -> None:
    """Exclude 127.0.0.1 from proxies, which Prefect's client would use for the embedded server."""
    names = ("no_proxy", "NO_PROXY")
    before = next((os.environ[name] for name in names if name in os.environ), "")
    for name in names:
        hosts = os.environ.get(name, before)  # a new variable would hide the other's value
        if hosts != "*" and "127.0.0.1" not in (host.strip() for host in hosts.split(",")):
            hosts = f"{hosts},127.0.0.1" if hosts else "127.0.0.1"
        os.environ[name] = hosts


def _open_log(log: Path) -> BinaryIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        return log.open("ab")  # appends, since another command's server may write there too
    except OSError as error:
        raise StoreError(
            log,
            f"can't be written ({error.strerror})",
            remedy="free disk space, fix the permissions, or set PREFECT_HOME to another folder",
        ) from error


def _failed_start(log: Path) -> StaffbenchError:
    """Explain why the server ended while starting, from the end of its log."""
    tail, free, database = "", _MIN_FREE_BYTES, home() / "prefect.db"
    with suppress(OSError):
        tail = log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL:].lower()
        free = shutil.disk_usage(home()).free  # on a full disk the log is empty too
    is_full = any(message in tail for message in ("no space left", "disk is full", "quota exceeded"))
    if is_full or free < _MIN_FREE_BYTES:
        return StoreError(database, "the disk is full", remedy="free disk space")
    if "readonly database" in tail:
        return StoreError(database, "can't be written", remedy="fix the permissions")
    remedy = f"delete {database}: only the history in Prefect's UI is lost"
    if "not a database" in tail or "malformed" in tail:
        return StoreError(database, "the database of Prefect's server is damaged", remedy=remedy)
    return StaffbenchError(
        "Prefect's server", "ended while starting", remedy=f"see {log}; if its database is damaged, {remedy}"
    )


_LOG_TAIL = 4000  # characters
_MIN_FREE_BYTES = 1_000_000
