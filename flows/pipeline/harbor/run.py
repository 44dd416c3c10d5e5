"""`staffbench harbor run`: run our scenarios with the installed `harbor` command."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.provenance import now
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, StaffbenchError
from flows.pipeline.harbor.export import export_tasks
from flows.pipeline.harbor.tasks import JUDGE, REPORT
from flows.schema.settings import ProtocolName

COMMAND = "STAFFBENCH_HARBOR"
"""Environment variable with the path of the `harbor` command, if it is not on the PATH."""

_TELEMETRY_OFF = {"HARBOR_TELEMETRY": "off"}  # read by Harbor 0.25 and 0.26
_RESERVED = re.compile(r"(?:--path|--jobs-dir|--job-name)(?:=.*)?|-[po].*", re.DOTALL)
_ATTEMPTS = re.compile(r"--n-attempts(?:=.*)?|-k.*", re.DOTALL)
_INTERRUPTED = 128


def run_harbor(
    project: Path,
    overrides: Sequence[str],
    arguments: Sequence[str],
    *,
    install: str | None,
    screen: Screen,
    keep_verifier: bool = False,
) -> int:
    """Export the chosen scenarios, run Harbor on them, and say how to import its job.

    Tasks go to `results/<benchmark>/harbor/tasks/<job>/`, the job to `.../harbor/jobs/<job>/`. `seeds` is the
    number of attempts, unless Harbor's arguments set it. On Ctrl-C, Harbor is stopped and waited for.

    `overrides`, `install` and `keep_verifier` are those of `export_tasks`; `arguments` are Harbor's own:
    agent, model, environment, and so on.

    Returns:
        Harbor's exit code; 128 plus the signal number if a signal ended it.

    Raises:
        StaffbenchError: there is no `harbor` command, or it can't be started.
        ConfigError: `arguments` set the tasks or the job; or as `export_tasks`.
    """
    from flows.pipeline.evaluate.showing import display_path  # slow import

    clash = next((argument for argument in arguments if _RESERVED.fullmatch(argument)), None)
    if clash is not None:
        raise ConfigError(
            clash,
            "staffbench sets tasks and job",
            remedy="remove it, or run harbor itself on an export",
        )
    command = find_harbor()
    settings = compose_points(project, overrides, multirun=False)[0].settings
    folder = project / settings.results / settings.benchmark.name / "harbor"
    name = re.sub(r"[^0-9T]", "", now().partition("+")[0])
    tasks, job = folder / "tasks" / name, folder / "jobs" / name
    exported = export_tasks(
        project, overrides, tasks, install=install, screen=screen, keep_verifier=keep_verifier
    )
    line = [command, "run", "-p", str(tasks), "-o", str(job.parent), "--job-name", name]
    if not any(_ATTEMPTS.fullmatch(argument) for argument in arguments):
        line += ["-k", str(settings.seeds)]
    if settings.benchmark.protocol is ProtocolName.mission_report:
        # Released tasks set none of these: an import would have no text, the judge no key. Harbor expands the
        # values itself, so that no key is on a command line.
        line += ["--artifact", REPORT]
        keys = sorted({key for task in exported for key in task.keys})
        for variable in () if keep_verifier else (*keys, JUDGE):
            line += ["--verifier-env", f"{variable}=${{{variable}:-}}"]
    # The user's arguments are not printed: they may hold a key.
    screen.say(shlex.join(line) + (" and your arguments" if arguments else ""))
    code = _run([*line, *arguments])
    if job.is_dir():
        shown = display_path(job)
        screen.note(f"Job: {shown}. To import its attempts: staffbench harbor import {shlex.quote(shown)}")
    else:
        screen.note(f"Harbor left no job (exit code {code}).")
    return code


def find_harbor() -> str:
    """Find the `harbor` command.

    Raises:
        StaffbenchError: it is not installed.
    """
    named = os.environ.get(COMMAND)
    found = shutil.which(named or "harbor")
    if found is None:
        raise StaffbenchError(
            f"{COMMAND}={named}" if named else "harbor",
            "no such command" if named else "not on the PATH",
            remedy=f"install it with uv tool install --python 3.12 harbor, or set {COMMAND} to its path",
        )
    return found


def _run(line: Sequence[str]) -> int:
    try:
        process = subprocess.Popen(line, env={**os.environ, **_TELEMETRY_OFF})  # noqa: S603 -- the user's command, without a shell
    except OSError as error:
        raise StaffbenchError(
            line[0], f"can't be started ({error.strerror})", remedy="reinstall it"
        ) from error
    while process.poll() is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            # Harbor removes its sandboxes on the first SIGINT and abandons them on the second.
            if not _terminal_signals_both():
                process.send_signal(signal.SIGINT)
    code = process.returncode
    return code if code >= 0 else _INTERRUPTED - code


def _terminal_signals_both() -> bool:
    """True if Ctrl-C comes from a terminal, which also signals Harbor."""
    try:
        with Path(os.ctermid()).open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:  # no terminal
        return False
