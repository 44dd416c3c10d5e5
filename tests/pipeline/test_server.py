"""The embedded server: when it ends, what it forgets, and what is said where it can't start."""

import fcntl
import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.pipeline.orchestration.server import Server
from tests.support.scripts import run_script

DEAD_PROXY = dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9")

SCRIPT = """
import asyncio, os, sqlite3, sys
from pathlib import Path

from flows.pipeline.orchestration.server import Server

server = Server(Path(sys.argv[1]) / "server.log")
server.start()
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext

@task(task_run_name="one · {number}", cache_policy=NO_CACHE, persist_result=False)
async def one(number):
    return None

@flow(validate_parameters=False)
async def many(number):
    await asyncio.gather(*(one(n) for n in range(number)))
    return str(FlowRunContext.get().flow_run.id)

server.wait()
flow_run_id = asyncio.run(many(60))
server.release(flow_run_id, 60)
server.stop()
with sqlite3.connect(f"file:{os.environ['PREFECT_HOME']}/prefect.db?mode=ro", uri=True) as database:
    found = "select state_name, count(*) from task_run where flow_run_id in (?, ?) group by state_name"
    print(database.execute(found, (flow_run_id, flow_run_id.replace("-", ""))).fetchall())
"""


def test_a_released_server_ends_as_soon_as_every_task_run_is_written(tmp_path, project, prefect_environment):
    environment = {name: value for name, value in prefect_environment.items() if name != "PREFECT_API_URL"}
    environment |= DEAD_PROXY  # no proxy is asked for a server of ours
    environment = {name: value for name, value in environment.items() if name.lower() != "no_proxy"}
    said = run_script(SCRIPT, tmp_path, project=project, environment=environment)
    assert said == ["[('Completed', 60)]"]


OLD = """
import os, sqlite3, sys, time
from contextlib import closing
from pathlib import Path

from flows.pipeline.orchestration.server import Server

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext

@task(cache_policy=NO_CACHE, persist_result=False)
def one():
    return None

@flow(validate_parameters=False)
def some():
    one()
    return str(FlowRunContext.get().flow_run.id)

def rows(sentence, *values):
    path = Path(os.environ["PREFECT_HOME"]) / "prefect.db"
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        return database.execute(sentence, values).fetchall()

def counted(run):
    ids = (run, run.replace("-", ""))
    return [
        rows("select count(*) from flow_run where id in (?, ?)", *ids)[0][0],
        rows("select count(*) from task_run where flow_run_id in (?, ?)", *ids)[0][0],
    ]

def waited(run, count):
    deadline = time.monotonic() + 60
    while counted(run) != count and time.monotonic() < deadline:
        time.sleep(0.1)
    return counted(run)

runs = [some() for _ in sys.argv[2:]]
print([waited(run, [1, 1]) for run in runs])
for run, ended in zip(runs, sys.argv[2:]):
    rows("update flow_run set end_time = ? where id in (?, ?)", ended, run, run.replace("-", ""))
del os.environ["PREFECT_API_URL"]
server = Server(Path(sys.argv[1]) / "server.log")
server.start()
server.wait()
print(waited(runs[0], [0, 0]), *map(counted, runs[1:]))
server.stop()
"""


def test_runs_that_ended_over_a_month_ago_are_forgotten(tmp_path, project, prefect_environment):
    ended = [datetime.now(UTC) - timedelta(days=days) for days in (31, 29)]
    told = [f"{each:%Y-%m-%d %H:%M:%S.%f}" for each in ended]
    said = run_script(OLD, tmp_path, *told, project=project, environment=prefect_environment)
    assert said == ["[[1, 1], [1, 1]]", "[0, 0] [1, 1]"]


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A folder for a server of this test's own, and nothing set that would name another."""
    home = tmp_path / "home"
    monkeypatch.setenv("PREFECT_HOME", str(home))
    monkeypatch.setenv("PREFECT_API_URL", "")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "")
    return home


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
def test_two_servers_may_start_at_once_where_there_is_no_database(tmp_path, project, alone):
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


def test_a_damaged_database_is_said_to_be_one_and_what_to_delete(tmp_path, alone):
    alone.mkdir()
    (alone / "prefect.db").write_bytes(b"garbage " * 10_000)
    log = tmp_path / "server.log"
    server = Server(log)
    server.start()
    try:
        with pytest.raises(StoreError, match="is damaged") as raised:
            server.wait()
    finally:
        server.stop()
    assert f"Delete {alone}/prefect.db: only the history in Prefect's UI is lost" in str(raised.value)
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
def test_what_is_said_of_a_server_that_ends_while_starting(tmp_path, alone, monkeypatch, words, said):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    alone.mkdir()
    monkeypatch.setattr(sys, "executable", str(program))
    server = Server(tmp_path / "server.log")
    server.start()
    with pytest.raises(StaffbenchError) as raised:
        server.wait()
    server.stop()
    assert said in str(raised.value)
    assert "unset" not in str(raised.value)


def is_released(lock):
    """Whether nobody holds it; a process of several threads closes its files just after it is gone."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.02)
    return False


def is_there(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_server_that_nobody_waited_for_ends_at_once(tmp_path, alone):
    server = Server(tmp_path / "server.log")
    server.start()
    time.sleep(0.5)
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 2.0
    assert not server.is_embedded


KILLED = """
import os, sys, time
from pathlib import Path

from flows.pipeline.orchestration.server import Server

server = Server(Path(sys.argv[1]) / "server.log")
server.start()
print(server._process.pid, flush=True)
Path(os.environ["PREFECT_HOME"]).mkdir(exist_ok=True)
time.sleep(float(sys.argv[2]))
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("after", [0.1, 4.0])
def test_a_server_whose_parent_is_killed_while_it_starts_ends(tmp_path, project, alone, after):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(after)],
        cwd=project,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    process = int(done.stdout)
    deadline = time.monotonic() + 60
    while is_there(process) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = is_there(process)
    with suppress(ProcessLookupError):
        if left:
            os.kill(process, signal.SIGKILL)
    assert not left
    with (alone / "server.lock").open("a") as lock:  # the next may start
        assert is_released(lock)


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
    tmp_path, alone, monkeypatch, before, after
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


def test_a_server_of_another_kind_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr("flows.pipeline.orchestration.server._ANSWER_S", 0.3)
    other = http.server.HTTPServer(("127.0.0.1", 0), Nonsense)
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{other.server_port}/api")
    server = Server(tmp_path / "server.log")
    server.start()
    try:
        with pytest.raises(StaffbenchError, match=r"does not answer\. .*unset PREFECT_API_URL"):
            server.wait()
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    server.stop()


def test_a_log_that_can_not_be_written_is_said_to_be_one(tmp_path, alone):
    (tmp_path / "file").write_text("where a folder should be", encoding="utf-8")
    with pytest.raises(StoreError, match=r"server\.log: can't be written .*PREFECT_HOME"):
        Server(tmp_path / "file" / "server.log").start()
