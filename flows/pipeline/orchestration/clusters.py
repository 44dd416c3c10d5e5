"""Dask clusters: started for one run, or running already. Only this module and the workers import Dask."""

import importlib
import os
import shutil
import urllib.parse
import warnings
from contextlib import ExitStack
from typing import Any

from flows.common.errors import ConfigError, StaffbenchError
from flows.schema.settings import ClusterKind, RunnerSettings

# Dask's defaults are for tasks of one thread: it waits five minutes for a worker that hangs, and gives up a
# task after three dead workers, each of which had dozens of them. It also samples what each worker does, a
# hundred times a second, probes the interpreter's lock, and wakes each process fifty times a second to
# measure the delay of its event loop.
_SETTINGS = {
    "distributed.scheduler.worker-ttl": ("5 minutes", "60s"),
    "distributed.scheduler.allowed-failures": (3, 10),
    "distributed.worker.profile.enabled": (True, False),
    "distributed.admin.system-monitor.gil.enabled": (True, False),
    "distributed.admin.tick.interval": ("20ms", "1s"),
}
ENVIRONMENT = {
    f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(ours)
    for name, (_, ours) in _SETTINGS.items()
}
"""These settings for processes that do not get them from the one that starts the cluster."""

# Class of a cluster, and the package to install for it.
_CLASSES = {
    ClusterKind.local: ("distributed.LocalCluster", "staffbench[cluster]"),
    ClusterKind.slurm: ("dask_jobqueue.SLURMCluster", "dask-jobqueue"),
    ClusterKind.kubernetes: ("dask_kubernetes.operator.KubeCluster", "dask-kubernetes"),
    ClusterKind.ssh: ("distributed.SSHCluster", "asyncssh"),
}


def open_cluster(runner: RunnerSettings, chains: int, stack: ExitStack) -> str:
    """Return the address of a scheduler; `stack` ends a cluster that was started.

    Args:
        runner: which cluster.
        chains: number of chains at once that fills every call, over all workers.
        stack: closed at the end of the run.

    Raises:
        ConfigError: Dask or what starts the workers is not installed, or does not take the options.
    """
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")  # faults are reported once, by us
    try:
        dask: Any = importlib.import_module("dask")
        importlib.import_module("distributed")  # adds its settings
    except ImportError as error:
        raise _missing("runner=dask", "staffbench[cluster]") from error
    for name, (theirs, ours) in _SETTINGS.items():
        if dask.config.get(name) == theirs:  # a person's own value stays
            dask.config.set({name: ours})
    if runner.scheduler is not None:
        return runner.scheduler
    cluster = start_cluster(runner, chains)
    stack.callback(cluster.close)
    return cluster.scheduler_address


def start_cluster(runner: RunnerSettings, chains: int, *, submit: bool = True) -> Any:
    """Start the cluster of `runner.cluster`; see `open_cluster`. `submit=False` sends no job to SLURM."""
    workers = runner.workers or os.cpu_count() or 1
    # One more than its part, since a chain that waits for another's call has a place too.
    threads = runner.chains_per_worker or chains // workers + 1
    name, package = _CLASSES[runner.cluster]
    if runner.cluster is ClusterKind.slurm and submit and shutil.which("sbatch") is None:
        # Dask would show a traceback for each job, and wait for workers for ever.
        raise ConfigError("runner.cluster=slurm", "sbatch is not on the PATH", "a node that can submit jobs")
    module, _, kind = name.rpartition(".")
    try:
        if runner.cluster is ClusterKind.ssh:
            importlib.import_module("asyncssh")  # Dask imports it in another process
            # It waits for addresses in the logs of the processes that it starts, which get this setting.
            importlib.import_module("dask").config.set({"logging.distributed": "info"})
        make: Any = getattr(importlib.import_module(module), kind)
        cluster = make(**_keywords(runner, workers, threads))
    except ImportError as error:
        raise _missing(f"runner.cluster={runner.cluster.value}", package) from error
    except Exception as error:
        # A cluster's class raises what its libraries raise, such as an error of asyncssh.
        found = str(error) or type(error).__name__
        expected = f"what {kind} takes as its options"
        if runner.cluster is ClusterKind.ssh:
            expected += ", and hosts that ssh reaches, with the same Python (remote_python)"
        raise ConfigError(f"runner.cluster={runner.cluster.value}", found, expected) from error
    if runner.cluster is ClusterKind.slurm and submit:
        cluster.scale(workers)
    return cluster


def _keywords(runner: RunnerSettings, workers: int, threads: int) -> dict[str, Any]:
    """Return the keywords of the cluster's class: our own, under those of a person."""
    given = {name: value for name, value in runner.cluster_options.items() if value is not None}
    ours: dict[str, Any] = {
        ClusterKind.local: {
            "n_workers": workers,
            "threads_per_worker": threads,
            "dashboard_address": "127.0.0.1:0",  # ":0" would listen on every network
            "preload": ["flows.pipeline.evaluate.worker"],  # see `dask_setup`
        },
        ClusterKind.slurm: {
            "worker_extra_args": ["--nthreads", str(threads)],
            "job_script_prologue": [f"export {name}={value}" for name, value in ENVIRONMENT.items()],
        },
        ClusterKind.kubernetes: {
            "n_workers": workers,
            "worker_command": ["dask", "worker", "--nthreads", str(threads)],
            "env": ENVIRONMENT,
        },
        ClusterKind.ssh: {"worker_options": {"nthreads": threads}},  # one for each host
    }[runner.cluster]
    return {**ours, **given}


def own_address(scheduler: str) -> str:
    """Return this machine's address towards a scheduler."""
    from distributed.utils import get_ip

    host = urllib.parse.urlsplit(scheduler).hostname or "127.0.0.1"
    try:
        with warnings.catch_warnings():  # an unknown host is reported when it is to be reached
            warnings.simplefilter("ignore", RuntimeWarning)
            return "127.0.0.1" if host in ("127.0.0.1", "localhost", "::1") else str(get_ip(host))
    except OSError as error:
        raise StaffbenchError(f"runner.scheduler={scheduler}", f"can't be reached ({error})") from error


def _missing(where: str, package: str) -> ConfigError:
    return ConfigError(where, "is not installed", package, f"pip install '{package}'")
