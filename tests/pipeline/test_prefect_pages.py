"""What Prefect's pages and commands show of a run, and what they can do with it."""

import asyncio
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from queue import SimpleQueue
from uuid import uuid4

import pytest
from prefect.settings import get_current_settings
from prefect.utilities.schema_tools import validate
from prefect.utilities.schema_tools.validation import ValidationError

from flows.pipeline.evaluate.deployed import deployed
from flows.pipeline.orchestration import flow_runs
from flows.pipeline.orchestration.server import Server, configure
from tests.support.bench import Project, remote
from tests.support.scripted_server import Status


def ask(environment, path, body):
    request = urllib.request.Request(
        environment["PREFECT_API_URL"] + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def newest(environment):
    (run,) = ask(environment, "/flow_runs/filter", {"sort": "START_TIME_DESC", "limit": 1})
    return run


def below(environment, kind, run):
    return ask(environment, f"/{kind}/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})


def test_a_sweep_of_hundreds_of_conditions_has_no_more_tags_than_the_server_takes(monkeypatch):
    sent = []

    class Client:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *_):
            return None

        async def update_flow_run(self, _, *, tags):
            sent.extend(tags)

    monkeypatch.setattr(flow_runs, "get_client", Client)
    asyncio.run(flow_runs.add_tags(str(uuid4()), [f"condition {number}" for number in range(340)]))
    assert sent == [f"condition {number}" for number in range(flow_runs.MOST_TAGS)]
    # A state's event has the tags, and some more: flow, deployment, work pool.
    assert get_current_settings().server.events.maximum_related_resources >= flow_runs.MOST_TAGS + 20


@pytest.mark.slow
def test_a_sweep_of_a_hundred_and_twenty_conditions_ends_well(bench):
    caps = ",".join(map(str, range(1, 121)))
    done = bench("run", "-m", "model=strong", f"word_cap={caps}", "seeds=1", "tracking=none")
    assert done.code == 0, done.err
    assert newest(bench.environment)["state"]["type"] == "COMPLETED"


def test_a_flow_run_has_parameters_tags_progress_board_and_link(bench):
    done = bench("run", "model=strong", "seeds=2", "tracking=none")
    assert done.code == 0, done.err
    run = newest(bench.environment)
    assert run["parameters"] == {"overrides": ["model=strong", "seeds=2", "tracking=none"], "sweep": False}
    name = "strong-default-3000-v0 · offline"
    assert set(run["tags"]) == {"ma_bench", name}
    artifacts = {one["key"]: one for one in below(bench.environment, "artifacts", run)}
    assert artifacts["progress"]["data"] == 100
    assert "aggregate 1/1" in artifacts["progress"]["description"]
    assert "| strong |" in artifacts["leaderboard"]["data"]
    assert (bench.results / "ma_bench" / "leaderboard.md").as_uri() in artifacts["results"]["data"]
    wanted, tags = f"judge · alder · {name}", {}
    deadline = time.monotonic() + 300
    while not tags.get(wanted):  # the server writes events of tasks when it can
        assert time.monotonic() < deadline, tags
        time.sleep(0.1)
        tags = {task["name"]: set(task["tags"]) for task in below(bench.environment, "task_runs", run)}
    assert tags[wanted] == {"alder", name, "judge"}


def test_a_run_that_failed_is_retried_from_what_is_stored(bench, endpoint):
    answer = endpoint.script
    endpoint.script = lambda call: answer(call) if call.body["model"] == "writer-1" else Status(401)
    assert bench("run", *remote(endpoint, "seeds=1")).code == 1
    run = newest(bench.environment)
    assert run["state"]["name"] == "Failed"
    reason = run["state"]["message"]
    entrypoint = f"{deployed.fn.__code__.co_filename}:deployed"
    retry = [sys.executable, "-m", "prefect", "flow-run", "retry", run["id"], "--entrypoint", entrypoint]
    failed = subprocess.run(
        retry, cwd=bench.folder, env=bench.environment, capture_output=True, timeout=600, check=False
    )
    assert failed.returncode == 1
    still = newest(bench.environment)["state"]
    assert still["name"] == "Failed"
    assert reason.split(":")[0] in still["message"]  # and not an exit code alone
    before = len(endpoint.billed)
    endpoint.script = answer
    bench.python("-m", "prefect", "flow-run", "retry", run["id"], "--entrypoint", entrypoint)
    again = newest(bench.environment)
    assert (again["id"], again["run_count"]) == (run["id"], 3)
    assert again["state"]["message"] == "every item has a verdict"
    assert len(endpoint.billed) == before + 2  # the judge's; the briefs were stored
    (row,) = bench.board()
    assert row["n_ungraded"] == 0


@pytest.mark.parametrize(
    ("parameters", "is_valid"),
    [
        ({"overrides": ["model=strong", "+experiment=main", "~model.parameters.top_p"], "sweep": True}, True),
        ({"overrides": "model=strong"}, False),
        ({"overrides": ["model strong"]}, False),
        ({"overrides": ["model=strong"], "sweep": "maybe"}, False),
    ],
)
def test_a_deployments_parameters_are_checked_before_a_run_is_made(parameters, is_valid):
    schema = deployed.parameters.model_dump()
    if is_valid:
        validate(parameters, schema, raise_on_error=True)
        return
    with pytest.raises(ValidationError):
        validate(parameters, schema, raise_on_error=True)


@pytest.fixture
def hook():
    """A webhook on this machine; gives its address and what it is sent."""
    told: SimpleQueue[str] = SimpleQueue()

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            told.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", told
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_the_automation_of_the_guide_tells_of_a_run_that_failed(
    tmp_path, project, monkeypatch, endpoint, hook
):
    """On a server with its event services, as one that is kept running has them."""
    address, told = hook
    (text,) = re.findall(
        r"```yaml\n(name: .*?)```", (project / "docs/how-to/prefect.md").read_text(), re.DOTALL
    )
    monkeypatch.setattr(os, "environ", os.environ.copy())
    os.environ.pop("PREFECT_API_URL", None)
    os.environ["PREFECT_HOME"] = str(tmp_path / "home")
    for name in ("EVENTS_STREAM_OUT", "SERVICES_EVENT_PERSISTER", "SERVICES_TRIGGERS"):
        os.environ[f"PREFECT_SERVER_{name}_ENABLED"] = "true"
    configure(tmp_path, tmp_path)
    server = Server(tmp_path / "server.log")
    server.start()
    try:
        server.wait()
        bench = Project(tmp_path, project / "conf", {**os.environ})
        code = (
            "from prefect.blocks.webhook import Webhook\n"
            f"print(Webhook(url={address!r}, allow_private_urls=True).save('hook'))"
        )
        block_id = bench.python("-c", code).out.split()[-1]
        (tmp_path / "automation.yaml").write_text(
            text.replace("block_document_id: ID", f"block_document_id: {block_id}")
        )
        bench.python("-m", "prefect", "automation", "create", "--from-file", "automation.yaml")
        answer = endpoint.script
        endpoint.script = lambda call: answer(call) if call.body["model"] == "writer-1" else Status(401)
        assert bench("run", *remote(endpoint, "seeds=1")).code == 1
        sent = json.loads(told.get(timeout=300))["text"]
        run = newest(bench.environment)
        assert sent == f"{run['name']}: {run['state']['message']}"
    finally:
        server.stop()
