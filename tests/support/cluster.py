"""A cluster on this machine: PostgreSQL, Prefect's server on it, a Dask scheduler and workers.

    python -m tests.support.cluster start    what `make cluster` does
    python -m tests.support.cluster stop     ends exactly what that started

PostgreSQL does not run as root; then it runs as the user postgres, which Debian's package makes.
"""

import argparse
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import psutil

from flows.pipeline.orchestration import clusters, server

PARTS = ("postgres", "prefect", "scheduler", "worker-1", "worker-2")
BIN = Path(sys.executable).parent
START_S = 300  # against hangs; a busy machine takes a minute


class Cluster:
    """Processes of a folder, which holds their logs, the database and `cluster.json`.

    Attributes:
        pids: of each part, with its `start_ticks`, so that no other process is ended.
        api_url, scheduler: addresses.
    """

    def __init__(self, folder: Path, *, prefect_port: int = 0, dask_port: int = 0, threads: int = 50) -> None:
        self.folder = folder
        self.api_url = f"http://127.0.0.1:{prefect_port or free_port()}/api"
        self.scheduler = f"tcp://127.0.0.1:{dask_port or free_port()}"
        self.database_port = free_port()
        self.threads = threads
        self.pids: dict[str, tuple[int, int]] = {}
        self._children: list[subprocess.Popen] = []
        defaults = {**server._SETTINGS, **clusters.ENVIRONMENT}
        self.environment = {**defaults, **os.environ, "PREFECT_HOME": str(folder), **self.client_environment}

    @property
    def client_environment(self) -> dict[str, str]:
        return {"PREFECT_API_URL": self.api_url}

    def start(self) -> None:
        """Start everything and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            self.start_part(part)

    def start_part(self, part: str) -> None:
        """Start one part, again if it was killed, and wait until it answers."""
        dask = [sys.executable, "-m", "distributed.cli"]
        if part == "postgres":
            self._start_postgres()
        elif part == "prefect":
            password = (self.folder / "password").read_text()
            at = f"127.0.0.1:{self.database_port}/prefect"
            self.environment["PREFECT_API_DATABASE_CONNECTION_URL"] = (
                f"postgresql+asyncpg://prefect:{password}@{at}"
            )
            port = self.api_url.split(":")[2].split("/")[0]
            self._spawn(part, [str(BIN / "prefect"), "server", "start", "--port", port])
            self._wait(part, lambda: urllib.request.urlopen(f"{self.api_url}/health", timeout=2).read())
        elif part == "scheduler":
            port = self.scheduler.rpartition(":")[2]
            command = [*dask[:2], "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port]
            self._spawn(part, [*command, "--dashboard-address", "127.0.0.1:0"])
            self._wait(part, lambda: socket.create_connection(("127.0.0.1", int(port)), 2).close())
        else:
            log = self.folder / f"{part}.log"
            command = [*dask[:2], "distributed.cli.dask_worker", self.scheduler, "--name", part]
            command += ["--nthreads", str(self.threads), "--dashboard-address", "127.0.0.1:0"]
            command += ["--no-dashboard", "--host", "127.0.0.1"]
            self._spawn(part, [*command, "--local-directory", str(self.folder / "scratch")])
            self._wait(part, lambda: log.read_text().index("Registered to"))

    def kill(self, part: str, how: int = signal.SIGKILL) -> None:
        """End one part and all that it started, as a crash does."""
        for process in self._processes(part):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(how)
                process.wait(60)

    def worker_process(self, part: str) -> psutil.Process:
        """The process of a worker that does the work; its parent is the nanny that replaces it."""
        nanny = self._processes(part)[0]
        return next(one for one in nanny.children(recursive=True) if "spawn_main" in " ".join(one.cmdline()))

    def stop(self) -> None:
        """End what was started, and nothing else."""
        for part in reversed(PARTS):
            # PostgreSQL ends cleanly on SIGINT, and Dask and Prefect on SIGTERM.
            processes = self._processes(part)
            for process in processes[:1]:
                process.send_signal(signal.SIGINT if part == "postgres" else signal.SIGTERM)
            _, alive = psutil.wait_procs(processes, timeout=30)
            for process in alive:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        for child in self._children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self.pids.clear()
        (self.folder / "cluster.json").unlink(missing_ok=True)

    def _start_postgres(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        binary = found[-1] if found else Path(shutil.which("postgres") or "").resolve()
        if not binary.is_file():
            raise SystemExit("PostgreSQL is not installed; on Debian: apt-get install postgresql")
        data, password = self.folder / "database", self.folder / "password"
        user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if not data.is_dir():
            password.touch(mode=0o600)
            password.write_text(secrets.token_hex(16))
            data.mkdir()
            if user:
                shutil.chown(data, "postgres")
                shutil.chown(password, "postgres")
            make = [str(binary.with_name("initdb")), "-D", str(data), "-U", "prefect", "-A"]
            make += ["scram-sha-256", "--pwfile", str(password)]
            subprocess.run(make, check=True, stdout=subprocess.DEVNULL, **user)
        command = [str(binary), "-D", str(data), "-p", str(self.database_port)]
        (data / "postmaster.pid").unlink(missing_ok=True)  # of one that was killed; there is one for a folder
        self._spawn("postgres", [*command, "-k", "", "-c", "listen_addresses=127.0.0.1"], **user)
        tool = {**os.environ, "PGPASSWORD": password.read_text()}
        make = [str(binary.with_name("createdb")), "-h", "127.0.0.1", "-p", str(self.database_port)]

        def exists() -> None:
            made = subprocess.run(
                [*make, "-U", "prefect", "prefect"], env=tool, capture_output=True, text=True, check=False
            )
            if made.returncode and "already exists" not in made.stderr:
                raise OSError(made.stderr)

        self._wait("postgres", exists)

    def _spawn(self, part: str, command: list[str], **user: object) -> None:
        with (self.folder / f"{part}.log").open("w") as log:
            process = subprocess.Popen(
                command,
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **user,
            )
        self._children.append(process)
        self.pids[part] = process.pid, start_ticks(process.pid)
        state = {"pids": self.pids, "api_url": self.api_url, "scheduler": self.scheduler}
        (self.folder / "cluster.json").write_text(json.dumps(state))

    def _wait(self, part: str, answers) -> None:
        deadline = time.monotonic() + START_S
        while True:
            try:
                answers()
            except (OSError, ValueError) as error:
                log = self.folder / f"{part}.log"
                if not self._processes(part) or time.monotonic() > deadline:
                    raise SystemExit(f"{part} did not start ({error}); see {log}") from error
                time.sleep(0.1)
            else:
                return

    def _processes(self, part: str) -> list[psutil.Process]:
        """The part's process and its descendants, while they are those that were started."""
        pid, started = self.pids.get(part, (0, 0))
        try:
            process = psutil.Process(pid)
            if not pid or start_ticks(pid) != started or process.status() == psutil.STATUS_ZOMBIE:
                return []
            return [process, *process.children(recursive=True)]
        except (psutil.NoSuchProcess, FileNotFoundError):
            return []


def start_ticks(pid: int) -> int:
    """Return when a process was started, in clock ticks since the machine was.

    It does not change when the clock is set, as the time does that is computed from it.
    """
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])  # field 22 of proc(5)


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was just left is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def check_ports(*ports: int) -> None:
    if not all(0 < port < 1 << 16 for port in ports) or len(set(ports)) < len(ports):
        raise SystemExit("--prefect-port and --dask-port: two numbers from 1 to 65535")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("start", "stop"))
    parser.add_argument("--folder", type=Path, default=Path(".prefect/cluster"))
    parser.add_argument("--prefect-port", type=int, default=4200)
    parser.add_argument("--dask-port", type=int, default=8786)
    options = parser.parse_args()
    check_ports(options.prefect_port, options.dask_port)
    folder = options.folder.resolve()
    cluster = Cluster(folder, prefect_port=options.prefect_port, dask_port=options.dask_port)
    state = folder / "cluster.json"
    if state.exists():
        cluster.pids = {name: tuple(pid) for name, pid in json.loads(state.read_text())["pids"].items()}
    running = [part for part in PARTS if cluster._processes(part)]
    if options.what == "stop":
        sys.stdout.write(f"Ending {', '.join(running)}\n" if running else "Nothing of it runs.\n")
        sys.stdout.flush()
        cluster.stop()
        return
    if running:
        known = json.loads(state.read_text())
        if len(running) < len(PARTS):
            ended = ", ".join(part for part in PARTS if part not in running)
            raise SystemExit(f"Ended: {ended}. The rest still runs: make cluster-stop, then make cluster.")
        show(known["api_url"], known["scheduler"], folder)
        raise SystemExit("It runs already; make cluster-stop ends it.")
    for name, port in (("prefect", options.prefect_port), ("dask", options.dask_port)):
        if is_taken(port):  # else what listens there would be taken for ours
            raise SystemExit(f"Port {port} is taken. Another one: make cluster ARGS='--{name}-port ...'")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for part in PARTS:
            sys.stdout.write(f"Starting {part}\n")
            sys.stdout.flush()
            cluster.start_part(part)
    except BaseException as error:
        cluster.stop()
        if isinstance(error, KeyboardInterrupt):
            raise SystemExit(130) from None
        raise
    show(cluster.api_url, cluster.scheduler, folder)


def show(api_url: str, scheduler: str, folder: Path) -> None:
    sys.stdout.write(
        f"Prefect's page: {api_url.removesuffix('/api')}    logs: {folder}\n"
        f"export PREFECT_API_URL={api_url}\n"
        f"staffbench run ... runner=dask runner.scheduler={scheduler}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
