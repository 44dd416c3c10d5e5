"""Entry point of `staffbench run`: start Prefect's server while the rest is imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.adapters.screen import Screen
from flows.pipeline.orchestration.server import Server, configure, home


def start(project: Path, overrides: Sequence[str], *, multirun: bool, screen: Screen) -> int:
    """Start Prefect's server unless one is configured, then run; returns and raises as `run.run`."""
    configure(project, project / "results")
    server = Server(home() / "server.log")
    server.start()
    try:
        from flows.pipeline.evaluate.run import run

        return run(project, overrides, multirun=multirun, server=server, screen=screen)
    finally:
        server.stop()
