"""Results go out as logs of Inspect and come back; other logs come in as briefs; hostile ones are refused."""

import errno
import json
import zipfile

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput

from flows.__main__ import main
from tests.support.bench import ITEM, Project, answer, remote
from tests.support.plain_flow import without_prefect
from tests.support.report_bench import project_here, sweep_here
from tests.support.report_endpoint import answer as reports_answer
from tests.support.report_endpoint import reports
from tests.support.scripted_server import Call, Say, ScriptedServer

TABLES = ("briefs", "verdicts", "scores", "repeats", "reports", "trajectories", "settings")


def graded(call: Call) -> Say:
    """A judge that fails one item and is sometimes refused, and a writer that is sometimes."""
    if not call.body["model"].startswith("judge"):
        return Say("", finish="content_filter") if call.body["seed"] == 2 else answer(call)
    items = ITEM.findall(call.prompt)
    failed = [{"id": "bridge", "mode": "omission", "reason": "not | <there>\n`x`"}]
    return Say(json.dumps({"items": len(items), "failed": failed}))


def files_of(folder):
    """Bytes of what a run writes for its conditions, by path."""
    return {
        path.relative_to(folder): path.read_bytes()
        for kind in TABLES
        for path in sorted((folder / kind).rglob("*"))
        if path.is_file() and path.suffix != ".html"
    }


@pytest.fixture
def bench(tmp_path, project, monkeypatch):
    bench = project_here(tmp_path, project / "conf", monkeypatch)
    monkeypatch.chdir(tmp_path)
    return bench


@pytest.fixture(scope="module")
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


def test_a_round_trip_gives_the_same_bytes_and_rows(exported, monkeypatch, capsys):
    monkeypatch.chdir(exported.folder)
    assert main(["import", "logs", "results=again"]) == 0
    assert "writer-1-medium-5-v0" in capsys.readouterr().out
    first, again = exported.results / "ma_bench", exported.folder / "again" / "ma_bench"
    assert files_of(again) == files_of(first)
    assert len(files_of(again)) > 14
    assert main(["report", "results=again"]) == 0
    for name in ("leaderboard.json", "leaderboard.md"):
        assert (again / name).read_bytes() == (first / name).read_bytes()
    assert main(["import", "logs", "results=again"]) == 0  # the same again


def test_a_map_for_logs_of_our_own_is_refused(exported, monkeypatch, capsys):
    monkeypatch.chdir(exported.folder)
    assert main(["import", "logs", "--map", "x=alder"]) == 2
    assert "--map: has no effect: the samples name their scenarios" in capsys.readouterr().err


def test_a_log_holds_what_a_reader_of_it_looks_for(exported):
    (path,) = (exported.folder / "logs").glob("writer-1-*.eval")
    log = read_eval_log(str(path))
    (row, _) = [row for row in exported.board() if row["model"] == "writer-1"]
    assert len(log.results.scores) == 2
    assert log.eval.model == "writer-1"
    assert log.eval.config.epochs == 3
    by_epoch = {one.epoch: one for one in log.samples if one.id == "alder"}
    brief = by_epoch[1]
    score = next(one for name, one in brief.scores.items() if "dge" in name)
    assert score.answer == "The relief column has 412"  # cut
    assert brief.output.completion == "The relief column has 412 soldiers. Seed 1."
    assert "<packet>" in brief.input[1].text
    assert brief.model_usage["writer-1"].output_tokens > 0
    assert by_epoch[2].output.stop_reason == "content_filter"
    assert {one.reason for one in by_epoch[2].scores.values()} == {"refusal"}
    judged = next(one for one in log.results.scores if "dge" in one.name)
    assert judged.metrics["mean"].value == pytest.approx(row["score"], abs=1e-12)
    assert judged.unscored_samples == 2


def test_reports_come_back_with_their_files(bench, monkeypatch):
    with ScriptedServer(reports_answer) as server:
        assert sweep_here(bench.folder, *reports(server, "seeds=2")) == 0
    assert sweep_here(bench.folder, "benchmark=mission_report", "model=oracle,absent", "judge=offline") == 0
    assert main(["export", "mission_report", "logs", "--to", "inspect"]) == 0
    assert main(["import", "logs", "results=again"]) == 0
    assert files_of(bench.folder / "again" / "mission_report") == files_of(bench.own)


def test_other_results_of_that_name_are_not_replaced(exported, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(exported.folder)
    log = next((exported.folder / "logs").glob("strong*"))
    there = tmp_path / "results" / "ma_bench" / "briefs" / f"{log.stem}.parquet"
    there.parent.mkdir(parents=True)
    there.write_bytes(b"another")
    assert main(["import", str(log), f"results={tmp_path}/results"]) == 1
    assert "other results of that condition are here" in capsys.readouterr().err
    assert there.read_bytes() == b"another"
    assert [path.name for path in there.parent.parent.iterdir()] == ["briefs"]


def a_log(folder, *samples, metadata=None, model="vendor/model-x"):
    """A log of somebody's task."""
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="theirs",
        dataset=EvalDataset(name="x"),
        model=model,
        config=EvalConfig(epochs=1),
        metadata=metadata,
    )
    path = folder / "theirs.eval"
    write_eval_log(EvalLog(status="success", eval=spec, samples=list(samples)), str(path))
    return path


def a_sample(sample_id, text, epoch=1, **more):
    output = ModelOutput.from_content("vendor/model-x", text, **more)
    return EvalSample(
        id=sample_id, epoch=epoch, input="?", target="", output=output, metadata={"where": "birch"}
    )


def test_briefs_of_another_task_are_graded(bench, capsys):
    samples = (
        a_sample("alder", "The relief column has 412 soldiers."),
        a_sample("alder", "", 2),
        a_sample("theirs-7", "Cholera is confirmed."),
        a_sample("../../etc/passwd", "x"),
        a_sample("birch", "I can't", 2, stop_reason="content_filter"),
    )
    log = a_log(bench.folder, *samples)
    words = ["import", str(log), "--map", "theirs-7=birch", "tracking=none", "results=theirs"]
    code = main(words)
    said, fault = capsys.readouterr()
    assert code == 4, fault  # a brief is missing
    assert "left out 1 sample of no scenario (../../etc/passwd)" in said
    (table,) = (bench.folder / "theirs" / "imported").glob("*.jsonl")
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    assert [(row["scenario"], row["seed"]) for row in rows] == [("alder", 1), ("alder", 2), ("birch", 1)]
    (row,) = json.loads((bench.folder / "theirs" / "ma_bench" / "leaderboard.json").read_text())["rows"]
    assert row["model"] == "vendor/model-x"
    assert row["judge"] == "offline"


def test_a_log_without_a_scenario_says_how_to_map(bench, capsys):
    log = a_log(bench.folder, a_sample("one", "text"), a_sample("two", "text"))
    assert main(["import", str(log)]) == 2
    assert "no output of a scenario (one, two); expected one of alder, birch" in capsys.readouterr().err
    assert main(["import", str(log), "--key", "where"]) == 2
    assert "two samples are birch, epoch 1" in capsys.readouterr().err


def changed(exported, folder, change, name="strong*"):
    """A log of ours, changed by `change` as JSON."""
    log = read_eval_log(str(next((exported.folder / "logs").glob(name)))).model_dump(mode="json")
    record = log["eval"]["metadata"]["staffbench"]["conditions"][0]
    score = next(iter(log["samples"][0]["scores"].values()))
    change(log, record, score["metadata"]["staffbench"])
    path = folder / "changed.eval"
    write_eval_log(EvalLog.model_validate(log), str(path))
    return path


def drop_items(log, record, sample):
    sample["verdicts"].pop()


def is_of_another(log, record, sample):
    sample["brief"]["scenario_id"] = "birch"


def passed_is_text(log, record, sample):
    sample["verdicts"][0]["passed"] = "yes"


def other_text(log, record, sample):
    sample["brief"]["text"] += " More."


def other_rubric(log, record, sample):
    record["about"]["rubrics"]["alder"] = "0" * 64


def other_rules(log, record, sample):
    record["about"]["judge_versions"] = {"offline": "0"}


def writes_elsewhere(log, record, sample):
    record["settings"]["results"] = "/tmp/inspect-elsewhere"
    record["settings"]["model"]["label"] = "../../../elsewhere"


def other_data(log, record, sample):
    record["settings"]["benchmark"]["data"] = "../secret"


def unknown_benchmark(log, record, sample):
    record["settings"]["benchmark"]["name"] = "../x results=/tmp/elsewhere"


def odd_carried(log, record, sample):
    record["about"]["spent"] = {"writer": "a lot"}


def path_like_id(log, record, sample):
    log["samples"][0]["id"] = "../../etc/passwd"


def nonsense(log, record, sample):
    log["eval"]["metadata"]["staffbench"] = {"conditions": [[]]}


def newer(log, record, sample):
    record["format"] = 99


HOSTILE = {
    drop_items: "verdicts",
    is_of_another: "another brief",
    passed_is_text: "validation error",
    other_text: "briefs_digest",
    other_rubric: "rubrics",
    other_rules: "judge_versions",
    writes_elsewhere: "other than here: condition",
    other_data: "another than here",
    unknown_benchmark: "../x",
    odd_carried: "not readable as a log",
    path_like_id: "etc/passwd",
    nonsense: "not readable as a log",
    newer: "another version",
}


@pytest.mark.parametrize("change", HOSTILE, ids=lambda one: one.__name__)
def test_a_changed_log_is_refused_and_writes_nothing(exported, tmp_path, monkeypatch, capsys, change):
    monkeypatch.chdir(exported.folder)
    path = changed(exported, tmp_path, change)
    assert main(["import", str(path), f"results={tmp_path}/results"]) in (1, 2)
    assert HOSTILE[change] in capsys.readouterr().err
    assert not list((tmp_path / "results").rglob("*.parquet"))


@pytest.mark.parametrize("how", ["cut", "empty", "text", "bomb", "no json"])
def test_a_damaged_log_is_refused(exported, tmp_path, monkeypatch, capsys, how):
    monkeypatch.chdir(exported.folder)
    path = tmp_path / "damaged.eval"
    whole = next((exported.folder / "logs").glob("strong*")).read_bytes()
    if how == "bomb":
        monkeypatch.setattr("flows.pipeline.inspect.other_logs.MAX_SAMPLE_BYTES", 1000)
        path.write_bytes(whole)
    elif how == "no json":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("header.json", "[]")
    else:
        path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "text": b"hello"}[how])
    assert main(["import", str(path), f"results={tmp_path}/results"]) == 1
    assert "damaged.eval: not readable as a log" in capsys.readouterr().err


def test_nothing_to_import_or_export_is_said(bench, capsys):
    assert main(["import", "nowhere"]) == 2
    assert "no log there" in capsys.readouterr().err
    assert main(["export", "ma_bench", "logs", "--to", "inspect"]) == 2
    assert "nothing graded" in capsys.readouterr().err


def test_a_folder_that_can_not_be_written_is_named(exported, tmp_path, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(exported.folder)
    monkeypatch.setattr("flows.pipeline.inspect.export.write_eval_log", full)
    target = tmp_path / "logs"
    assert main(["export", "ma_bench", str(target), "--to", "inspect"]) == 1
    said = capsys.readouterr().err
    assert "can't be written" in said
    assert "No space left on device" in said
    assert not list(target.iterdir())


def test_without_the_extra_a_command_says_how_to_install_it(bench, monkeypatch, capsys):
    monkeypatch.setattr("flows.pipeline.inspect.find_spec", lambda _: None)
    for words in (["import", "logs"], ["export", "ma_bench", "logs", "--to", "inspect"]):
        assert main(words) == 2
        assert "pip install 'staffbench[inspect]'" in capsys.readouterr().err
