"""A server that MLFLOW_TRACKING_URI names: with its token, down, with errors, slow, and a real one."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from flows.adapters.tracking import Tracker, read_human_labels
from tests.adapters.test_tracking_traces import RUNS, TRACES, asked, record

QUICK = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "5"}


def logged(folder, *records, wait_s=300.0):
    tracker = Tracker(folder, "staffbench", wait_s)
    tracker.start("sweep", {})
    for one in records:
        tracker.log(one)
    return tracker.finish()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Scripted:
    """A server that answers every request in one way, and keeps what it was sent as authorization."""

    def __init__(self, answer):
        seen = self.seen = []
        self.done = done = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.headers.get("Authorization"))
                answer(self, done)

            do_POST = do_PATCH = do_GET  # noqa: N815 -- names of the library

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]

    def close(self):
        self.done.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def scripted(monkeypatch):
    made = []

    def make(answer, **environment):
        made.append(Scripted(answer))
        address = f"http://somebody:hunter22@127.0.0.1:{made[0].port}"
        for name, value in {"MLFLOW_TRACKING_URI": address, **QUICK, **environment}.items():
            monkeypatch.setenv(name, value)
        return made[0]

    yield make
    for one in made:
        one.close()


def test_a_server_that_is_down_is_named_without_its_password(tmp_path, monkeypatch):
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://somebody:hunter22@{address}")
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    n, [note] = logged(tmp_path, record())
    assert n == 0
    assert note.startswith(f"MLflow at http://{address} did not take all runs: ")
    assert "the same command logs what is missing" in note
    assert "hunter22" not in note
    assert not (tmp_path / "mlflow.db").exists()


def test_a_server_with_errors_is_named_and_gets_its_token(tmp_path, scripted, monkeypatch):
    def fail(handler, _):
        handler.send_response(500)
        handler.end_headers()
        handler.wfile.write(b"out of order: sesame99")

    server = scripted(fail, MLFLOW_TRACKING_TOKEN="sesame99")
    server_address = f"http://127.0.0.1:{server.port}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server_address)  # with a user in it, the token is not sent
    n, [note] = logged(tmp_path, record())
    assert n == 0
    assert server_address in note
    assert "sesame99" not in note
    assert set(server.seen) == {"Bearer sesame99"}


def test_a_server_that_does_not_answer_is_left_in_time(tmp_path, scripted):
    scripted(lambda _, done: done.wait(300), MLFLOW_HTTP_REQUEST_TIMEOUT="300")
    before = time.monotonic()
    n, [note] = logged(tmp_path, record(), wait_s=5.0)
    assert (n, "no end of it after 5 s" in note) == (0, True)
    assert time.monotonic() - before < 200


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A real server of its own."""
    port = free_port()
    words = [
        "--backend-store-uri",
        f"sqlite:///{tmp_path}/server.db",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    words += ["--artifacts-destination", (tmp_path / "artifacts").as_uri(), "--workers", "1"]
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    environment |= {"MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONWARNINGS": "ignore"}
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *words],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=tmp_path,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 300
    while True:
        try:
            with urlopen(f"{address}/health", timeout=5):
                break
        except (URLError, OSError):
            assert process.poll() is None, (tmp_path / "server.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.2)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    yield address
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_a_server_gets_all_that_the_own_store_gets(tmp_path, server):
    assert logged(tmp_path, record()) == (1, [])
    assert logged(tmp_path, record()) == (0, [])
    run = asked(tmp_path, RUNS)
    assert (run["n"], run["status"], run["tags"]["traces"]) == (1, "FINISHED", "2 of 2 briefs")
    assert sorted(run["files"]) == ["figures", "verdicts.json"]
    assert [one["name"] for one in asked(tmp_path, TRACES)] == ["alder/1", "birch/1"]
    assert len(asked(tmp_path, TRACES)[0]["assessments"]) == 4
    assert read_human_labels(tmp_path, "staffbench", "ma_bench") == ([], [])
    assert not (tmp_path / "mlflow.db").exists()
