"""The embedded server: when it ends, and which runs it forgets."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

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


def test_a_server_that_nobody_waited_for_ends_at_once(tmp_path, prefect_home):
    server = Server(tmp_path / "server.log")
    server.start()
    time.sleep(0.5)
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 15.0  # it would be waited for 20 s
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
def test_a_server_whose_parent_is_killed_while_it_starts_ends(tmp_path, project, prefect_home, after):
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
    with (prefect_home / "server.lock").open("a") as lock:  # the next may start
        assert is_released(lock)
