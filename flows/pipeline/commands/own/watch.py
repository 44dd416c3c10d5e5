"""`staffbench validate --watch`: the same again whenever a file of the benchmark or of `conf/` is saved."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError

_POLL_S = 0.5  # seconds between two looks at the files


def watch_files(
    project: Path,
    overrides: Sequence[str],
    check: Callable[[], int],
    screen: Screen,
) -> int:
    """Call `check`, and again after each change, until Ctrl-C."""
    benchmark = compose_points(project, overrides, multirun=False)[0].settings.benchmark
    folders = [project / "conf", project / benchmark.data]
    code = 1
    try:
        while True:
            before = _state(folders)
            try:
                code = check()
            except StaffbenchError as error:  # such as a file of conf/ that is half written
                screen.fault(str(error))
                code = error.exit_code
            screen.say(f"{time.strftime('%H:%M:%S')}: waiting for a file to be saved (Ctrl-C ends)")
            while _state(folders) == before:
                time.sleep(_POLL_S)
    except KeyboardInterrupt:
        return code


def _state(folders: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """Return time and size of each file; hidden ones, such as locks of an editor, are passed over."""
    found: dict[Path, tuple[int, int]] = {}
    for folder in folders:
        for path in folder.rglob("*"):
            if path.name.startswith((".", "~$")):
                continue
            try:
                about = path.stat()
            except OSError:  # deleted since it was listed
                continue
            if path.is_file():
                found[path] = (about.st_mtime_ns, about.st_size)
    return found
