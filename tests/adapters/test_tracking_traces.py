"""Briefs and verdicts as MLflow's traces and assessments, and what people say there read back."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from flows.adapters.tracking import BriefTrace, HumanLabel, RunRecord, Tracker, read_human_labels, store_uri
from flows.common.errors import StaffbenchError

VERDICTS = [
    ("A-1", "important", True, "Says the strength\nit does", "graded"),
    ("A-2", "important", False, "Says the date\nno date", "graded"),
    ("A-3", "critically_detrimental", None, "Claims cholera\nno reply", "unparsed"),
]
BRIEF = BriefTrace("alder", 1, "Write it.", "The column has 412 soldiers. \u202e✓", "", 0.5, VERDICTS)
REFUSED = BriefTrace("birch", 1, "Write it.", None, "content filter", None, [])


def record(**changes):
    fields = {
        "name": "strong · judge",
        "key": "k",
        "identity": "one",
        "params": {"model": "strong", "benchmark": "ma_bench", "scoring": "severity"},
        "metrics": {"score": 0.5, "passed.step/50% (é)": 0.25, "/a//b": 1.0},
        "tags": {"condition": "strong-c"},
        "texts": {"verdicts.json": '{"columns": ["a"], "data": [[1]]}', "figures/x.svg": "<svg/>"},
        "tables": ["verdicts.json"],
        "dataset": {
            "name": "ma_bench",
            "digest": "abc",
            "source_type": "local",
            "source": '{"uri": "data"}',
            "profile": "{}",
        },
        "model": "ma_bench-strong.c",
        "judge": ("some-judge", True),
        "traces": [BRIEF, REFUSED],
        "n_briefs": 2,
    }
    return RunRecord(**{**fields, **changes})


def logged(folder, *records):
    tracker = Tracker(folder, "staffbench")
    tracker.start("sweep", {})
    for one in records:
        tracker.log(one)
    return tracker.finish()


def asked(folder, script, *words):
    """The JSON that a script prints which has a client as `client`; MLflow is not imported here."""
    head = "import json\nfrom mlflow.tracking import MlflowClient\n"
    head += f"client = MlflowClient({store_uri(folder)!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", head + script, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


TRACES = """
found = client.search_traces(locations=["1"])
print(json.dumps([{
    "name": t.info.tags["mlflow.traceName"], "state": t.info.state.value, "tags": t.info.tags,
    "output": t.data.spans[0].outputs, "model": t.info.trace_metadata.get("mlflow.modelId"),
    "assessments": [[a.name, a.value if a.feedback else None, a.source.source_type, a.source.source_id,
        a.rationale, a.error and a.error.error_code] for a in t.info.assessments],
} for t in sorted(found, key=lambda t: (t.info.tags["mlflow.traceName"], t.info.request_time))]))
"""
RUNS = """
run = client.search_runs(["1"])[0]
print(json.dumps({
    "n": len(client.search_runs(["1"])), "status": run.info.status,
    "metrics": run.data.metrics, "tags": run.data.tags,
    "history": [[m.step, m.value] for m in client.get_metric_history(run.info.run_id, "score")],
    "datasets": [[i.dataset.name, i.dataset.digest, [t.value for t in i.tags]]
        for i in run.inputs.dataset_inputs],
    "models": [[m.name, m.params,
            sorted({(x.key, x.dataset_name, x.dataset_digest) for x in m.metrics or []})]
        for m in client.search_logged_models(["1"])],
    "uses": [  # a search leaves inputs out that are models
        len(client.get_run(run.info.run_id).inputs.model_inputs),
        len(run.outputs.model_outputs if run.outputs else []),
    ],
    "files": [f.path for f in client.list_artifacts(run.info.run_id)],
}))
"""
SAY = """
from mlflow.entities import AssessmentSource, Feedback
trace = next(t for t in client.search_traces(locations=["1"]) if t.info.tags["scenario_id"] == "alder")
own = {(a.metadata or {}).get("item_id"): a for a in trace.info.assessments}
store = client._tracing_client.store
def say(name, value, who, edited=None):
    source = AssessmentSource("HUMAN", who)
    feedback = Feedback(name=name, value=value, source=source, trace_id=trace.info.trace_id)
    feedback.overrides = own[edited].assessment_id if edited else None
    store.create_assessment(feedback)
say("important", True, "ann", edited="A-2")
say("A-1", "no", "ann")
say("A-1", "PASS", "ben")
say("A-1", "fail", "ben")
say("important", True, "ben")
say("A-2", "maybe", "ben")
print("{}")
"""


def test_verdicts_are_assessments_and_a_missing_one_is_no_fail(tmp_path):
    assert logged(tmp_path, record()) == (1, [])
    alder, birch = asked(tmp_path, TRACES)
    assert alder["output"] == BRIEF.text
    assert sorted(alder["assessments"], key=str) == sorted(
        [
            ["important", True, "LLM_JUDGE", "some-judge", "A-1: Says the strength\nit does", None],
            ["important", False, "LLM_JUDGE", "some-judge", "A-2: Says the date\nno date", None],
            [
                "critically_detrimental",
                None,
                "LLM_JUDGE",
                "some-judge",
                "A-3: Claims cholera\nno reply",
                "UNPARSED",
            ],
            ["score", 0.5, "CODE", "staffbench, scoring severity", None, None],
        ],
        key=str,
    )
    assert (birch["state"], birch["assessments"]) == ("ERROR", [])
    assert alder["state"] == "OK"
    assert alder["model"]


def test_a_run_has_legal_metrics_its_dataset_its_model_and_tables(tmp_path):
    logged(tmp_path, record())
    run = asked(tmp_path, RUNS)
    assert run["status"] == "FINISHED"
    assert run["metrics"].pop("score") == 0.5
    assert sorted(run["metrics"].values()) == [0.25, 1.0]
    assert all(name.startswith(("passed.step/50_ _é_-", "_/a/_/b-")) for name in run["metrics"])
    assert run["datasets"] == [["ma_bench", "abc", ["eval"]]]
    assert [(name, params["model"]) for name, params, _ in run["models"]] == [("ma_bench-strong_c", "strong")]
    assert run["models"][0][2] == [["score", "ma_bench", "abc"]]
    assert json.loads(run["tags"]["mlflow.loggedArtifacts"]) == [{"path": "verdicts.json", "type": "table"}]
    assert sorted(run["files"]) == ["figures", "verdicts.json"]
    assert run["tags"]["traces"] == "2 of 2 briefs"


@pytest.mark.slow
def test_a_run_with_other_results_is_updated_and_no_twin(tmp_path):
    logged(tmp_path, record())
    assert logged(tmp_path, record()) == (0, [])
    graded = replace(BRIEF, verdicts=[*VERDICTS[:2], ("A-3", "critically_detrimental", True, "no", "graded")])
    later = record(identity="two", metrics={"score": 0.75}, traces=[graded, REFUSED])
    assert logged(tmp_path, later) == (1, [])
    run = asked(tmp_path, RUNS)
    assert (run["n"], run["history"]) == (1, [[0, 0.5], [1, 0.75]])
    assert len(run["models"]) == 1
    assert run["uses"] == [1, 0]  # as an output the run would be one of training, and no evaluation
    traces = asked(tmp_path, TRACES)
    assert [one["name"] for one in traces] == ["alder/1", "birch/1"]
    assert not any(code for one in traces for *_, code in one["assessments"])


@pytest.mark.slow
def test_what_people_say_is_read_back(tmp_path):
    logged(tmp_path, record())
    assert read_human_labels(tmp_path, "staffbench", "ma_bench") == ([], [])
    asked(tmp_path, SAY)
    labels, notes = read_human_labels(tmp_path, "staffbench", "ma_bench")
    assert labels == [
        HumanLabel("ann", "strong-c", "alder", 1, "A-1", passed=False),
        HumanLabel("ann", "strong-c", "alder", 1, "A-2", passed=True),
        HumanLabel("ben", "strong-c", "alder", 1, "A-1", passed=False),
        HumanLabel(
            "ben", "strong-c", "alder", 1, "important", passed=True
        ),  # may be an item without a verdict
    ]
    assert notes == ["assessments left out because they say neither pass nor fail: 1"]
    assert read_human_labels(tmp_path, "staffbench", "another") == ([], [])
    # Another text: what was said of the earlier one is kept, and is no label of this one.
    logged(tmp_path, record(identity="two", traces=[replace(BRIEF, text="Another text.")]))
    assert [one["tags"].get("staffbench.superseded") for one in asked(tmp_path, TRACES)] == ["true", None]
    assert read_human_labels(tmp_path, "staffbench", "ma_bench")[0] == []


def test_a_store_that_is_not_there_or_damaged_gives_no_labels(tmp_path):
    with pytest.raises(StaffbenchError, match="staffbench run first"):
        read_human_labels(tmp_path, "staffbench", "ma_bench")
    (tmp_path / "mlflow.db").write_bytes(b"this is no database, and never was one")
    with pytest.raises(StaffbenchError, match="can't be read"):
        read_human_labels(tmp_path, "staffbench", "ma_bench")


@pytest.mark.parametrize(
    ("seconds", "n", "why"),
    [
        (30.0, 2, "tracking.traces"),
        pytest.param(0.0, 0, "the time for them was over", marks=pytest.mark.slow),
    ],
)
def test_briefs_beyond_the_bound_are_counted_and_said(tmp_path, seconds, n, why):
    _, notes = logged(tmp_path, record(n_briefs=10_200, traces_s=seconds))
    said = f"MLflow has {n} of 10,200 briefs as traces, the first seeds of each condition ({why}); "
    assert notes == [said + "its runs and tables have all of them."]
    assert asked(tmp_path, RUNS)["tags"]["traces"] == f"{n} of 10200 briefs"


@pytest.mark.parametrize(
    ("benchmark", "wanted"),
    [pytest.param("", None, marks=pytest.mark.slow), ("smoke", "params.benchmark = 'smoke'")],
)
def test_the_page_opens_at_the_scores_of_a_benchmark(tmp_path, benchmark, wanted):
    logged(tmp_path, record())
    script = (
        "import os, sys, pathlib\n"
        "os.execve = lambda *_: sys.exit()\n"
        "from flows.adapters.tracking.store import serve\n"
        "serve(pathlib.Path(sys.argv[1]), 'staffbench', '5000', sys.argv[2])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), benchmark], capture_output=True, text=True, check=True
    )
    view = done.stdout.partition("viewStateShareKey=")[2].split()[0]
    tags = asked(tmp_path, "print(json.dumps(client.get_experiment('1').tags))")
    state = json.loads(tags[f"mlflow.sharedViewState.{view}"])
    assert state.get("searchFilter") == wanted
    assert state["orderByKey"] == "metrics.`score`"
    # MLflow shows metrics in the order of their names.
    shown = [name.split("`")[1] for name in state["selectedColumns"] if name.startswith("metrics")]
    assert min(shown) == "score"
