"""A run that ended too early: the same command goes on, and nothing that was had is paid for twice."""

import json
import re
import shutil
import signal
import threading
import time
from collections import Counter

import psutil
import pytest

from tests.support.bench import ITEM, STRENGTHS, answer, remote
from tests.support.scripted_server import Say, ScriptedServer, Status


def wait_until(condition, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def bodies(calls):
    return Counter(json.dumps(call.body, sort_keys=True) for call in calls)


SLOW = pytest.mark.slow


@pytest.mark.parametrize("billed_before", [pytest.param(1, marks=SLOW), 5, pytest.param(9, marks=SLOW)])
def test_a_killed_run_pays_again_for_nothing_that_it_had(bench, billed_before):
    with ScriptedServer(lambda call: Say(answer(call).text, delay_s=0.3)) as server:
        overrides = remote(server, "runner.concurrency=2")
        process = bench.start("run", *overrides)
        wait_until(lambda: len(server.billed) >= billed_before)
        process.kill()
        process.communicate()
        before = len(server.billed)
        done = bench("run", *overrides)
        assert done.code == 0, done.err
        # 12 replies are needed; at most the two that were in flight were paid for twice.
        assert 12 <= len(server.billed) <= 14
        assert done.paid <= 12 - (before - 2)
        assert bench("run", *overrides).paid == 0


@pytest.mark.parametrize("asked", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=SLOW)])
def test_ctrl_c_lets_calls_end_and_the_same_command_resumes(bench, asked):
    with ScriptedServer(lambda call: Say(answer(call).text, delay_s=0.5)) as server:
        overrides = remote(server, "runner.concurrency=2")
        process = bench.start("run", *overrides)
        wait_until(lambda: len(server.billed) >= 2)
        process.send_signal(asked)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 130
        assert "to resume" in err
        assert "Traceback" not in out + err
        had = len(server.billed)
        assert had < 12
        done = bench("run", *overrides)
        assert (done.code, done.paid) == (0, 12 - had)
        assert max(bodies(server.billed).values()) == 1


def test_a_second_ctrl_c_leaves_calls_behind_that_are_never_answered(bench):
    def script(call):
        return Say(answer(call).text, delay_s=0.0 if len(server.billed) < 4 else 600.0)

    with ScriptedServer(script) as server:
        overrides = remote(server, "runner.concurrency=2")
        process = bench.start("run", *overrides)
        wait_until(lambda: len(server.calls) >= 6)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        said = "".join(process.communicate(timeout=600))
        assert process.returncode == 130
        assert "abandoned" in said
        assert "Traceback" not in said
        server.script = lambda call: Say(answer(call).text)
        done = bench("run", *overrides)
        assert done.code == 0
        assert done.paid == 8  # four were had; the two that were left behind are asked again


def test_the_loss_of_prefects_server_costs_its_page_and_nothing_else(bench):
    with ScriptedServer(lambda call: Say(answer(call).text, delay_s=0.3)) as server:
        overrides = remote(server, "runner.concurrency=2")
        process = bench.start("run", *overrides, PREFECT_API_URL="")
        wait_until(lambda: len(server.billed) >= 2)
        (child,) = [
            one
            for one in psutil.Process(process.pid).children()
            if "flows.pipeline.orchestration.server" in " ".join(one.cmdline())
        ]
        child.kill()
        out, err = process.communicate(timeout=600)
        assert process.returncode == 1
        assert "EventsWorker" not in err
        assert "Prefect's server: was lost during the run" in err
        assert "Traceback" not in out + err
        assert "leaderboard" in out
        board = bench.board()
        done = bench("run", *overrides)
        assert (done.code, done.paid) == (0, 0)
        assert bench.board() == board


def test_two_runs_at_once_share_the_work(bench):
    with ScriptedServer(lambda call: Say(answer(call).text, delay_s=0.2)) as server:
        codes = []

        def go():
            codes.append(bench("run", *remote(server)).code)

        threads = [threading.Thread(target=go) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes == [0, 0]
        assert len(server.billed) == 12
        assert max(bodies(server.billed).values()) == 1


def test_a_damaged_cache_costs_time_and_no_call(bench, endpoint):
    assert bench("run", *remote(endpoint)).code == 0
    board = bench.board()
    prefect = bench.results / ".cache" / "prefect"
    objects = bench.results / ".cache" / "objects"
    files = sorted(path for path in prefect.rglob("*") if path.is_file())
    assert files
    files[0].write_bytes(b"")
    files[1].write_bytes(b"garbage")
    files[2].write_bytes(files[2].read_bytes()[:20])
    files[3].write_bytes(files[4].read_bytes())  # another stage's answer
    damaged = sorted(path for path in objects.rglob("*") if path.is_file())
    damaged[0].unlink()
    damaged[1].write_bytes(b"")
    damaged[2].write_bytes(damaged[3].read_bytes())
    done = bench("run", *remote(endpoint))
    assert done.code == 0, done.err
    assert done.paid == 0
    assert bench.board() == board
    for path in (*prefect.rglob("*"), *objects.rglob("*")):
        if path.is_file():
            path.unlink()
    done = bench("run", *remote(endpoint))
    assert (done.code, done.paid, done.replayed) == (0, 0, 12)
    assert bench.board() == board


def test_a_reached_budget_stops_cleanly_with_a_code_of_its_own(bench, endpoint):
    done = bench("run", *remote(endpoint, "budget.max_calls=5", "runner.concurrency=1"))
    assert done.code == 3
    assert "budget" in done.err
    assert len(endpoint.billed) == 5
    more = bench("run", *remote(endpoint))
    assert (more.code, more.paid) == (0, 7)


@pytest.mark.parametrize("kind", ["judge", "writer"])
def test_a_failed_call_is_no_verdict_and_is_asked_again(bench, kind):
    """Neither a failed requirement nor an error not committed: its items have no verdict."""
    broken = True

    def script(call):
        if broken and call.body["model"].startswith(kind):
            return Status(500)
        return answer(call)

    with ScriptedServer(script) as server:
        overrides = remote(server, "runner.max_attempts=2", "seeds=1")
        done = bench("run", *overrides)
        assert done.code == 4, done.err
        (row,) = bench.board()
        assert row["score"] is None
        assert row["correct"] is None
        assert row["n_ungraded"] == 6
        assert row["n_briefs"] == 0
        assert row["n_error"] == (2 if kind == "writer" else 0)
        assert row["score_low"] == pytest.approx(-9 / 14.5)  # everything missing failed
        assert row["score_high"] == 1  # everything missing passed
        broken = False
        again = bench("run", *overrides)
        assert again.code == 0, again.err
        assert bench.board()[0]["score"] == 1
        assert again.paid == (4 if kind == "writer" else 2)


def test_a_refusal_is_counted_and_asked_again_only_when_told_to(bench):
    refusing = True

    def script(call):
        if call.body["model"].startswith("writer") and call.body["seed"] == 2 and refusing:
            return Say("", finish="content_filter")
        return answer(call)

    with ScriptedServer(script) as server:
        done = bench("run", *remote(server))
        assert done.code == 4
        (row,) = bench.board()
        assert (row["n_refused"], row["n_briefs"], row["n_briefs_all"]) == (2, 4, 6)
        assert row["score"] == 1  # of the briefs that there are
        assert row["score_low"] < 1
        assert bench("run", *remote(server)).paid == 0
        refusing = False
        assert bench("run", *remote(server, "retry=refused")).code == 0
        assert bench.board()[0]["n_refused"] == 0


def test_a_judge_that_never_answers_validly_leaves_its_items_unparsed(bench):
    def script(call):
        if not call.body["model"].startswith("judge"):
            return answer(call)
        return Say(json.dumps({"items": len(ITEM.findall(call.prompt)) - 1, "failed": []}))

    with ScriptedServer(script) as server:
        done = bench("run", *remote(server, "seeds=1", "judge.max_attempts=3"))
        assert done.code == 4
        assert done.paid == 2 + 2 * 3
        (row,) = bench.board()
        assert (row["score"], row["n_ungraded"]) == (None, 6)
        asked = [call for call in server.billed if call.body["model"].startswith("judge")]
        assert sum("items is 2" in call.prompt for call in asked) == 4  # the fault is named


def answer_one(call):
    """The judge of one item at a time, who finds everything in order."""
    ((item_id, kind),) = ITEM.findall(call.prompt)
    verdict = {"id": item_id, "met": kind == "requirement", "reason": "so"}
    return Say(json.dumps({"verdicts": [verdict]}))


@pytest.mark.parametrize("mode", ["failed_only", pytest.param("per_item", marks=pytest.mark.slow)])
def test_the_same_command_asks_again_for_what_a_repaired_judge_can_answer(bench, mode):
    """Only on the brief whose items have no verdict; the row stays the same row."""
    broken, graded = True, answer if mode == "failed_only" else answer_one

    def script(call):
        if not call.body["model"].startswith("judge"):
            return answer(call)
        in_alder = str(STRENGTHS["alder"]) in call.prompt
        return Say("That is hard to say.") if broken and in_alder else graded(call)

    with ScriptedServer(script) as server:
        overrides = remote(server, "seeds=1", f"judge.mode={mode}", "judge.max_attempts=2")
        questions = 1 if mode == "failed_only" else 3
        done = bench("run", *overrides)
        assert (done.code, done.paid) == (4, 2 + questions * 3)
        (before,) = bench.board()
        assert before["n_ungraded"] == 3
        assert bench("run", *overrides, "retry=none").paid == 0
        still = bench("run", *overrides)
        assert (still.code, still.paid) == (4, questions * 2)  # as many attempts as before, and no more
        broken = False
        plan = bench("plan", *overrides, COLUMNS="160")
        assert f"0 of 2 | {questions} of {questions * 2}" in re.sub(r" *[│┃] *", " | ", plan.out)
        again = bench("run", *overrides, "retry=unparsed")
        assert (again.code, again.paid) == (0, questions), again.err
        (row,) = bench.board()
        assert (row["n_ungraded"], row["score"]) == (0, 1)
        assert [row[key] for key in ("condition", "judge_id", "judge_digest")] == [
            before[key] for key in ("condition", "judge_id", "judge_digest")
        ]
        shutil.rmtree(bench.results / ".cache")
        replayed = bench("run", *overrides, "retry=none")  # what counted is found behind what was rejected
        assert (replayed.code, replayed.paid) == (0, 0)
        assert bench.board()[0]["score"] == 1
