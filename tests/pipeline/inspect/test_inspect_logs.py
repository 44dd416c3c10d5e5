"""Results go out as logs of Inspect and come back; logs of other tasks come in as briefs."""

import errno
import json

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
from tests.support.report_bench import sweep_here
from tests.support.report_endpoint import answer as reports_answer
from tests.support.report_endpoint import reports
from tests.support.scripted_server import ScriptedServer

TABLES = ("briefs", "verdicts", "scores", "repeats", "reports", "trajectories", "settings")


def files_of(folder):
    """Bytes of what a run writes for its conditions, by path."""
    return {
        path.relative_to(folder): path.read_bytes()
        for kind in TABLES
        for path in sorted((folder / kind).rglob("*"))
        if path.is_file() and path.suffix != ".html"
    }


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


def test_a_log_without_stored_replies_has_the_sum_of_their_usage(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(exported.folder)
    assert main(["import", "logs", "results=again"]) == 0  # tables come along, replies don't
    assert main(["export", "ma_bench", str(tmp_path), "--to", "inspect", "results=again"]) == 0
    (row, _) = [row for row in exported.board() if row["model"] == "writer-1"]
    for folder in (exported.folder / "logs", tmp_path):
        (path,) = folder.glob("writer-1-*.eval")
        used = read_eval_log(str(path), header_only=True).stats.model_usage["writer-1"]
        assert (used.input_tokens, used.output_tokens) == (row["tokens_in"], row["tokens_out"])


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
