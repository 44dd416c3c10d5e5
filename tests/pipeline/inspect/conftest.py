"""A folder to bring logs of Inspect into, and logs of our own results."""

import json

import pytest

from flows.__main__ import main
from tests.support.bench import ITEM, Project, answer, remote
from tests.support.plain_flow import without_prefect
from tests.support.report_bench import project_here, sweep_here
from tests.support.scripted_server import Call, Say, ScriptedServer


def graded(call: Call) -> Say:
    """A judge that fails one item and is sometimes refused, and a writer that is sometimes."""
    if not call.body["model"].startswith("judge"):
        return Say("", finish="content_filter") if call.body["seed"] == 2 else answer(call)
    items = ITEM.findall(call.prompt)
    failed = [{"id": "bridge", "mode": "omission", "reason": "not | <there>\n`x`"}]
    return Say(json.dumps({"items": len(items), "failed": failed}))


@pytest.fixture
def bench(tmp_path, project, monkeypatch):
    bench = project_here(tmp_path, project / "conf", monkeypatch)
    monkeypatch.chdir(tmp_path)
    return bench


@pytest.fixture(scope="session")
def exported(tmp_path_factory, project):
    """Logs of four conditions, one of them under a judge with repeats and a second judge."""
    folder = tmp_path_factory.mktemp("exported")
    bench = Project(folder, project / "conf", {})
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(graded) as server:
        without_prefect(patch)
        patch.chdir(folder)
        assert sweep_here(folder, "model=strong,weak,extractive", "seeds=2") == 0
        asked = remote(server, "word_cap=5", 'judge.label="Jüdge/1"')
        assert sweep_here(folder, *asked, "judge.repeat=3") == 4  # refusals have no verdict
        writer = [one for one in asked if not one.startswith("judge")]
        assert sweep_here(folder, *writer, "judge=offline") == 4
        assert main(["export", "ma_bench", "logs", "--to", "inspect"]) == 0
        assert main(["report"]) == 0
    return bench
