"""What kills and company do to a run: each answer is paid for once."""

import os
import random
import signal
import time
from collections import Counter

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from tests.adapters.completions.helpers import RUNNER, a_request, segments
from tests.adapters.completions.worker import a_worker, finished
from tests.support.scripted_server import Say, ScriptedServer


def an_answer(call):
    return Say(f"answer to {call.prompt}", delay_s=0.005 + (len(call.prompt) + call.number * 7) % 11 / 500)


def a_killed_run(folder, server, count, blow):
    """Start a run, kill it after `blow` paid answers; what it said it had: [how, number, text] each."""
    lines = []
    with a_worker(folder, server, count) as worker:
        while sum(line[0] == "paid" for line in lines) < blow:
            line = worker.stdout.readline()
            assert line, "it ended before the blow"
            lines.append(line.rstrip("\n").split(" ", 2))
        os.kill(worker.pid, signal.SIGKILL)
        rest, _err = worker.communicate(timeout=600)
        whole = rest[: rest.rfind("\n") + 1]
        return lines + [line.split(" ", 2) for line in whole.splitlines()]


def kill_and_resume(folder, blows, count):
    """Kill a run again and again, each time after some paid answers, then let it end."""
    answered = set()
    with ScriptedServer(an_answer) as server:
        for blow in [*blows, None]:
            before = len(server.billed)
            if blow is None:
                with a_worker(folder, server, count) as worker:
                    lines = finished(worker)
            else:
                lines = a_killed_run(folder, server, count, blow)
            asked = {call.prompt for call in server.billed[before:]}
            assert not answered & asked, "an answer that had returned was asked for again"
            answered |= {f"prompt {line[1]}" for line in lines}
    assert sorted(line[2] for line in lines) == sorted(f"answer to prompt {n}" for n in range(count))
    assert {call.prompt for call in server.billed} == {f"prompt {number}" for number in range(count)}
    assert len(server.billed) - count <= len(blows) * RUNNER.concurrency
    assert len(CompletionStore(folder)) == count


def test_a_killed_run_pays_again_for_the_calls_in_flight_only(tmp_path):
    kill_and_resume(tmp_path, blows=[1, 7, 13], count=40)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_that_is_killed_fifty_times_pays_again_for_the_calls_in_flight_only(tmp_path):
    rng = random.Random(50)
    kill_and_resume(tmp_path, blows=[rng.randrange(1, 7) for _ in range(50)], count=400)


def test_two_runs_at_once_share_the_work(tmp_path):
    with (
        ScriptedServer(an_answer) as server,
        a_worker(tmp_path, server, 60) as one,
        a_worker(tmp_path, server, 60) as other,
    ):
        lines = [finished(one), finished(other)]
    assert Counter(server.prompts()) == {f"prompt {number}": 1 for number in range(60)}
    assert sum(line[0] == "paid" for run in lines for line in run) == 60
    for run in lines:
        assert {line[1]: line[2] for line in run} == {str(n): f"answer to prompt {n}" for n in range(60)}
    assert CompletionStore(tmp_path).problems == ()


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    with ScriptedServer(lambda _call: Say("late", delay_s=0.3)) as server:
        with a_worker(tmp_path, server, 1) as worker:
            while not server.calls:
                time.sleep(0.01)
            worker.kill()
            worker.communicate(timeout=600)
        with a_worker(tmp_path, server, 1) as worker:
            assert finished(worker) == [["paid", "0", "late"]]


def test_a_second_run_waits_for_the_first_and_replays_its_answer(tmp_path):
    with (
        ScriptedServer(lambda _call: Say("once", delay_s=1.0)) as server,
        a_worker(tmp_path, server, 1) as one,
    ):
        while not server.calls:
            time.sleep(0.01)
        with a_worker(tmp_path, server, 1) as other:
            assert finished(other) == [["replayed", "0", "once"]]
        assert finished(one) == [["paid", "0", "once"]]
    assert len(server.billed) == 1


def test_a_torn_segment_of_a_killed_run_costs_one_call(tmp_path):
    with ScriptedServer(an_answer) as server:
        with a_worker(tmp_path, server, 5) as worker:
            finished(worker)
        (segment,) = segments(tmp_path)
        os.truncate(segment, segment.stat().st_size - 30)
        with a_worker(tmp_path, server, 5) as worker:
            lines = finished(worker)
        assert sorted(line[0] for line in lines) == ["paid"] + ["replayed"] * 4
        assert len(server.billed) == 6
        opened = CompletionStore(tmp_path)
        assert [problem.found for problem in opened.problems] == ["the last record is cut"]
        assert opened.get(a_request("prompt 0", server.base).key).text == "answer to prompt 0"
