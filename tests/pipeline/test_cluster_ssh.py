"""`runner.cluster=ssh`: Dask's own class and processes; ssh itself is a shell on this machine."""

import asyncio
import dataclasses
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import dask.config
import pytest
from distributed import Client

from flows.common.errors import ConfigError
from flows.pipeline.orchestration.clusters import start_cluster
from flows.schema.settings import ClusterKind
from tests.adapters.completions.helpers import RUNNER


class Started:
    """A process, whose log is read line by line as asyncssh does."""

    def __init__(self, command):
        self._process = subprocess.Popen(["sh", "-c", f"exec {command}"], stderr=subprocess.PIPE, text=True)
        self.stderr = self

    async def readline(self):
        return await asyncio.to_thread(self._process.stderr.readline)

    def kill(self):
        if not self._process.stderr.closed:
            self._process.kill()
            self._process.communicate()


class Connection:
    async def run(self, _command):
        return SimpleNamespace(exit_status=0)

    async def create_process(self, command):
        return Started(command)

    def close(self):
        pass


async def connect(_host, **_options):
    return Connection()


@pytest.fixture(autouse=True)
def asyncssh(monkeypatch):
    module = ModuleType("asyncssh")
    module.connect = connect
    monkeypatch.setitem(sys.modules, "asyncssh", module)
    with dask.config.set({"logging.distributed": "critical"}):  # as a run has it
        yield


def on(*hosts):
    listens = {"host": "127.0.0.1"}  # not on every network
    options = {"hosts": list(hosts), "scheduler_options": listens, "worker_options": listens}
    return dataclasses.replace(RUNNER, cluster=ClusterKind.ssh, cluster_options=options)


def test_workers_start_on_each_host_though_a_run_logs_nothing_of_dask():
    cluster = start_cluster(on("127.0.0.1", "127.0.0.1", "127.0.0.1"), chains=4)
    try:
        with Client(cluster.scheduler_address) as client:
            client.wait_for_workers(2)
            assert client.submit(sum, [1, 2]).result() == 3
            assert len(client.nthreads()) == 2
    finally:
        cluster.close()


@pytest.mark.parametrize(
    ("error", "message"),
    [(OSError("no such host"), "no such host"), (LookupError(), "LookupError"), (None, "non empty list")],
)
def test_a_host_that_can_not_be_reached_is_an_error(monkeypatch, error, message):
    def fail(**_options):
        raise error

    if error is not None:  # as of Dask's own class, which leaves its cluster open then
        monkeypatch.setattr("distributed.SSHCluster", fail)
    with pytest.raises(ConfigError, match=f"ssh: .*{message}.*hosts that ssh reaches"):
        start_cluster(on(), chains=4)
