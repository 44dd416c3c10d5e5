"""Two commands at once in one folder of results: no board lacks the row of either."""

import fcntl
import json
import shutil
import threading

import pytest
import yaml

from flows.adapters.dvc import versioned_outputs
from flows.adapters.screen import Screen
from flows.common.errors import StoreError
from flows.pipeline.commands.report import report as write_report
from flows.pipeline.evaluate import flow as evaluate
from flows.pipeline.harbor.jobs import imported
from flows.pipeline.harbor.jobs.imported import import_job
from flows.pipeline.results import leaderboard as report_module
from flows.pipeline.results import stored
from tests.support.bench import Project
from tests.support.harbor_trees import copy_job
from tests.support.plain_flow import run_here, without_prefect


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    return Project(tmp_path, project / "conf", {})


def run(folder, model):
    return run_here(folder, f"model={model}", "tracking=none")


def report(folder, _):
    return write_report(folder, [], Screen())


@pytest.mark.parametrize("first", [run, report])
def test_a_command_that_pauses_between_verdicts_and_board_loses_no_row(here, monkeypatch, first):
    """The second comes while the first has read the verdicts and not yet written the board."""
    assert run(here.folder, "strong") == 0
    assert run(here.folder, "weak") == 0
    own = here.results / "ma_bench"
    aside = here.folder / "aside"
    aside.mkdir()
    for table in ("verdicts", "scores"):
        shutil.move(own / table / "weak-default-3000-v0", aside / table)
    arrived = threading.Event()  # the second waits for the lock, or has ended without one
    codes, threads = [], []

    def flock(file, how):
        if threading.current_thread() in threads:
            arrived.set()
        fcntl.flock(file, how)

    def second():
        codes.append(report(here.folder, ""))
        arrived.set()

    def pausing(*arguments):
        if not threads:
            for table in ("verdicts", "scores"):
                shutil.move(aside / table, own / table / "weak-default-3000-v0")
            threads.append(threading.Thread(target=second))
            threads[0].start()
            arrived.wait()
        return original(*arguments)

    original = report_module.build_leaderboard
    spied = type("fcntl", (), {"flock": staticmethod(flock), "LOCK_EX": fcntl.LOCK_EX})
    monkeypatch.setattr("flows.common.locks.fcntl", spied)
    monkeypatch.setattr(report_module, "build_leaderboard", pausing)
    monkeypatch.setattr("flows.pipeline.commands.report.build_leaderboard", pausing)
    monkeypatch.setattr("flows.pipeline.evaluate.job.build_leaderboard", pausing)
    codes.append(first(here.folder, "strong"))
    threads[0].join()
    assert codes == [0, 0]
    board = json.loads((own / "leaderboard.json").read_text())
    assert sorted(row["model"] for row in board["rows"]) == ["strong", "weak"]


@pytest.mark.parametrize("command", ["run", "import"])
def test_tables_are_written_under_the_lock_of_the_board(here, project, monkeypatch, command):
    """Else a board could be made of new briefs and old verdicts."""
    module = evaluate if command == "run" else imported
    name = "write_results" if command == "run" else "write_system"
    original, tried = getattr(module, name), []

    def write(results, *arguments):
        with (results / ".cache" / "results.lock").open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        tried.append(results)
        return original(results, *arguments)

    monkeypatch.setattr(module, name, write)
    if command == "run":
        assert run(here.folder, "strong") == 0
    else:
        job = copy_job("0.25.0", here.folder)
        import_job(project, [f"results={here.results}"], job, Screen())
    assert tried


def test_the_lock_excludes_threads_and_is_free_after_a_fault(tmp_path):
    lock = tmp_path / ".cache" / "results.lock"

    def fail():
        with stored.results_lock(tmp_path):
            with lock.open() as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_folder_that_holds_no_lock_is_a_fault_that_names_it(tmp_path):
    (tmp_path / ".cache").write_text("a file")
    with pytest.raises(StoreError, match=r"results\.lock: can't be written"), stored.results_lock(tmp_path):
        pass


def test_a_versioned_report_holds_what_dvc_lists_and_no_more(here, capsys, monkeypatch):
    """What a stage wrote before its outputs were renamed stays on disk, and is nobody's any more."""
    for model, cap in (("strong", 3000), ("strong", 6), ("weak", 3000), ("weak", 6)):
        assert run_here(here.folder, f"model={model}", f"word_cap={cap}", "tracking=none") == 0
    monkeypatch.setenv("DVC_NO_ANALYTICS", "true")
    from dvc.repo import Repo

    Repo.init(str(here.folder), no_scm=True).close()
    made = "results/ma_bench/verdicts/strong-default-3000-v0/offline.parquet"
    stage = {
        "cmd": "staffbench run",
        "outs": ["results/ma_bench/verdicts/${model}-default-3000-v0/offline.parquet"],
    }
    (here.folder / "dvc.yaml").write_text(
        yaml.safe_dump({"vars": [{"model": "strong"}], "stages": {"evaluate": stage}})
    )
    added = next((here.results / "ma_bench" / "verdicts").glob("weak-default-6-v0*/offline.parquet"))
    outs = [{"md5": "0" * 32, "size": 1, "hash": "md5", "path": added.name}]
    added.with_name(f"{added.name}.dvc").write_text(yaml.safe_dump({"outs": outs}))
    assert made in {str(path.relative_to(here.folder)) for path in versioned_outputs(here.folder)}
    capsys.readouterr()
    assert write_report(here.folder, [], Screen(), versioned=True) == 0
    board = json.loads((here.results / "ma_bench" / "leaderboard.json").read_text())
    assert sorted((row["model"], row["word_cap"]) for row in board["rows"]) == [("strong", 3000), ("weak", 6)]
    out = capsys.readouterr().out
    assert out.count("Left out, not tracked by DVC") == 2
    assert write_report(here.folder, [], Screen()) == 0
    board = json.loads((here.results / "ma_bench" / "leaderboard.json").read_text())
    assert len(board["rows"]) == 4
