"""What Prefect's pages and commands show of a run, and what they can do with it."""

import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.request

import pytest
from prefect.utilities.schema_tools import validate
from prefect.utilities.schema_tools.validation import ValidationError

from flows.pipeline.evaluate.deployed import deployed
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
    tags = {task["name"]: set(task["tags"]) for task in below(bench.environment, "task_runs", run)}
    assert tags[f"judge · alder · {name}"] == {"alder", name, "judge"}


def test_a_run_that_failed_is_retried_from_what_is_stored(bench, endpoint):
    answer = endpoint.script
    endpoint.script = lambda call: answer(call) if call.body["model"] == "writer-1" else Status(401)
    assert bench("run", *remote(endpoint, "seeds=1")).code == 1
    run = newest(bench.environment)
    assert run["state"]["name"] == "Failed"
    before = len(endpoint.billed)
    endpoint.script = answer
    entrypoint = f"{deployed.fn.__code__.co_filename}:deployed"
    command = [sys.executable, "-m", "prefect", "flow-run", "retry", run["id"], "--entrypoint", entrypoint]
    done = subprocess.run(
        command,
        cwd=bench.folder,
        env=bench.environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    again = newest(bench.environment)
    assert (again["id"], again["run_count"]) == (run["id"], 2)
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


@pytest.mark.slow
def test_an_automation_tells_of_a_run_that_failed(tmp_path, project, monkeypatch):
    """A server that is kept running, with its feed of events; a webhook on this machine."""
    told: list[str] = []
    came = threading.Event()

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            told.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()
            came.set()

        def log_message(self, *_):
            pass

    hook = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
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
        environment = {**os.environ}
        code = (
            "from prefect.blocks.webhook import Webhook\n"
            f"hook = Webhook(url='http://127.0.0.1:{hook.server_port}/', allow_private_urls=True)\n"
            "print(hook.save('hook'))"
        )
        block = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        failed = {"prefect.resource.id": "prefect.flow-run.*"}
        trigger = {
            "type": "event",
            "posture": "Reactive",
            "match": failed,
            "expect": ["prefect.flow-run.Failed"],
        }
        action = {
            "type": "call-webhook",
            "block_document_id": block.stdout.split()[-1],
            "payload": "{{ flow_run.name }}: {{ flow_run.state.message }}",
        }
        ask(
            environment,
            "/automations/",
            {
                "name": "failed",
                "trigger": {**trigger, "for_each": ["prefect.resource.id"], "threshold": 1, "within": 0},
                "actions": [action],
            },
        )
        bench = Project(tmp_path, project / "conf", environment)
        (tmp_path / "data" / "ma_bench" / "alder" / "documents" / "01-order.txt").write_bytes(b"\xff\x00")
        process = bench.start("run", "model=strong", "tracking=none")
        out, err = process.communicate(timeout=500)
        assert process.returncode == 1, out + err
        assert came.wait(300)
        assert told[0].startswith("ma_bench · strong-default-3000-v0 · offline: ")
    finally:
        server.stop()
        hook.shutdown()
