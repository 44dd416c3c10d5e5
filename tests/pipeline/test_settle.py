"""What Prefect's cache is trusted with: nothing that can't be made again."""

import subprocess
import sys

SCRIPT = """
import asyncio, sys
from pathlib import Path
from prefect import flow
from prefect.transactions import AsyncTransaction
from flows.adapters.objects import ObjectStore
from flows.pipeline.settle import Work, settle

made = []
objects = ObjectStore(Path(sys.argv[1]))
read, unread = AsyncTransaction.read, [1]

async def half_written(self):
    if unread.pop() if unread else 0:
        raise ValueError("Expecting value: line 1 column 1 (char 0)")
    return await read(self)

def work():
    async def make():
        made.append(1)
        return {"n": len(made)}
    return Work("score", {"of": "this test"}, make)

@flow(validate_parameters=False)
async def run():
    first = await settle(objects, "first", work())
    AsyncTransaction.read = half_written
    second = await settle(objects, "second", work())
    third = await settle(objects, "third", work())
    print([(s.value["n"], s.skipped) for s in (first, second, third)])

asyncio.run(run())
"""


def test_a_record_that_prefect_finds_and_cannot_read_is_made_again(tmp_path, project, prefect_environment):
    environment = {**prefect_environment, "PREFECT_LOCAL_STORAGE_PATH": str(tmp_path / "prefect")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "objects")],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[(1, False), (2, False), (2, True)]"
