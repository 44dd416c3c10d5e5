"""Reports that were begun and not finished: the same command goes on, and nothing is paid for twice."""

import hashlib
import json
import signal
import threading
import time
from collections import Counter

import pytest

from tests.support.report_bench import NO_OFFICE, ReportProject, a_report, expert
from tests.support.report_endpoint import answer, is_judge, reports
from tests.support.scripted_server import Say, ScriptedServer, Status

ONE = ["benchmark.scenarios=[memo-01]", "seeds=2"]
WRITTEN, JUDGED = 2 * 5, 2
"""Replies that two attempts at one task take, and judgings of their two reports."""


@pytest.fixture
def bench(tmp_path, project, prefect_environment):
    return ReportProject(tmp_path, project / "conf", {**prefect_environment, **NO_OFFICE})


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def bodies(server):
    return Counter(json.dumps(call.body, sort_keys=True) for call in server.billed)


def files(bench):
    return {path.name: path.read_bytes() for path in (bench.own / "reports" / "files").glob("*.docx")}


@pytest.mark.slow
def test_a_run_killed_between_report_and_judge_pays_for_nothing_twice(bench):
    away = True
    with ScriptedServer(lambda call: Status(503) if is_judge(call) and away else answer(call)) as server:
        overrides = reports(server, *ONE)
        process = bench.start("run", *overrides, "runner.max_attempts=1000")
        wait_until(lambda: any(is_judge(call) for call in server.calls))
        process.kill()
        process.communicate()
        reported = files(bench)
        assert len(reported) == 2
        assert len(server.billed) == WRITTEN
        assert not bench.rows("verdicts")
        away = False
        done = bench("run", *overrides)
        assert (done.code, done.paid) == (0, JUDGED), done.err
        assert len(server.billed) == WRITTEN + JUDGED
        assert set(bodies(server).values()) == {1}
        assert files(bench) == reported
        (row,) = bench.board()
        assert (row["score"], row["n_briefs"], row["harness"]) == (pytest.approx(3 / 5), 2, "native")
        assert {facts["pages"] for facts in bench.rows("reports")} == {None}
        tables = bench.tables()

        # A report's file is gone, another one damaged: both are made again from stored replies.
        first, second = sorted((bench.own / "reports" / "files").glob("*.docx"))
        first.unlink()
        second.write_bytes(second.read_bytes()[:100])
        mended = bench("run", *overrides)
        assert (mended.code, mended.paid) == (0, 0), mended.err
        assert mended.stages == (6, 5)
        assert files(bench) == reported
        assert bench.tables() == tables

        bench.forget()
        replayed = bench("run", *overrides)
        assert (replayed.code, replayed.paid, replayed.replayed) == (0, 0, WRITTEN + JUDGED), replayed.err
        assert replayed.stages == (6, 0)
        assert bench.tables() == tables
        assert len(server.billed) == WRITTEN + JUDGED


def test_ctrl_c_ends_an_attempt_after_the_call_under_way_and_the_same_command_goes_on(bench):
    scratch = bench.folder / "scratch"
    scratch.mkdir()
    with ScriptedServer(lambda call: _slowly(answer(call))) as server:
        overrides = reports(server, *ONE)
        process = bench.start("run", *overrides, TMPDIR=str(scratch))
        wait_until(lambda: len(server.billed) >= 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 130
        assert "resumes" in err
        assert "Traceback" not in out + err
        had = len(server.billed)
        assert had < WRITTEN
        assert not list(scratch.glob("attempt-*"))
        done = bench("run", *overrides)
        assert (done.code, done.paid) == (0, WRITTEN + JUDGED - had), done.err
        assert set(bodies(server).values()) == {1}


def test_two_runs_at_once_share_the_work(bench):
    with ScriptedServer(lambda call: _slowly(answer(call), 0.1)) as server:
        done = []
        threads = [
            threading.Thread(target=lambda: done.append(bench("run", *reports(server, *ONE))))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.code for one in done] == [0, 0], [one.err for one in done]
        assert len(server.billed) == WRITTEN + JUDGED
        assert set(bodies(server).values()) == {1}
    assert bench.board()[0]["score"] == pytest.approx(3 / 5)


def test_reports_written_elsewhere_are_graded_and_a_late_one_is_seen(bench):
    folder = bench.folder / "mine" / "memo-01"
    folder.mkdir(parents=True)
    (folder / "1.docx").write_bytes(a_report(expert("memo-01")))
    words = ["grade", "mine", "benchmark=mission_report", "benchmark.scenarios=[memo-01]", "tracking=none"]
    done = bench(*words, "seeds=2")
    assert done.code == 0, done.err
    assert [(row["status"], row["report"] is not None) for row in bench.rows("briefs")] == [
        ("written", True),
        ("missing", False),
    ]
    assert bench.board()[0]["score"] == pytest.approx(1 / 2)
    (report,) = (bench.own / "reports" / "files").glob("*.docx")
    assert report.stem == hashlib.sha256((folder / "1.docx").read_bytes()).hexdigest()
    # A report that was handed in late is seen.
    (folder / "2.docx").write_bytes(a_report("Nothing of note."))
    again = bench(*words, "seeds=2")
    assert again.code == 0, again.err
    assert [row["status"] for row in bench.rows("briefs")] == ["written", "written"]
    (folder / "4.docx").write_bytes(a_report("Nothing of note."))
    refused = bench(*words)
    assert refused.code == 2
    assert "memo-01, report 3: not there, and report 4 is; expected" in " ".join(refused.err.split())


def _slowly(say: Say, seconds=0.4) -> Say:
    return Say(say.text, say.finish, say.usage, seconds, message=say.message)
