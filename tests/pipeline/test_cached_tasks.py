"""What Prefect's cache is trusted with: nothing that can't be made again."""

from tests.support.scripts import run_script

WORK = """
def work():
    async def make():
        made.append(1)
        return {"n": len(made)}
    return Work("score", {"of": "this test"}, make)

@flow(validate_parameters=False)
async def run():
    first = await run_cached(objects, "first", work())
"""
SCRIPT = (
    """
import asyncio, sys
from pathlib import Path
from prefect import flow
from prefect.transactions import AsyncTransaction
from flows.adapters.objects import ObjectStore
from flows.pipeline.orchestration.cached_tasks import run_cached
from flows.pipeline.orchestration.work import Work
from flows.pipeline.orchestration.records import RecordFolder, records

made = []
objects = ObjectStore(Path(sys.argv[1]))
look, read, unread = RecordFolder.result, AsyncTransaction.read, [1]

async def half_written(self):
    if unread.pop() if unread else 0:
        raise ValueError("Expecting value: line 1 column 1 (char 0)")
    return await read(self)

"""
    + WORK
    + """    AsyncTransaction.read = half_written
    RecordFolder.result = lambda self, key: None  # it is written just after we looked
    second = await run_cached(objects, "second", work())
    RecordFolder.result = look
    third = await run_cached(objects, "third", work())
    print([(s.value["n"], s.skipped) for s in (first, second, third)])

run.result_storage = records()
asyncio.run(run())
"""
)


PICKLED = (
    """
import asyncio, json, os, sys
from pathlib import Path
from prefect import flow
from prefect.results import ResultRecord
from prefect.serializers import PickleSerializer
from flows.adapters.objects import ObjectStore
from flows.pipeline.orchestration.cached_tasks import run_cached
from flows.pipeline.orchestration.work import Work
from flows.pipeline.orchestration.records import records

made, folder = [], Path(sys.argv[1])
objects = ObjectStore(folder / "objects")

class Harm:
    def __reduce__(self):
        return os.mkdir, (str(folder / "harm"),)

"""
    + WORK
    + """    path = folder / "prefect" / work().key
    record = json.loads(path.read_bytes())
    record["metadata"]["serializer"] = PickleSerializer().model_dump()
    record["result"] = PickleSerializer().dumps(Harm()).decode()
    pickled = json.dumps(record)
    path.write_text(pickled)
    second = await run_cached(objects, "second", work())
    third = await run_cached(objects, "third", work())
    print([(s.value["n"], s.skipped) for s in (first, second, third)])
    print((folder / "harm").exists())
    ResultRecord.deserialize(pickled)
    print((folder / "harm").exists())

run.result_storage = records()
asyncio.run(run())
"""
)


SHOWN = """
import asyncio, sys
from pathlib import Path
from prefect import flow, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.context import FlowRunContext
from flows.adapters.objects import ObjectStore
from flows.pipeline.orchestration.cached_tasks import run_cached, show_skipped
from flows.pipeline.orchestration.work import Work
from flows.pipeline.orchestration.records import records

folder = Path(sys.argv[1])
objects = ObjectStore(folder / "objects")
kept = {}

def work(n):
    async def make():
        return n
    return Work("score", {"n": n}, make)

@flow(validate_parameters=False)
async def run(numbers):
    skipped = [(await run_cached(objects, f"s{n}", work(n))).skipped for n in numbers]
    await show_skipped("strong", {"score": sum(skipped)} if any(skipped) else {})
    kept.update(FlowRunContext.get().run_results)
    return skipped, str(FlowRunContext.get().flow_run.id)

async def shown(flow_run_id):
    chosen = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id]))
    for _ in range(100):  # the server writes what it is told every second
        async with get_client() as client:
            found = await client.read_task_runs(flow_run_filter=chosen)
        if found and all(one.state and one.state.is_final() for one in found):
            return sorted((one.name, one.state.name, one.state.message) for one in found)
        await asyncio.sleep(0.2)

run.result_storage = records()
for numbers in ([1], [1, 2], [1, 2]):
    skipped, flow_run_id = asyncio.run(run(numbers))
    if skipped == [True, True]:
        for record in (folder / "prefect").iterdir():
            record.write_text("{")
        print(asyncio.run(run(numbers))[0])
    print(skipped, asyncio.run(shown(flow_run_id)))
objects = ObjectStore(folder / "elsewhere")
skipped, flow_run_id = asyncio.run(run([1]))
print(skipped, asyncio.run(shown(flow_run_id)))
print(kept)
"""


def run_settling(script, tmp_path, project, prefect_environment):
    environment = {**prefect_environment, "PREFECT_LOCAL_STORAGE_PATH": str(tmp_path / "prefect")}
    return run_script(script, tmp_path, project=project, environment=environment)


def test_what_was_done_before_is_no_task_run_of_its_own_and_is_shown(tmp_path, project, prefect_environment):
    first, second, damaged, third, other, kept = run_settling(SHOWN, tmp_path, project, prefect_environment)
    assert first == "[False] [('score · s1', 'Completed', '')]"
    assert second == (
        "[True, False] [('done before · strong', 'Cached', 'done by earlier runs: score 1'), "
        "('score · s2', 'Completed', '')]"
    )
    assert damaged == "[False, False]"  # records that can't be read cost time, and nothing else
    assert third == ("[True, True] [('done before · strong', 'Cached', 'done by earlier runs: score 2')]")
    # Its record is there, and leads to nothing in another folder: one task run, which does the work.
    assert other == "[False] [('score · s1', 'Completed', '')]"
    assert kept == "{}"  # Prefect's states of finished tasks do not stay in memory


def test_a_record_that_prefect_finds_and_cannot_read_is_made_again(tmp_path, project, prefect_environment):
    lines = run_settling(SCRIPT, tmp_path, project, prefect_environment)
    assert lines == ["[(1, False), (2, False), (2, True)]"]


def test_a_record_that_says_pickle_is_never_unpickled_and_is_made_again(
    tmp_path, project, prefect_environment
):
    results, harmed, would_harm = run_settling(PICKLED, tmp_path, project, prefect_environment)
    assert results == "[(1, False), (2, False), (2, True)]"
    assert (harmed, would_harm) == ("False", "True")
