"""The embedded server: which address it takes, and what is said where it can't start."""

import asyncio
import http.server
import os
import subprocess
import sys
import threading

import httpx
import pytest
from prefect.client.base import PrefectResponse

from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.pipeline.orchestration.lost import PrefectError, watched
from flows.pipeline.orchestration.server import Server

TWO = """
import os, sys
from pathlib import Path

from flows.pipeline.orchestration.server import Server, configure

configure(Path(sys.argv[1]), Path(sys.argv[1]))
servers = []
for number in range(2):
    servers.append(Server(Path(sys.argv[1]) / f"{number}.log"))
    servers[-1].start()
    del os.environ["PREFECT_API_URL"]
for server in servers:
    server.wait()
# Both have started: nobody's turn is held up any longer.
import fcntl
with (Path(os.environ["PREFECT_HOME"]) / "server.lock").open("a") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
for server in servers:
    server.release()
for server in servers:
    server.stop()
print("both")
"""


@pytest.mark.slow
def test_two_servers_may_start_at_once_where_there_is_no_database(tmp_path, project, prefect_home):
    done = subprocess.run(
        [sys.executable, "-c", TWO, str(tmp_path)],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    logs = [(tmp_path / f"{number}.log").read_text(encoding="utf-8") for number in range(2)]
    assert (done.stdout, done.stderr, logs) == ("both\n", "", ["", ""])


def test_a_damaged_database_is_said_to_be_one_and_what_to_delete(tmp_path, prefect_home):
    prefect_home.mkdir()
    (prefect_home / "prefect.db").write_bytes(b"garbage " * 10_000)
    log = tmp_path / "server.log"
    server = Server(log)
    server.start()
    try:
        with pytest.raises(StoreError, match="is damaged") as raised:
            server.wait()
    finally:
        server.stop()
    assert f"Delete {prefect_home}/prefect.db: only the history in Prefect's UI is lost" in str(raised.value)
    assert "Fatal Python error" not in log.read_text(encoding="utf-8")
    assert os.environ.get("PREFECT_API_URL", "") == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sqlite3.OperationalError: database or disk is full", "the disk is full. Free disk space"),
        ("OSError: [Errno 28] No space left on device", "the disk is full. Free disk space"),
        ("sqlite3.DatabaseError: database disk image is malformed", "damaged. Delete "),
        (
            "sqlite3.OperationalError: attempt to write a readonly database",
            "can't be written. Fix the permissions",
        ),
        ("something else", "server.log; if its database is damaged, delete "),
    ],
)
def test_what_is_said_of_a_server_that_ends_while_starting(tmp_path, prefect_home, monkeypatch, words, said):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    prefect_home.mkdir()
    monkeypatch.setattr(sys, "executable", str(program))
    server = Server(tmp_path / "server.log")
    server.start()
    with pytest.raises(StaffbenchError) as raised:
        server.wait()
    server.stop()
    assert said in str(raised.value)
    assert "unset" not in str(raised.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, ["127.0.0.1", "127.0.0.1"]),
        ({"NO_PROXY": "a.org,.b"}, ["a.org,.b,127.0.0.1", "a.org,.b,127.0.0.1"]),
        ({"no_proxy": "a.org", "NO_PROXY": "c.org"}, ["a.org,127.0.0.1", "c.org,127.0.0.1"]),
        ({"no_proxy": "x, 127.0.0.1"}, ["x, 127.0.0.1", "x, 127.0.0.1"]),
        ({"no_proxy": "*"}, ["*", "*"]),
    ],
)
def test_no_proxy_is_asked_for_a_server_of_ours_and_what_stood_there_stays(
    tmp_path, prefect_home, monkeypatch, before, after
):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "executable", "/bin/true")
    server = Server(tmp_path / "server.log")
    server.start()
    found = [os.environ.pop(name) for name in ("no_proxy", "NO_PROXY")]
    server.stop()
    assert found == after


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "127.0.0.1:4200/api",
        "ftp://h/api",
        "file:///etc",
        "http:///api",
        "http://h:no/api",
        "http://[/",
    ],
)
def test_an_address_that_is_none_is_a_configuration_that_cant_be_run(tmp_path, monkeypatch, url):
    monkeypatch.setenv("PREFECT_API_URL", url)
    with pytest.raises(ConfigError, match=r"PREFECT_API_URL: .* expected http://HOST:PORT/api"):
        Server(tmp_path / "server.log").start()


class Nonsense(http.server.BaseHTTPRequestHandler):
    """Speaks something else."""

    def do_GET(self):
        self.wfile.write(b"hello there\r\n\r\n")


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """Has no page of that name, as Prefect's server has none of `/health`."""

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Nonsense, r"does not answer\. .*unset PREFECT_API_URL"),
        # not the address that was tried
        (Elsewhere, r"is not Prefect's API; expected its address, such as http://127\.0\.0\.1:4200/api"),
    ],
)
def test_a_server_of_another_kind_is_said_to_be_one(tmp_path, monkeypatch, kind, said):
    monkeypatch.setattr("flows.pipeline.orchestration.server._ANSWER_S", 0.3 if kind is Nonsense else 60)
    other = http.server.HTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{other.server_port}/api")
    server = Server(tmp_path / "server.log")
    server.start()
    try:
        with pytest.raises(StaffbenchError, match=said):
            server.wait()
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    server.stop()


def test_a_log_that_can_not_be_written_is_said_to_be_one(tmp_path, prefect_home):
    (tmp_path / "file").write_text("where a folder should be", encoding="utf-8")
    with pytest.raises(StoreError, match=r"server\.log: can't be written .*PREFECT_HOME"):
        Server(tmp_path / "file" / "server.log").start()


@pytest.mark.parametrize("kind", [httpx.Response, PrefectResponse])
def test_an_answer_that_is_an_error_is_named_without_its_body_and_link(kind):
    request = httpx.Request("POST", "http://127.0.0.1:4200/api/task_runs/")
    answer = kind(503, json={"exception_message": "Service Unavailable"}, request=request)

    async def ask() -> None:
        async with watched(None, lambda: False):
            answer.raise_for_status()

    with pytest.raises(PrefectError) as raised:
        asyncio.run(ask())
    found = "it answered 503 Service Unavailable to POST /api/task_runs/; its database may be down"
    assert str(raised.value).startswith(f"Prefect's server: was lost during the run ({found}). Check ")
