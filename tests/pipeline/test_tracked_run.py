"""What a run leaves in MLflow: who answered, a bounded number of traces, and labels that come back."""

import json
import math
import sqlite3
from contextlib import closing

from flows.adapters.screen import Screen
from flows.pipeline.commands.agreement import agreement
from tests.support.bench import ITEM, Project, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Say, ScriptedServer

SAID = """
insert into assessments (assessment_id, trace_id, name, assessment_type, value, created_timestamp,
  last_updated_timestamp, source_type, source_id, valid, experiment_id, trace_timestamp_ms)
select 'a-' || said.name, a.trace_id, said.name, 'feedback', 'false', 1, 1, 'HUMAN', 'ann', 1,
  a.experiment_id, a.trace_timestamp_ms
from (select 'strength' name union select 'quality') said, (select * from assessments limit 1) a
"""


def answer(call):
    if call.body["model"].startswith("judge"):
        items = ITEM.findall(call.prompt)
        return Say(json.dumps({"items": len(items), "failed": []}), model="another-judge")
    return Say("The relief column is strong.", model="another-writer")


def test_a_run_names_who_answered_and_bounds_its_traces(tmp_path, project, monkeypatch, capsys):
    without_prefect(monkeypatch)
    here = Project(tmp_path, project / "conf", {})
    (tmp_path / "data" / "judge_pairs").symlink_to(project / "data" / "judge_pairs")
    with ScriptedServer(answer) as server:
        words = [*remote(server), "tracking=mlflow", "tracking.traces=1", "seeds=2"]
        assert run_here(here.folder, *words) == 0
    said = "MLflow has 1 of 4 briefs as traces, the first seeds of each condition (tracking.traces)"
    assert said in " ".join(capsys.readouterr().out.split())
    with closing(sqlite3.connect(here.results / "mlflow.db")) as database:
        tags = dict(database.execute("select key, value from tags").fetchall())
        metrics = dict(database.execute("select key, value from latest_metrics").fetchall())
        sources = database.execute("select distinct source_type from assessments").fetchall()
        assert database.execute("select count(*) from trace_info").fetchall() == [(1,)]
        assert database.execute("select name from datasets").fetchall() == [("ma_bench",)]
        database.execute(SAID)
        database.commit()
    assert tags["judged_by"] == "another-judge (4)"
    assert tags["answered_by"] == "another-writer (4)"
    assert {"prompt_digest", "judge_prompt_digest", "mlflow.note.content"} <= set(tags)
    assert metrics["score"] == 1.0
    assert all(math.isfinite(value) for value in metrics.values())
    assert sorted(sources) == [("CODE",), ("LLM_JUDGE",)]
    assert agreement(here.folder, ["benchmark=ma_bench"], Screen(), source="mlflow") == 0
    assert "because they name no item of a graded brief: 1" in " ".join(capsys.readouterr().out.split())
    kept = (here.results / "ma_bench" / "labels" / "mlflow.csv").read_text().splitlines()
    assert len(kept) == 2
    assert kept[1].startswith("ann,")
    assert kept[1].endswith(",alder,1,strength,fail")
