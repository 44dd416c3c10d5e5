"""MLflow's store: several processes on a fresh one, and nothing logged twice."""

import sqlite3
from contextlib import closing

import pytest

from flows.adapters.tracking import RunRecord, Tracker
from flows.schema.errors import StoreError


def record(identity, score=0.5):
    return RunRecord(
        name=f"condition {identity}",
        identity=identity,
        params={"model": "strong", "word_cap": "3000"},
        metrics={"score": score, "score.scenario/alder": score},
        tags={"judge_id": "offline"},
        texts={"settings.yaml": "seeds: 3\n"},
    )


def rows(folder, query):
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        return sorted(database.execute(query).fetchall())


def test_processes_that_meet_on_a_fresh_store_all_log_and_nothing_twice(tmp_path):
    trackers = [Tracker(tmp_path, "staffbench") for _ in range(3)]
    for tracker in trackers:
        tracker.start()
    assert [
        tracker.log("sweep", [record(f"{number}a"), record(f"{number}b")])
        for number, tracker in enumerate(trackers)
    ] == [2, 2, 2]
    names = [name for (name,) in rows(tmp_path, "select name from runs where status = 'FINISHED'")]
    assert names == sorted([*(f"condition {n}{x}" for n in range(3) for x in "ab"), *["sweep"] * 3])
    scores = rows(tmp_path, "select value from latest_metrics where key = 'score'")
    assert scores == [(0.5,)] * 6
    again = Tracker(tmp_path, "staffbench")
    again.start()
    assert again.log("sweep", [record("0a"), record("new")]) == 1
    parents = rows(tmp_path, "select count(*) from tags where key = 'mlflow.parentRunId'")
    assert parents == [(6,)]  # a single new run stands alone


def test_a_store_that_can_not_be_used_is_said_to_be_one(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"this is no database, and never was one")
    tracker = Tracker(tmp_path, "staffbench")
    tracker.start()
    with pytest.raises(StoreError, match="tracking=none"):
        tracker.log("run", [record("a")])


def test_a_tracker_that_logs_nothing_ends(tmp_path):
    tracker = Tracker(tmp_path, "staffbench")
    tracker.start()
    tracker.close()
    tracker.close()
