"""No command looks up a foreign name, connects to a foreign host, or writes to the user's home folder."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.support.bench import write_scenario

HOOK = """
import json, os, sys

def note(event, arguments):
    if event == "socket.getaddrinfo":
        found = arguments[0]
    elif event in ("socket.gethostbyname", "socket.gethostbyaddr"):
        found = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        found = address[0] if isinstance(address, tuple) else None
    else:
        return
    if isinstance(found, bytes):
        found = found.decode()
    if found not in (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0"):
        with open(os.environ["SEEN"], "a") as file:
            file.write(json.dumps([event, str(found), sys.argv[:3]]) + "\\n")

sys.addaudithook(note)
"""
COMMANDS = [
    "--version",
    "list models",
    "list conditions",
    "completion bash",
    "plan",
    "packets",
    "run model=strong",
    "run model=weak tracking=none",
    "grade brief.md --scenario alder",
    "report",
    "agreement",
    "compare strong weak",
    "remove weak --yes",
    "harbor export tasks",
    "harbor summarize JOB",
    "validate",
]


@pytest.fixture
def here(tmp_path, project):
    """A project, and the environment of somebody who set nothing, with a hook in every process."""
    (tmp_path / "conf").symlink_to(project / "conf")
    write_scenario(tmp_path / "data" / "ma_bench", "alder", 412)
    (tmp_path / "data" / "judge_pairs").symlink_to(project / "data" / "judge_pairs")
    (tmp_path / "brief.md").write_text("The relief column has 412 soldiers.\n", encoding="utf-8")
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    (tmp_path / "home").mkdir()
    named = ("PREFECT_", "MLFLOW_", "DO_NOT_TRACK", "LITELLM_", "DVC_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(named)}
    environment |= {
        "PYTHONPATH": f"{tmp_path / 'hook'}{os.pathsep}{project}",
        "SEEN": str(tmp_path / "seen.jsonl"),
        "HOME": str(tmp_path / "home"),
    }
    return tmp_path, environment


def seen(folder):
    file = folder / "seen.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_command_reaches_a_foreign_host_or_the_home_folder(here, project):
    folder, environment = here
    job = str(project / "tests/fixtures/harbor_jobs/scripted-0.26.0")
    for command in COMMANDS:
        words = [job if word == "JOB" else word for word in command.split()]
        done = subprocess.run(
            [sys.executable, "-m", "flows", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        assert seen(folder) == [], command
        assert [path for path in (folder / "home").rglob("*") if path.is_file()] == [], command


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_page_of_mlflow_opens_at_the_runs_and_ends_without_a_word(here):
    folder, environment = here
    run = [sys.executable, "-m", "flows"]
    subprocess.run([*run, "run", "model=strong"], cwd=folder, env=environment, check=True, timeout=300)
    process = subprocess.Popen(
        [*run, "ui", "--port", "5947"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    shown = ""
    while "MLflow: http" not in shown:
        shown += process.stdout.readline()
        assert process.poll() is None, shown
    assert "/#/experiments/1/runs?viewStateShareKey=" in shown
    from urllib.request import urlopen

    for _ in range(600):
        try:
            with urlopen("http://127.0.0.1:5947/", timeout=5) as page:
                assert page.status == 200
            break
        except OSError:
            time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert rest == ""
    assert seen(folder) == []


def test_the_hook_sees_a_look_up(here):
    folder, environment = here
    script = "import socket\ntry: socket.getaddrinfo('telemetry.invalid', 443)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, check=True, timeout=60)
    assert [host for _, host, _ in seen(folder)] == ["telemetry.invalid"]
