"""A run on a Dask cluster: its results, its limits, and what is left when parts are killed."""

import dataclasses
import json
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import dask.config
import distributed
import psutil
import pytest
import yaml

from flows.common.errors import ConfigError
from flows.pipeline.evaluate import worker
from flows.pipeline.orchestration import clusters
from flows.pipeline.orchestration.clusters import start_cluster
from flows.schema.settings import ClusterKind
from tests.adapters.completions.helpers import RUNNER
from tests.support.bench import Project, answer, remote, wait_for_calls
from tests.support.cluster import Cluster
from tests.support.scripted_server import Say, ScriptedServer

IN_FLIGHT = 6


def slow(call):
    said = answer(call)
    return Say(said.text, delay_s=0.2)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """All five parts, once: PostgreSQL, Prefect's server, a scheduler and two workers."""
    # Not below pytest's folder, which the user that PostgreSQL runs as can't enter.
    folder = Path(tempfile.mkdtemp(prefix="staffbench-cluster-"))
    folder.chmod(0o755)
    made = Cluster(folder)
    made.environment["DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"] = "10s"
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def on_cluster(tmp_path, project, cluster):
    return Project(tmp_path, project / "conf", {**cluster.environment})


def overrides(server, cluster, *more):
    where = ["runner=dask", f"runner.scheduler={cluster.scheduler}", f"runner.concurrency={IN_FLIGHT}"]
    return ["-m", *remote(server, *where, "model.name=w1,w2,w3,w4", "seeds=8", *more)]


def calls_of(seeds):
    """Of four writers on two scenarios; they write the same, so the judge is asked once for all."""
    return 4 * 2 * seeds + 2 * seeds


CALLS = calls_of(8)


def check_tables(bench, seeds=8):
    """Every brief has its verdicts once, and all pass."""
    rows = bench.board()
    assert [(row["n_briefs"], row["n_ungraded"], row["score"]) for row in rows] == [(2 * seeds, 0, 1.0)] * 4


def listened_on(processes):
    found = [one for process in processes for one in process.net_connections("tcp")]
    return {one.laddr.ip for one in found if one.status == psutil.CONN_LISTEN}


def paid_twice(server, seeds=8):
    bodies = Counter(json.dumps(call.body, sort_keys=True) for call in server.billed)
    assert len(bodies) == calls_of(seeds)
    return len(server.billed) - calls_of(seeds)


def test_a_run_on_two_workers_never_passes_the_limit_and_shows_its_task_runs(on_cluster, cluster):
    with ScriptedServer(slow, together=IN_FLIGHT) as server:
        done = on_cluster("run", *overrides(server, cluster))
        assert done.code == 0, done.err
        assert (done.paid, server.peak) == (CALLS, IN_FLIGHT)
        assert paid_twice(server) == 0
        check_tables(on_cluster)
        board = on_cluster.board()
        again = on_cluster("run", *overrides(server, cluster))
        assert (again.code, again.paid, len(server.billed)) == (0, 0, CALLS)
        assert on_cluster.board() == board


def test_a_budget_is_one_for_all_workers(on_cluster, cluster):
    with ScriptedServer(slow) as server:
        done = on_cluster("run", *overrides(server, cluster, "budget.max_calls=40"))
        assert (done.code, len(server.billed)) == (3, 40)
        assert "budget.max_calls=40: reached: 40 calls in this run" in done.err
        assert on_cluster("run", *overrides(server, cluster)).code == 0
        assert paid_twice(server) == 0


def test_the_flow_of_a_deployment_finds_what_a_command_stored(on_cluster, cluster):
    words = ["model=strong", "tracking=none", "runner=dask", f"runner.scheduler={cluster.scheduler}"]
    assert on_cluster("run", *words).code == 0
    # A worker of Prefect's has read its settings before our flow sets where records are.
    script = "import sys; from flows.pipeline.evaluate.deployed import deployed; deployed(sys.argv[1:])"
    done = on_cluster.python("-c", script, *words)
    assert "11 of 11 done before" in done.err


def test_nothing_of_a_cluster_can_be_reached_from_another_machine(cluster):
    processes = [process for part in cluster.pids for process in cluster._processes(part)]
    assert len(processes) > len(cluster.pids)
    assert listened_on(processes) == {"127.0.0.1"}


def test_a_worker_and_the_flow_killed_in_one_run_lose_only_what_was_in_flight(on_cluster, cluster):
    """The short form of the kills below."""
    unbroken = Project(on_cluster.folder / "unbroken", on_cluster.folder / "conf", on_cluster.environment)
    with ScriptedServer(slow) as server:
        command = overrides(server, cluster, "seeds=20")
        process = on_cluster.start("run", *command)
        wait_for_calls(server, 40, process)
        cluster.worker_process("worker-1").kill()  # its nanny starts another
        wait_for_calls(server, 100, process)
        process.kill()
        process.communicate()
        done = on_cluster("run", *command)
        assert done.code == 0, done.err
        assert "in flight" not in done.err.splitlines()[-1]
        check_tables(on_cluster, 20)
        assert paid_twice(server, 20) <= 2 * IN_FLIGHT
        plain = unbroken("run", "-m", *remote(server, "model.name=w1,w2,w3,w4", "seeds=20"))
        assert (plain.code, plain.paid) == (0, calls_of(20)), plain.err
        assert on_cluster.rows() == unbroken.rows()


PARTS = ("worker-1", "scheduler", "prefect", "postgres", "flow")


@pytest.mark.slow
def test_after_kills_of_every_part_the_tables_are_those_of_an_unbroken_run(on_cluster, cluster):
    kill_and_resume(on_cluster, cluster, PARTS)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_a_part_killed_three_times_loses_nothing(on_cluster, cluster, part):
    kill_and_resume(on_cluster, cluster, [part] * 3)


def kill_and_resume(bench, cluster, parts):
    """Kill one part in the middle of a run of two more seeds, and so on; then run the last command again."""
    with ScriptedServer(slow) as server:
        for number, part in enumerate(parts, 1):
            command = overrides(server, cluster, f"seeds={2 * number}")
            had, process = len(server.billed), bench.start("run", *command)
            wait_for_calls(server, had + IN_FLIGHT, process)
            if part == "flow":
                process.kill()
            elif part.startswith("worker"):
                cluster.worker_process(part).kill()  # its nanny starts another
            else:
                cluster.kill(part)
            out, err = process.communicate(timeout=300)
            assert "Traceback" not in out + err
            assert process.returncode == {"flow": -9, "worker-1": 0}.get(part, 1), err
            restart(cluster, part)
        done = bench("run", *command)
        assert done.code == 0, done.err
        check_tables(bench, 2 * len(parts))
        assert paid_twice(server, 2 * len(parts)) <= IN_FLIGHT * len(parts)


def restart(cluster, part):
    """Start what was killed, and what does not come back without it."""
    if part == "scheduler":
        for name in ("worker-1", "worker-2"):
            cluster.kill(name)
    if part == "postgres":
        cluster.kill("prefect")
    again = {"scheduler": ["scheduler", "worker-1", "worker-2"], "postgres": ["postgres", "prefect"]}
    for name in again.get(part, ["prefect"] if part == "prefect" else []):
        cluster.start_part(name)


@pytest.mark.slow
def test_a_worker_that_hangs_is_replaced(on_cluster, cluster):
    with ScriptedServer(slow) as server:
        process = on_cluster.start("run", *overrides(server, cluster))
        wait_for_calls(server, CALLS // 4, process)
        stopped = cluster.worker_process("worker-2")
        stopped.suspend()
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert paid_twice(server) <= IN_FLIGHT
        assert server.peak <= IN_FLIGHT
        check_tables(on_cluster)
        assert not psutil.pid_exists(stopped.pid)


def test_without_a_server_for_all_a_running_scheduler_is_refused(on_cluster):
    done = on_cluster("run", "runner=dask", "runner.scheduler=tcp://127.0.0.1:1", PREFECT_API_URL="")
    assert done.code == 2
    assert "PREFECT_API_URL" in done.err


def test_a_worker_of_another_version_is_refused_by_name():
    here = worker.versions()
    assert worker.refused("w", dict(here), here) is None
    fault = worker.refused("tcp://w:1", {**here, "score rule": "1", "staffbench": "0.0.9"}, here)
    assert str(fault).startswith(
        "worker tcp://w:1: has staffbench 0.0.9, score rule 1; expected staffbench 0.1.0"
    )
    assert fault.exit_code == 2


def test_an_unknown_host_is_no_warning_of_dask(monkeypatch):
    def get_ip(host):
        warnings.warn(f"Couldn't detect a suitable IP address for {host}", RuntimeWarning, stacklevel=2)
        return "127.0.0.1"

    monkeypatch.setattr("distributed.utils.get_ip", get_ip)
    assert clusters.own_address("tcp://nohost.invalid:8786") == "127.0.0.1"  # a warning is an error here


def test_what_a_run_starts_for_itself_can_not_be_reached_from_another_machine():
    runner = dataclasses.replace(RUNNER, cluster=ClusterKind.local, workers=1, chains_per_worker=1)
    cluster = start_cluster(dataclasses.replace(runner, cluster_options={}), chains=1)
    try:
        this = psutil.Process()
        listening = listened_on([this, *this.children(recursive=True)])
    finally:
        cluster.close()
    assert listening == {"127.0.0.1"}


def test_the_job_that_slurm_gets_has_a_place_for_each_chain():
    options = {"queue": "short", "account": None, "cores": 1, "processes": 1, "memory": "2GB"}
    options["scheduler_options"] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    runner = dataclasses.replace(RUNNER, cluster=ClusterKind.slurm, cluster_options=options, workers=2)
    cluster = start_cluster(runner, chains=100, submit=False)
    try:
        script = cluster.job_script()
    finally:
        cluster.close()
    assert "#SBATCH -p short" in script
    assert script.split("--nthreads ")[-1].split()[0] == "51"
    assert "export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False\n" in script


def test_slurm_without_its_commands_is_refused_at_once(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match=r"sbatch is not on the PATH; expected a node that can submit jobs"):
        start_cluster(dataclasses.replace(RUNNER, cluster=ClusterKind.slurm), chains=1)


@pytest.mark.parametrize(("name", "values"), clusters._SETTINGS.items())
def test_dask_has_each_setting_under_its_name_and_takes_it_from_the_environment(name, values):
    theirs, ours = values
    defaults = yaml.safe_load((Path(distributed.__file__).parent / "distributed.yaml").read_text())
    assert dask.config.get(name, config=defaults) == theirs
    assert dask.config.get(name, config=dask.config.collect_env(clusters.ENVIRONMENT)) == ours


@pytest.mark.parametrize(("kind", "package"), [("kubernetes", "dask-kubernetes"), ("ssh", "asyncssh")])
def test_what_starts_workers_is_named_where_it_is_not_installed(monkeypatch, kind, package):
    for name in ("dask_kubernetes", "dask_kubernetes.operator", "asyncssh"):
        monkeypatch.setitem(sys.modules, name, None)
    runner = dataclasses.replace(RUNNER, cluster=ClusterKind(kind), workers=2)
    with pytest.raises(ConfigError, match=f"{package}.*pip install"):
        start_cluster(runner, chains=100)


def test_what_was_started_is_ended_even_if_it_is_not_known_again(tmp_path):
    made = Cluster(tmp_path)
    made._spawn("scheduler", [sys.executable, "-c", "import time; time.sleep(600)"])
    (pid, ticks), child = made.pids["scheduler"], made._children[0]
    assert [one.pid for one in made._processes("scheduler")] == [pid]
    made.pids["scheduler"] = pid, ticks + 1  # another process, as it seems
    assert made._processes("scheduler") == []
    made.stop()
    assert child.returncode == -signal.SIGKILL
