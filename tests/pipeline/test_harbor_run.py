"""`harbor run`, with a `harbor` that only writes down how it was called."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from flows.__main__ import main
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, StaffbenchError
from flows.pipeline.harbor.run import run_harbor
from tests.support.bench import write_scenario

FAKE = """#!{python}
import json, os, pathlib, sys
words = sys.argv[1:]
jobs = pathlib.Path(words[words.index("-o") + 1]) / words[words.index("--job-name") + 1]
jobs.mkdir(parents=True)
tasks = pathlib.Path(words[words.index("-p") + 1])
seen = sorted(path.parent.name for path in tasks.glob("*/task.toml"))
pathlib.Path(os.environ["FAKE_LOG"]).write_text(json.dumps([words, dict(os.environ), seen]))
sys.exit(int(os.environ.get("FAKE_CODE", "0")))
"""

SLOW = """#!{python}
import pathlib, signal, sys, time
log = pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).with_name("signals")
def take(number, frame):
    with log.open("a") as file:
        file.write(signal.Signals(number).name + " ")
signal.signal(signal.SIGINT, take)
log.write_text("")
while not log.read_text():
    time.sleep(0.05)
time.sleep(1)  # takes its sandboxes down; a second signal would be seen
sys.exit(5)
"""
ON_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR), termios.TIOCSCTTY, 0)
from flows.pipeline.harbor.run import _run
sys.exit(_run(sys.argv[2:]))
"""


@pytest.fixture
def slow(tmp_path):
    """A `harbor` that runs until it is interrupted, then tidies up and ends with code 5."""
    path = tmp_path / "harbor"
    path.write_text(SLOW.format(python=sys.executable))
    path.chmod(0o755)
    return path


def interrupted(process, signals, interrupt):
    """The signals that Harbor saw, and our exit code, after `interrupt` is called once."""
    try:
        deadline = time.monotonic() + 60
        while not signals.exists():
            assert time.monotonic() < deadline
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        interrupt()
        _, err = process.communicate(timeout=600)
        return signals.read_text().split(), process.returncode, err
    finally:
        with suppress(ProcessLookupError):
            os.killpg(
                process.pid, signal.SIGKILL
            )  # the session that it leads: Harbor too, should it still run


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts the fake on the PATH; gives a function that reads what it was called with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "harbor").write_text(FAKE.format(python=sys.executable))
    (folder / "harbor").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "called.json"))
    monkeypatch.setenv("HARBOR_TELEMETRY", "1")
    monkeypatch.delenv("STAFFBENCH_HARBOR", raising=False)
    return lambda: json.loads((tmp_path / "called.json").read_text())


@pytest.fixture
def run(project, tmp_path):
    write_scenario(tmp_path / "data", "alder", 412)

    def call(*overrides, arguments=()):
        words = [
            "benchmark.name=ma_bench",
            f"benchmark.data={tmp_path / 'data'}",
            f"results={tmp_path / 'results'}",
            *overrides,
        ]
        return run_harbor(project, words, arguments, install=None, screen=Screen())

    return call


def test_harbor_is_given_the_tasks_with_its_telemetry_off(fake, run, tmp_path, capsys):
    assert run(arguments=["-a", "opencode", "-m", "provider/model", "-y"]) == 0
    words, environment, tasks = fake()
    folder = tmp_path / "results/ma_bench/harbor"
    name = words[words.index("--job-name") + 1]
    assert words == [
        *["run", "-p", str(folder / "tasks" / name), "-o", str(folder / "jobs"), "--job-name", name],
        *["-k", "3", "-a", "opencode", "-m", "provider/model", "-y"],
    ]
    assert tasks == ["alder"]
    assert environment["HARBOR_TELEMETRY"] == "off"
    told = capsys.readouterr()
    assert f"staffbench harbor import {folder / 'jobs' / name}" in told.out
    assert "provider/model" not in told.err  # what comes after -- may hold a key


def test_reports_are_collected_and_keys_are_passed_by_name(fake, run, project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-on-a-command-line")
    data = project / "data/mission_report/tasks"
    words = [
        *[
            "benchmark=mission_report",
            "benchmark.name=mission_report",
            f"benchmark.data={data}",
            "benchmark.scenarios=[sb-war-02]",
        ],
        *["judge=gpt_6_luna", "seeds=1"],
    ]
    assert run(*words) == 0
    called, _, tasks = fake()
    assert tasks == ["sb-war-02"]
    assert called[called.index("--artifact") + 1] == "/app/outputs/report.docx"
    passed = [called[at + 1] for at, word in enumerate(called) if word == "--verifier-env"]
    assert passed == ["OPENAI_API_KEY=${OPENAI_API_KEY:-}", "STAFFBENCH_JUDGE=${STAFFBENCH_JUDGE:-}"]
    assert called[called.index("-k") + 1] == "1"
    assert not any("sk-not" in word for word in called)


def test_attempts_may_be_harbors_own_word(fake, run):
    assert run(arguments=["--n-attempts=5"]) == 0
    words = fake()[0]
    assert "-k" not in words
    assert words[-1] == "--n-attempts=5"


def test_its_exit_code_is_ours(fake, run, monkeypatch):
    monkeypatch.setenv("FAKE_CODE", "7")
    assert run() == 7


@pytest.mark.parametrize("clash", ["-p", "-otasks", "--job-name=x", "--jobs-dir"])
def test_tasks_and_job_are_not_harbors_to_name(fake, run, clash, tmp_path):
    with pytest.raises(ConfigError, match="staffbench sets tasks and job"):
        run(arguments=[clash, "x"])
    assert not (tmp_path / "results").exists()


def test_a_missing_harbor_is_one_sentence_and_nothing_is_exported(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STAFFBENCH_HARBOR", raising=False)
    with pytest.raises(StaffbenchError) as caught:
        run()
    assert caught.value.exit_code == 1
    assert str(caught.value) == (
        "harbor: not on the PATH. Install it with uv tool install --python 3.12 harbor, or set "
        "STAFFBENCH_HARBOR to its path"
    )
    assert not (tmp_path / "results").exists()


def test_the_environment_may_name_another(fake, run, tmp_path, monkeypatch):
    (tmp_path / "bin/harbor").rename(tmp_path / "other")
    monkeypatch.setenv("STAFFBENCH_HARBOR", str(tmp_path / "other"))
    assert run() == 0
    monkeypatch.setenv("STAFFBENCH_HARBOR", str(tmp_path / "gone"))
    with pytest.raises(StaffbenchError, match=r"STAFFBENCH_HARBOR=.*gone: no such command"):
        run()


def test_words_after_two_dashes_are_passed_on(fake, tmp_path, project, monkeypatch):
    monkeypatch.chdir(project)
    write_scenario(tmp_path / "data", "alder", 412)
    ours = [
        "benchmark.name=ma_bench",
        f"benchmark.data={tmp_path / 'data'}",
        f"results={tmp_path / 'results'}",
    ]
    assert main(["harbor", "run", *ours, "--", "-a", "oracle", "--", "x"]) == 0
    assert fake()[0][-4:] == ["-a", "oracle", "--", "x"]


def test_harbors_arguments_without_the_dashes_are_refused_with_a_hint(tmp_path, project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main(["harbor", "run", "-a", "oracle"]) == 2
    assert "-a: no such option. Harbor's own arguments come after --" in capsys.readouterr().err


def test_an_interrupt_ends_harbor_too_and_its_code_is_ours(slow, tmp_path, project):
    write_scenario(tmp_path / "data", "alder", 412)
    ours = [
        "benchmark.name=ma_bench",
        f"benchmark.data={tmp_path / 'data'}",
        f"results={tmp_path / 'results'}",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", "harbor", "run", *ours],
        cwd=project,
        env={**os.environ, "STAFFBENCH_HARBOR": str(slow)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signals = tmp_path / "results/ma_bench/harbor/signals"
    seen, code, err = interrupted(process, signals, lambda: process.send_signal(signal.SIGINT))
    assert (seen, code) == (["SIGINT"], 5)
    assert "Traceback" not in err


def test_an_interrupt_that_the_terminal_gave_to_both_is_not_given_again(slow, tmp_path, project):
    master, terminal = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL, os.ttyname(terminal), str(slow), "-o", str(tmp_path / "jobs")],
        cwd=project,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        seen, code, _ = interrupted(process, tmp_path / "signals", lambda: os.write(master, b"\x03"))
    finally:
        os.close(master)
        os.close(terminal)
    assert (seen, code) == (["SIGINT"], 5)
