"""The embedded server ends when it has written what it was told, and not before."""

import subprocess
import sys

SCRIPT = """
import asyncio, os, sqlite3, sys
from pathlib import Path

from flows.pipeline.server import Server

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
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[('Completed', 60)]"
