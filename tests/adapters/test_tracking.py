"""MLflow's store: several processes on a fresh one, and nothing logged twice."""

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict, replace

import pytest

from flows.adapters.tracking import RunRecord, Tracker
from flows.common.errors import StoreError


def record(identity, score=0.5):
    return RunRecord(
        name=f"condition {identity}",
        key=f"key {identity}",
        identity=identity,
        params={"model": "strong", "word_cap": "3000"},
        metrics={"score": score, "score.scenario/alder": score},
        tags={"judge_id": "offline"},
        texts={"settings.yaml": "seeds: 3\n"},
    )


def rows(folder, query):
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        return sorted(database.execute(query).fetchall())


def started(folder):
    tracker = Tracker(folder, "staffbench")
    tracker.start("sweep", {"command": "staffbench run -m"})
    return tracker


def log_all(tracker, *records):
    for one in records:
        tracker.log(one)
    logged, notes = tracker.finish()
    assert notes == []
    return logged


def test_processes_that_meet_on_a_fresh_store_all_log_and_nothing_twice(tmp_path):
    trackers = [started(tmp_path) for _ in range(3)]
    assert [
        log_all(tracker, record(f"{number}a"), record(f"{number}b"), record(f"{number}a"))
        for number, tracker in enumerate(trackers)
    ] == [2, 2, 2]
    names = [name for (name,) in rows(tmp_path, "select name from runs where status = 'FINISHED'")]
    assert names == sorted([*(f"condition {n}{x}" for n in range(3) for x in "ab"), *["sweep"] * 3])
    scores = rows(tmp_path, "select value from latest_metrics where key = 'score'")
    assert scores == [(0.5,)] * 6
    assert log_all(started(tmp_path), record("0a"), record("new")) == 1
    parents = rows(tmp_path, "select count(*) from tags where key = 'mlflow.parentRunId'")
    assert parents == [(6,)]  # a single new run stands alone


def test_records_that_the_store_has_are_named_and_need_not_be_built(tmp_path):
    assert log_all(started(tmp_path), record("a"), record("b")) == 2
    tracker = started(tmp_path)
    until = time.monotonic() + 600
    while not tracker.has("a"):
        assert time.monotonic() < until, "the child named nothing"
        time.sleep(0.02)
    assert tracker.has("b")
    assert not tracker.has("c")
    assert log_all(tracker, record("c"), record("a")) == 1  # one that is sent all the same is looked up
    names = {name for (name,) in rows(tmp_path, "select name from runs")}
    assert names == {"sweep", "condition a", "condition b", "condition c"}


def test_more_records_than_a_pipe_holds_do_not_hold_the_run_up(tmp_path):
    tracker = started(tmp_path)
    settings = {"settings.yaml": "a: b\n" * 20_000}
    many = [replace(record(f"{number}"), texts=settings) for number in range(8)]
    before = time.monotonic()
    for one in many:
        tracker.log(one)
    handed_over = time.monotonic() - before
    assert tracker.finish() == (8, [])
    assert handed_over < (time.monotonic() - before) / 2


def test_what_a_killed_run_had_handed_over_is_logged_and_half_a_record_is_not(tmp_path):
    lines = [json.dumps(asdict(record(name))) for name in "abc"]
    words = ["--log", str(tmp_path), "staffbench", '["sweep", {}]']
    command = [sys.executable, "-m", "flows.adapters.tracking", *words]
    cut = f"{lines[0]}\n{lines[1]}\n{lines[2][:100]}"
    done = subprocess.run(command, input=cut, capture_output=True, text=True, check=True)
    known, answer = map(json.loads, done.stdout.splitlines())
    assert (known["known"], answer["logged"]) == ([], 2)
    assert rows(tmp_path, "select name, status from runs") == [
        ("condition a", "FINISHED"),
        ("condition b", "FINISHED"),
        ("sweep", "FINISHED"),
    ]


def test_children_with_the_same_records_log_each_once(tmp_path):
    trackers = [started(tmp_path) for _ in range(3)]
    for tracker in trackers:
        tracker.log(record("warm-up"))  # all three are ready when the next come
    time.sleep(6)
    for identity in "abcd":
        for tracker in trackers:
            tracker.log(record(identity))
    assert sum(tracker.finish()[0] for tracker in trackers) == 5
    names = rows(tmp_path, "select name from runs where name like 'condition%' and status = 'FINISHED'")
    assert [name for (name,) in names] == [f"condition {n}" for n in ("a", "b", "c", "d", "warm-up")]


@pytest.mark.parametrize("after_s", [0.1, 0.6])
def test_a_kill_while_the_store_is_created_breaks_nothing(tmp_path, after_s):
    tracker = started(tmp_path)
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("*mlflow.db")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(after_s)
    tracker._child.kill()
    tracker.close()
    assert log_all(started(tmp_path), record("a")) == 1


def test_what_a_killed_child_left_of_a_run_is_logged_anew(tmp_path):
    assert log_all(started(tmp_path), record("a")) == 1
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        database.execute("update runs set status = 'RUNNING'")
        database.commit()
    assert log_all(started(tmp_path), record("a")) == 1
    assert rows(tmp_path, "select status from runs where lifecycle_stage = 'active'") == [("FINISHED",)]


def test_a_folder_that_can_not_be_written_is_said_to_be_one(tmp_path):
    (tmp_path / ".cache").write_text("a file")
    with pytest.raises(StoreError, match="name another folder with results="):
        started(tmp_path)


def test_pages_of_a_folder_that_can_not_be_written_end_with_one_line(tmp_path):
    (tmp_path / ".cache").write_text("a file")
    command = [sys.executable, "-m", "flows.adapters.tracking", "--serve", str(tmp_path), "mine", "1", ""]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("staffbench: ")
    assert done.stderr.count("\n") == 1


def test_a_store_that_can_not_be_used_is_said_to_be_one(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"this is no database, and never was one")
    tracker = started(tmp_path)
    with pytest.raises(StoreError, match=r"could not log the runs \(.*file is not a database") as raised:
        log_all(tracker, record("a"))
    assert "tracking=none" in str(raised.value)


def test_a_child_that_has_died_is_told_at_the_end(tmp_path):
    tracker = started(tmp_path)
    tracker._child.kill()
    tracker._child.wait()
    tracker.log(record("a"))
    tracker.log(record("b"))
    with pytest.raises(StoreError, match="could not log"):
        tracker.finish()


def test_a_tracker_that_logs_nothing_ends(tmp_path):
    tracker = started(tmp_path)
    tracker.close()
    tracker.close()


def test_a_package_of_the_folder_where_the_command_is_typed_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "__init__.py").write_text("raise SystemExit(9)")
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert log_all(started(tmp_path / "results"), record("a")) == 1
