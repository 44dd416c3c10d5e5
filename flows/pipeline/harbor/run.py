"""`staffbench harbor run`: our scenarios through the `harbor` command that a person installed."""

from __future__ import annotations

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
from flows.pipeline.harbor.tasks import JUDGE, REPORT, judge_keys
from flows.schema.settings import ProtocolName

COMMAND = "STAFFBENCH_HARBOR"
"""Environment variable that names the `harbor` command, where it is not the one on the PATH."""

_TELEMETRY_OFF = {"HARBOR_TELEMETRY": "off"}  # Harbor 0.25 and 0.26 read it; 0, false, no and off mean off
_OURS = re.compile(r"(?:--path|--jobs-dir|--job-name)(?:=.*)?|-[po].*", re.DOTALL)
_ATTEMPTS = re.compile(r"--n-attempts(?:=.*)?|-k.*", re.DOTALL)
_INTERRUPTED = 128


def run_harbor(
    project: Path,
    overrides: Sequence[str],
    arguments: Sequence[str],
    *,
    install: str | None,
    screen: Screen,
) -> int:
    """Export the chosen scenarios, hand them to Harbor, and say how its job is imported.

    The tasks go to `results/<benchmark>/harbor/tasks/<job>/`, the job to `.../harbor/jobs/<job>/`. `seeds`
    is the number of attempts, unless Harbor's own arguments say it. Ctrl-C ends Harbor, which is waited for.

    Args:
        project: the project's folder.
        overrides: as for `export`, and `seeds`.
        arguments: Harbor's own: agent, model, environment, and so on.
        install: what the sandboxes install as staffbench, see `export`.
        screen: where it is told.

    Returns:
        Harbor's exit code; 128 and the signal's number where one ended it.

    Raises:
        StaffbenchError: there is no `harbor` command, or it can't be started.
        ConfigError: arguments that name the tasks or the job, which are named here; or as `export`.
    """
    from flows.pipeline.evaluate.showing import display_path  # it brings the whole stack along

    clash = next((word for word in arguments if _OURS.fullmatch(word)), None)
    if clash is not None:
        raise ConfigError(
            clash, "tasks and job are named here", remedy="leave it out, or run harbor itself on an export"
        )
    command = find_harbor()
    settings = compose_points(project, overrides, multirun=False)[0].settings
    folder = project / settings.results / settings.benchmark.name / "harbor"
    name = re.sub(r"[^0-9T]", "", now().partition("+")[0])
    tasks, job = folder / "tasks" / name, folder / "jobs" / name
    export_tasks(project, overrides, tasks, install=install, screen=screen)
    words = [command, "run", "-p", str(tasks), "-o", str(job.parent), "--job-name", name]
    if not any(_ATTEMPTS.fullmatch(word) for word in arguments):
        words += ["-k", str(settings.seeds)]
    if settings.benchmark.protocol is ProtocolName.mission_report:
        # A release's tasks ask for none of these: an import would have no text, the judge no key. Harbor
        # fills in the values itself, so that no key stands on a command line.
        words += ["--artifact", REPORT]
        for variable in (*judge_keys(settings.judge), JUDGE):
            words += ["--verifier-env", f"{variable}=${{{variable}:-}}"]
    # The person's own words are not repeated: they may hold a key.
    screen.say(shlex.join(words) + (" and your arguments" if arguments else ""))
    code = _run([*words, *arguments])
    if job.is_dir():
        shown = display_path(job)
        screen.note(f"Job: {shown}. Its attempts beside ours: staffbench harbor import {shown}")
    else:
        screen.note(f"Harbor left no job (exit code {code}).")
    return code


def find_harbor() -> str:
    """Path of the `harbor` command.

    Raises:
        StaffbenchError: there is none.
    """
    named = os.environ.get(COMMAND)
    found = shutil.which(named or "harbor")
    if found is None:
        raise StaffbenchError(
            f"{COMMAND}={named}" if named else "harbor",
            "no such command" if named else "not on the PATH",
            remedy=f"install it as a tool of its own with Python 3.12, uv tool install --python 3.12 harbor, "
            f"or name it in {COMMAND}",
        )
    return found


def _run(words: Sequence[str]) -> int:
    try:
        process = subprocess.Popen(words, env={**os.environ, **_TELEMETRY_OFF})  # noqa: S603 -- the person's own command and words, and no shell
    except OSError as error:
        raise StaffbenchError(
            words[0], f"can't be started ({error.strerror})", remedy="install it again"
        ) from error
    while process.poll() is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            # It takes its sandboxes down at the first one and gives up on them at a second one.
            if not _terminal_told_both():
                process.send_signal(signal.SIGINT)
    code = process.returncode
    return code if code >= 0 else _INTERRUPTED - code


def _terminal_told_both() -> bool:
    """True where Ctrl-C is a terminal's, which sends it to Harbor as well as to us."""
    try:
        with Path(os.ctermid()).open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:  # there is none
        return False
