"""Inspect's tasks do what a run does: requests, verdicts and scores are the same."""

import json
import math
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from inspect_ai.log import read_eval_log

from flows.__main__ import main
from tests.support.bench import ITEM, Project, answer, remote
from tests.support.inspect_runs import evaluate
from tests.support.plain_flow import without_prefect
from tests.support.report_bench import ReportProject, sweep_here
from tests.support.report_endpoint import answer as reports_answer
from tests.support.report_endpoint import calls, reports, turn
from tests.support.scripted_server import Call, Say, ScriptedServer

OWN = {"stream", "stream_options", "tool_choice"}
"""Fields of a request that one side sends: ours asks for a stream, Inspect says how tools are chosen."""
LEFT_OUT = {"minItems", "minimum"}
"""Bounds in the schemas of tools, which Inspect does not send."""
LONG = "The relief column has 412 soldiers. " + "It waits for orders at the depot. " * 3


def graded(call: Call) -> Say:
    """Writers of all kinds, and a judge that fails the first item, or does not answer as it is asked to."""
    if call.body["model"].startswith("judge"):
        if "BREAK THE JUDGE" in call.prompt:
            return Say("I would rather not.")
        items = ITEM.findall(call.prompt)
        failed = [{"id": items[0][0], "mode": "omission", "reason": "not | <there>"}]
        return Say(json.dumps({"items": len(items), "failed": failed}))
    if "412" not in call.prompt:
        return answer(call)
    return {
        1: Say(f"  <b>Ünïcode</b> & “quotes”\n\n{LONG}\n"),
        2: Say("BREAK THE JUDGE", finish="length"),
        3: Say("I can't", finish="content_filter"),
    }[call.body["seed"]]


def reporting(call: Call) -> Say:
    """A writer of reports with our tools, and one with a shell in a sandbox."""
    names = {tool["function"]["name"] for tool in call.body.get("tools", ())}
    copies = ("bash", {"command": "mkdir outputs && cp attachments/form.docx outputs/report.docx"})
    in_sandbox = "bash" in names
    said = (
        turn(call, [calls(copies), calls(("submit", {"answer": "done"}))])
        if in_sandbox
        else reports_answer(call)
    )
    # Inspect fails on a reply whose usage has no sum.
    return replace(said, usage={"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})


@pytest.fixture(scope="module")
def both(tmp_path_factory, project):
    """Results of a run, the log of a task of Inspect, and what the endpoint got from each."""
    folder = tmp_path_factory.mktemp("inspect")
    bench = Project(folder, project / "conf", {})
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(graded) as ours:
        without_prefect(patch)
        assert sweep_here(folder, *remote(ours), "word_cap=12") == 4  # a judge fails
    limited = {"word_cap": 12, "scenarios": "alder", "judge": "offline", "seeds": 1}
    with ScriptedServer(graded) as theirs:
        paths = evaluate(
            folder,
            theirs.base,
            {"task": "staffbench/ma_bench", "task_args": {"word_cap": 12}},
            {"task": "staffbench/ma_bench", "task_args": limited, "model": "mockllm/model"},
        )
        assert main_in(folder, "import", paths[0]) == 0
    return bench, ours.calls, theirs.calls, [read_eval_log(path) for path in paths]


def main_in(folder, *words):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return main(words)


def sent(calls):
    """What an endpoint got, without the provider's own fields: model, messages, limits, effort and seed."""
    bodies = [{name: one for name, one in call.body.items() if name not in OWN} for call in calls]
    return sorted(json.dumps(body, ensure_ascii=False, sort_keys=True) for body in bodies)


def rows(bench, kind, model):
    """Rows of a condition's table, without the names of condition and judge."""
    (path,) = [path for path in (bench.results / "ma_bench" / kind).rglob("*.parquet") if model in str(path)]
    names = ("condition", "judge", "model", "completion")
    return [{k: v for k, v in row.items() if k not in names} for row in pq.read_table(path).to_pylist()]


def test_the_same_endpoint_gets_the_same_requests(both):
    _, ours, theirs, _ = both
    assert len(ours) == 6 + 3 + 1 + 3  # briefs; their judge: three of one scenario, one, and three tries
    assert sent(theirs) == sent(ours)
    assert {name for call in theirs for name in call.body} == {
        *("model", "messages", "seed", "reasoning_effort", "max_tokens")
    }


@pytest.mark.parametrize("kind", ["briefs", "verdicts", "scores"])
def test_an_imported_log_has_the_same_briefs_verdicts_and_scores(both, kind):
    bench = both[0]
    assert rows(bench, kind, "openai-api_test_writer-1") == rows(bench, kind, "/writer-1-")


def test_scores_are_exact_and_what_failed_is_unscored(both):
    bench, _, _, (log, _) = both
    ours = {(row["scenario_id"], row["seed"]): row for row in rows(bench, "scores", "/writer-1-")}
    for sample in log.samples:
        score = sample.scores["staffbench_judge"]
        expected = ours[sample.id, sample.epoch]["score"]
        assert score.value == expected or (math.isnan(score.value) and expected is None)
    reasons = {s.epoch: s.scores["staffbench_judge"].reason for s in log.samples if s.id == "alder"}
    assert reasons == {1: None, 2: "grader_failed", 3: "refusal"}
    means, pooled = log.results.scores
    assert (means.scored_samples, means.unscored_samples) == (2, 0)
    assert (pooled.scored_samples, pooled.unscored_samples) == (4, 2)
    (row,) = [row for row in bench_rows(bench) if row["model"] == "writer-1"]
    assert means.metrics["mean"].value == pytest.approx(row["score"], abs=1e-12)
    assert pooled.metrics["correct"].value == pytest.approx(row["correct"], abs=1e-12)
    assert pooled.metrics["tier_1"].value == 0  # the first item is failed
    assert pooled.metrics["severity_critically_detrimental_avoided"].value == 1


def bench_rows(bench):
    assert main_in(bench.folder, "report") == 0
    return bench.board()


def test_a_log_says_the_cut_and_every_verdict(both):
    (sample,) = [one for one in both[3][0].samples if (one.id, one.epoch) == ("alder", 1)]
    score = sample.scores["staffbench_judge"]
    assert "cut from 30 words to 12; 3 of 3 items graded" in score.explanation
    assert "- failed (omission) `strength`: States the strength of the relief column. not | &lt;there>" in (
        score.explanation
    )
    assert score.answer.endswith("It waits for")
    assert sample.output.completion.endswith("depot. \n")
    assert sample.output.stop_reason == "stop"


def test_mockllm_and_the_offline_judge_need_no_endpoint(both):
    log = both[3][1]
    assert [(one.id, one.epoch) for one in log.samples] == [("alder", 1)]
    assert log.status == "success"
    assert log.samples[0].scores["staffbench_judge"].value == 0
    assert log.samples[0].scores["staffbench_judge"].answer == "Default output from mockllm/model"


@pytest.fixture(scope="module")
def attempts(tmp_path_factory, project):
    """As `both`, of reports: with our tools, and of an agent with a sandbox."""
    folder = tmp_path_factory.mktemp("inspect")
    bench = ReportProject(folder, project / "conf", {})
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(reporting) as ours:
        without_prefect(patch)
        assert sweep_here(folder, *reports(ours, "seeds=1")) == 0
    given = {"overrides": "judge.harness=single_call", "seeds": 1}
    sandbox = {**given, "deliverable": "sandbox", "scenarios": "memo-01"}
    with ScriptedServer(reporting) as theirs:
        paths = evaluate(
            folder,
            theirs.base,
            {"task": "staffbench/mission_report", "task_args": given},
            {"task": "staffbench/mission_report", "task_args": sandbox},
        )
    assert main_in(folder, "import", paths[0]) == 0
    return bench, ours.calls, theirs.calls, [read_eval_log(path) for path in paths]


@pytest.mark.slow
def test_the_tool_loop_sends_the_same_but_for_five_things_that_are_inspects(attempts):
    _, ours, theirs, _ = attempts
    of_sandbox = ('"bash"', "[Bottom line]\\n\\nEnd of report")
    theirs = [call for call in theirs if not any(mark in json.dumps(call.body) for mark in of_sandbox)]

    def plain(call):
        text = json.dumps({name: one for name, one in call.body.items() if name not in OWN})
        body = json.loads(text, object_hook=lambda one: {k: v for k, v in one.items() if k not in LEFT_OUT})
        for tool in body.get("tools", ()):
            assert tool["function"].pop("strict", True)
        for message in body["messages"]:
            message["content"] = message["content"] or ""  # of a turn that only calls tools
            for each in message.get("tool_calls", ()):
                each["function"]["arguments"] = json.loads(each["function"]["arguments"])
        return json.dumps(body, sort_keys=True)

    assert len(ours) == 12
    assert sorted(map(plain, theirs)) == sorted(map(plain, ours))


@pytest.mark.slow
def test_a_report_of_the_tool_loop_is_graded_and_imported(attempts):
    bench, _, _, (log, _) = attempts
    assert main_in(bench.folder, "report", "benchmark=mission_report") == 0
    ours, theirs = sorted(bench.board(), key=lambda row: len(row["model"]))
    assert log.status == "success", log.error
    same = ("score", "score_low", "correct", "passed", "wrong", "n_briefs", "n_cut", "calls")
    assert {name: theirs.get(name) for name in same} == {name: ours.get(name) for name in same}


@pytest.mark.slow
def test_an_agent_leaves_its_report_in_the_sandbox(attempts):
    log = attempts[3][1]
    assert log.status == "success", log.error
    score = log.samples[0].scores["staffbench_judge"]
    assert score.answer == "[Bottom line]\n\nEnd of report"
    assert score.value == 0.6
    assert log.samples[0].store.get("staffbench") is None
