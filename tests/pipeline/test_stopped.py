"""Ctrl-C in a run that makes no calls: what waits for its turn is left, and the same command does it."""

import json
import os
import signal
import threading

import pytest

from flows.pipeline.evaluate.job import Job
from flows.pipeline.native import renders
from flows.pipeline.work import judging, reports
from flows.pipeline.work.run_context import RunContext
from tests.support.bench import Project
from tests.support.plain_flow import run_here, without_prefect
from tests.support.report_bench import project_here

SEEDS = 40  # more briefs than the pool has threads, on any machine


@pytest.fixture
def begun(monkeypatch):
    """Names of what began; the first to begin presses Ctrl-C, and all go on once the run knows of it."""
    began: list[str] = []
    stopped = threading.Event()
    stop = RunContext.stop

    def told(context):
        stop(context)
        stopped.set()

    def pausing(module, name):
        original = getattr(module, name)

        def pause(*args):
            began.append(name)
            if len(began) == 1:
                os.kill(os.getpid(), signal.SIGINT)
            assert stopped.wait(600)
            return original(*args)

        monkeypatch.setattr(module, name, pause)

    monkeypatch.setattr(RunContext, "stop", told)
    return began, pausing


def rows(folder):
    return json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))["rows"]


def test_briefs_that_wait_for_the_offline_judge_are_not_graded(tmp_path, project, monkeypatch, begun, capsys):
    without_prefect(monkeypatch)
    bench = Project(tmp_path, project / "conf", {})
    began, pausing = begun
    pausing(judging, "_grade_offline")
    command = (tmp_path, "model=strong", "judge=offline", f"seeds={SEEDS}")
    assert run_here(*command) == 130
    said = capsys.readouterr()
    assert "what is being read or graded finishes" in said.out + said.err
    assert 0 < len(began) <= (os.cpu_count() or 1) + 4
    assert not bench.results.joinpath("ma_bench", "leaderboard.json").exists()
    assert run_here(*command) == 0
    (row,) = rows(bench.results / "ma_bench")
    assert (row["n_briefs"], row["n_ungraded"]) == (2 * SEEDS, 0)


@pytest.mark.parametrize("waits", [(reports, "check_report"), (renders, "_laid")], ids=["read", "laid out"])
def test_reports_that_wait_for_their_turn_are_left(tmp_path, project, monkeypatch, begun, waits):
    bench = project_here(tmp_path, project / "conf", monkeypatch)
    began, pausing = begun
    pausing(*waits)
    command = (tmp_path, "benchmark=mission_report", "model=oracle", "judge=offline", f"seeds={SEEDS}")
    assert run_here(*command) == 130
    assert 0 < len(began) <= (os.cpu_count() or 1) + 4
    assert run_here(*command) == 0
    (row,) = rows(bench.own)
    assert row["n_briefs"] == 2 * SEEDS


def test_the_board_of_a_run_that_was_stopped_at_its_end_has_rows_on_other_tasks(
    tmp_path, project, monkeypatch
):
    bench = project_here(tmp_path, project / "conf", monkeypatch)
    asked = (tmp_path, "benchmark=mission_report", "judge=offline")
    assert run_here(*asked, "model=oracle") == 0
    log = Job.log

    def pressing(job, *args):
        job.signals._stop()  # as Ctrl-C does
        log(job, *args)

    monkeypatch.setattr(Job, "log", pressing)
    assert run_here(*asked, "model=empty", "benchmark.scenarios=[memo-01]") == 0
    assert {row["model"] for row in rows(bench.own)} == {"oracle", "empty"}
