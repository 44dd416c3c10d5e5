"""A log that was changed or damaged is refused, and nothing of it is written."""

import zipfile

import pytest
from inspect_ai.log import (
    EvalLog,
    read_eval_log,
    write_eval_log,
)

from flows.__main__ import main


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
