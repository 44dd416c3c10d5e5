"""Entry point of `staffbench run`: start Prefect's server while the rest is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from flows.adapters.screen import Screen
from flows.pipeline.orchestration.server import Server, configure, home


def start(
    project: Path,
    overrides: Sequence[str],
    *,
    multirun: bool,
    screen: Screen,
    watch: bool = False,
    single: bool = False,
    prepare: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> int:
    """Start Prefect's server unless one is configured, then run; returns and raises as `run.run`.

    Args:
        project: folder of the project.
        overrides: Hydra overrides.
        multirun: True to read lists of values as a sweep.
        screen: output.
        watch: True to write a page that follows the run.
        single: True to grade one brief: without Prefect, and showing its items.
        prepare: completes the overrides. It is called late, since it may import Prefect, which reads the
            server's address when it is imported.
    """
    configure(project, project / "results")
    server = None
    if single:
        from flows.pipeline.orchestration.cached_tasks import TaskRuns

        TaskRuns.enabled = False
    else:
        server = Server(home() / "server.log")
        server.start()
    try:
        from flows.pipeline.evaluate.run import run

        overrides = overrides if prepare is None else prepare(overrides)
        return run(project, overrides, multirun=multirun, server=server, screen=screen, watch=watch)
    finally:
        if server is not None:
            server.stop()
