"""Runs whose store several machines share, and copies between stores."""

import re
from pathlib import Path

import pytest

from tests.support.bench import Project, answer, remote, wait_for_calls
from tests.support.s3 import s3_process, s3_server
from tests.support.scripted_server import Say, ScriptedServer

SEEDS = "seeds=2"


@pytest.fixture(scope="module")
def s3():
    with s3_server() as server:
        yield server


@pytest.fixture
def machine(tmp_path, project, prefect_environment, s3):
    """Return a function that sets up a machine with nothing on it but the scenarios."""

    def new(name, store=s3):
        (tmp_path / name).mkdir()
        environment = {**prefect_environment, **store.environment}
        # Prefect's records too are each machine's own.
        environment["PREFECT_LOCAL_STORAGE_PATH"] = str(tmp_path / name / "records")
        return Project(tmp_path / name, project / "conf", environment)

    yield new
    s3.fault = lambda _method, _path: None


def assert_no_credentials(machine, done, s3):
    """Neither what a run printed nor a file that it wrote holds a key."""
    texts = [done.out.encode(), done.err.encode()]
    for place in (machine.folder, Path(machine.environment["PREFECT_HOME"])):
        texts += [path.read_bytes() for path in place.rglob("*") if path.is_file()]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert not [text for text in texts if s3.environment[name].encode() in text]


def test_a_run_repeated_from_the_store_on_another_machine_pays_nothing_and_gives_equal_bytes(
    machine, endpoint, s3
):
    address = s3.bucket()
    one, two, alone = machine("one"), machine("two"), machine("alone")
    words = remote(endpoint, SEEDS)
    first = one("run", *words, f"store={address}")
    assert (first.code, first.paid) == (0, 8), first.err
    second = two("run", *words, f"store={address}")
    assert (second.code, second.paid) == (0, 0), second.err
    assert second.stages == (11, 11)  # nothing was computed again: two packets, two chains, the mean
    assert len(endpoint.billed) == 8
    assert alone("store", "copy", address, "results").code == 0
    local = alone("run", *words)
    assert (local.code, local.paid) == (0, 0), local.err
    assert one.tables() == two.tables() == alone.tables()
    assert_no_credentials(one, first, s3)
    plan = machine("three")("plan", *words, f"store={address}")
    assert plan.code == 0
    assert " 0 " in plan.out


CALLS = 2 * 2 * 10 + 2 * 10
"""Two writers on two scenarios. They write the same, so the judge is asked once for both."""


def sweep(server):
    return ["-m", *remote(server, "model.name=w1,w2", "seeds=10", "runner.concurrency=4")]


def slow(call):
    return Say(answer(call).text, delay_s=0.2)


@pytest.mark.slow
def test_two_workers_of_a_cluster_with_a_bucket_give_what_one_process_gives_with_a_folder(
    machine, endpoint, s3
):
    words, address = sweep(endpoint), s3.bucket()
    alone, crew = machine("alone"), machine("crew")
    assert alone("run", *words).paid == CALLS
    for paid in (CALLS, 0):
        done = crew("run", *words, f"store={address}", "runner=dask", "runner.workers=2")
        assert (done.code, done.paid) == (0, paid), done.err
        assert len(endpoint.billed) == 2 * CALLS
        assert crew.rows() == alone.rows()
    workers = [re.search(r"/workers/\w+-(\d+)-", path) for method, path in s3.requests if method == "PUT"]
    assert len({found[1] for found in workers if found}) >= 2  # both paid, by the ids of their processes
    assert_no_credentials(crew, done, s3)


def test_a_store_that_is_killed_in_the_middle_of_a_run_is_waited_for(machine, tmp_path):
    with s3_process(tmp_path) as (s3, moto), ScriptedServer(slow) as server:
        words = sweep(server)
        one, two, alone = (machine(name, s3) for name in ("one", "two", "alone"))
        place = f"store={s3.bucket()}"
        process = one.start("run", *words, place)
        for calls in (CALLS // 4, CALLS // 2):
            wait_for_calls(server, calls, process)
            moto.kill()
            moto.start()
        _, err = process.communicate(timeout=400)
        assert (process.returncode, len(server.billed)) == (0, CALLS), err
        again = two("run", *words, place)
        assert (again.code, again.paid) == (0, 0), again.err
        assert alone("run", *words).paid == CALLS
        assert one.tables() == two.tables()
        assert one.rows() == alone.rows()


@pytest.mark.slow
def test_a_store_that_is_killed_for_good_ends_the_run_and_nothing_is_lost(machine, tmp_path):
    with s3_process(tmp_path) as (s3, moto), ScriptedServer(slow) as server:
        words = sweep(server)
        one, alone = machine("one", s3), machine("alone", s3)
        place = f"store={s3.bucket()}"
        for number in (1, 2, 3):
            had, process = len(server.billed), one.start("run", *words, place)
            wait_for_calls(server, had + CALLS // 5, process)
            moto.kill()
            out, err = process.communicate(timeout=500)
            assert process.returncode == 1, err
            assert "can't be reached for 120 s" in out + err, number
            assert "Traceback" not in out + err
            moto.start()
        done = one("run", *words, place)
        assert (done.code, len(server.billed)) == (0, CALLS), done.err  # what was in flight is kept too
        assert alone("run", *words).paid == CALLS
        assert one.rows() == alone.rows()


@pytest.mark.slow
def test_a_store_is_copied_both_ways_and_again_copies_nothing(machine, endpoint, s3, tmp_path):
    one, two = machine("one"), machine("two")
    words = remote(endpoint, SEEDS)
    assert one("run", *words).paid == 8
    shared, folder = s3.bucket(), f"file://{tmp_path}/shared"
    (one.results / "ma_bench" / "reports" / "files").mkdir(parents=True)
    (one.results / "ma_bench" / "reports" / "files" / f"{'0' * 64}.docx").write_bytes(b"a report")
    for source, target, machine_of in (
        ("results", shared, one),
        (shared, folder, two),
        (folder, "results", two),
    ):
        for copied in (8, 0):
            done = machine_of("store", "copy", source, target)
            assert done.code == 0, done.err
            assert f"Replies: {copied} copied, {8 - copied} there before." in done.out
            assert f"Files: {int(copied > 0)} copied, {int(copied == 0)} there before." in done.out
    assert two("run", *words).paid == 0
    assert len(endpoint.billed) == 8
    assert lines_of(one) == lines_of(two)


def lines_of(machine):
    texts = [path.read_text() for path in (machine.results / "completions").glob("*.jsonl")]
    return sorted(line for text in texts for line in text.splitlines())


def test_a_copy_that_is_interrupted_goes_on(machine, endpoint, s3):
    one = machine("one")
    assert one("run", *remote(endpoint, SEEDS)).paid == 8
    address, puts = s3.bucket(), []

    def fault(method, path):
        if method == "PUT" and "/completions/" in path:
            puts.append(path)
        return "denied" if len(puts) > 3 else None

    s3.fault = fault
    broken = one("store", "copy", "results", address)
    assert broken.code == 1
    assert "access denied" in broken.err
    s3.fault = lambda _method, _path: None
    done = one("store", "copy", "results", address)
    assert done.code == 0, done.err
    copied, before = map(int, re.findall(r"\d+", done.out)[:2])
    assert copied + before == 8
    assert before >= 3


def test_a_store_that_denies_access_stops_the_run_and_nothing_is_lost(machine, endpoint, s3):
    address, one = s3.bucket(), machine("one")
    words = [*remote(endpoint, SEEDS), f"store={address}"]
    puts = []

    def fault(method, path):
        if method == "PUT" and "/completions/" in path and not path.endswith(".claim"):
            puts.append(path)
        return "denied" if len(puts) > 2 else None

    s3.fault = fault
    stopped = one("run", *words)
    assert stopped.code == 1, stopped.err
    assert f"{address}: access denied: AccessDenied, Access Denied" in stopped.err + stopped.out
    s3.fault = lambda _method, _path: None
    again = one("run", *words)
    assert again.code == 0, again.err
    assert len(endpoint.billed) == 8


@pytest.mark.parametrize(
    ("store", "code", "said"),
    [
        ("s3://no-such-bucket/x", 1, "no such bucket"),
        ("https://host/x", 2, "an address of kind https"),
        ("s3://key:secret@bucket/x", 2, "set credentials in the environment"),
        ("data", 1, "this folder holds something else"),
    ],
)
def test_a_store_that_can_not_be_used_is_refused_before_anything_is_paid(
    machine, endpoint, store, code, said
):
    done = machine("one")("run", *remote(endpoint), f"store='{store}'")
    assert done.code == code, done.err
    assert said in done.err.lower()
    assert not endpoint.calls
    assert "Traceback" not in done.err


def test_copies_that_make_no_sense_are_refused(machine, s3):
    one = machine("one")
    (one.folder / "file.txt").write_text("a file")
    (one.folder / "results" / "completions").mkdir(parents=True)
    for words, code, said in (
        ((f"{s3.bucket()}/mistyped", "results/new"), 2, "no store there"),
        (("results", "file.txt"), 2, "is a file"),
        (("results", "results"), 2, "both are the same store"),
        (("nowhere", s3.bucket()), 2, "no store there"),
        (("ftp://x/y", "results"), 2, "an address of kind ftp"),
        (("results",), 2, "the following arguments are required: TO"),
    ):
        done = one("store", "copy", *words)
        assert (done.code, "Traceback" in done.err) == (code, False)
        assert said in done.err
