"""Inspect's tasks do what a run does: requests, verdicts and scores are the same."""

import json

import pytest
from inspect_ai.log import read_eval_log

from tests.support.bench import ITEM, Project, answer, remote
from tests.support.inspect_runs import evaluate
from tests.support.plain_flow import without_prefect
from tests.support.report_bench import sweep_here
from tests.support.scripted_server import Call, Say, ScriptedServer


def graded(call: Call) -> Say:
    """A judge that fails the first item."""
    if call.body["model"].startswith("judge"):
        items = ITEM.findall(call.prompt)
        failed = [{"id": items[0][0], "mode": "omission", "reason": "not there"}]
        return Say(json.dumps({"items": len(items), "failed": failed}))
    return answer(call)


def test_the_same_endpoint_gets_the_same_requests(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    bench = Project(tmp_path, project / "conf", {})
    with ScriptedServer(graded) as ours:
        assert sweep_here(bench.folder, *remote(ours)) == 0
    with ScriptedServer(graded) as theirs:
        (path,) = evaluate(tmp_path, theirs.base, {"task": "staffbench/ma_bench"})
    log = read_eval_log(path)
    print(sorted(map(lambda c: json.dumps(dict(c.body), sort_keys=True), ours.calls))[0][:3000])
    print(sorted(map(lambda c: json.dumps(dict(c.body), sort_keys=True), theirs.calls))[0][:3000])
    print(len(ours.calls), len(theirs.calls))
    print({k: v for k, v in theirs.calls[0].headers.items()})
    print(log.results)
    raise AssertionError
